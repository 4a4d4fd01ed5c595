#!/usr/bin/env python3
"""What the headers cost a compiler: seconds (best of three) and memory, beside the budgets of docs/benchmarks.md.

    measure.py [COMPILER… ] [--file FILE.cpp…]

Measures an empty file, the umbrella header, each stage's headers together, and every given file; prints meters and
never fails on a slow one. The seconds of an empty file are not subtracted.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ROOT / 'include' / 'poot'
UMBRELLA_BUDGET = 0.35  # seconds, with devices


def cost(compiler, source, *flags):
    """(seconds, megabytes, compiler output or None): best of three runs of one compiler process tree."""
    best = None
    for _ in range(3):
        command = [compiler, '-std=c++20', f'-I{ROOT / "include"}', *flags, str(source)]
        began = time.perf_counter()
        with tempfile.TemporaryFile() as output:
            child = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env={**os.environ, 'CCACHE_DISABLE': '1'})
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            seconds = time.perf_counter() - began
            if child.returncode != 0:
                output.seek(0)
                return 0, 0, output.read().decode(errors='replace')
        megabytes = usage.ru_maxrss / 1024
        best = (min(seconds, best[0]), max(megabytes, best[1])) if best else (seconds, megabytes)
    return *best, None


def meter(text):
    print(f'[METER] {text}', flush=True)


def main():
    arguments = argparse.ArgumentParser(description='What the headers cost a compiler.')
    arguments.add_argument('compilers', nargs='*', default=['g++', 'clang++-19'], metavar='COMPILER')
    arguments.add_argument('--file', nargs='*', default=[], metavar='FILE.cpp', help='also compile these, with -O0 -g')
    options = arguments.parse_args()

    longest = sorted(((len(p.read_text().splitlines()), p) for p in HEADERS.rglob('*') if p.suffix in ('.hpp', '.inc')), reverse=True)
    meter(f'{len(longest)} headers, {sum(n for n, _ in longest)} lines; longest: '
          + ', '.join(f'{p.relative_to(HEADERS)} {n}' for n, p in longest[:3]))

    folders = sorted({p.relative_to(HEADERS).parts[0] for p in HEADERS.rglob('*/*.hpp')})
    with tempfile.TemporaryDirectory() as scratch:
        def source(name, includes):
            path = pathlib.Path(scratch) / f'{name}.cpp'
            path.write_text(''.join(f'#include <poot/{include}>\n' for include in includes))
            return path

        jobs = [('an empty file', source('empty', []), ['-fsyntax-only'], '')]
        if (HEADERS / 'poot.hpp').exists():
            jobs.append(('poot/poot.hpp', source('umbrella', ['poot.hpp']), ['-fsyntax-only'], f' (budget {UMBRELLA_BUDGET} s)'))
        for folder in folders:
            files = sorted(p.relative_to(HEADERS).as_posix() for p in (HEADERS / folder).rglob('*.hpp'))
            jobs.append((f'poot/{folder}/', source(folder, files), ['-fsyntax-only'], ''))
        for file in options.file:
            jobs.append((file, file, ['-O0', '-g', '-c', '-o', os.devnull], ' (budget 3 s, 1000 MB)'))

        broken = False
        for compiler in options.compilers:
            if not shutil.which(compiler):
                print(f'[SKIP] compile time: {compiler} is not installed')
                continue
            for name, path, flags, budget in jobs:
                seconds, megabytes, errors = cost(compiler, path, *flags)
                if errors:
                    broken = True
                    print(f'{name} does not compile with {compiler}:\n{errors[:2000]}')
                else:
                    meter(f'{compiler:11} {name:18} {seconds:5.2f} s {megabytes:5.0f} MB{budget}')
    return 1 if broken else 0


if __name__ == '__main__':
    sys.exit(main())
