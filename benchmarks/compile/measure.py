#!/usr/bin/env python3
"""What poot costs a compiler: seconds (the best of some runs), memory, object size and constexpr steps.

    measure.py [--runs N] [COMPILER…]

Measures an empty file, the umbrella header and each stage's headers together (read only, no code generated), then
every benchmarks/compile/*.cpp with -O0 -g. Such a file may start with `// budget: TEXT`, which is printed beside its
figures. The seconds of an empty file are not subtracted. Prints meters; fails only where something does not compile.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HEADERS = ROOT / 'include' / 'poot'
UMBRELLA_BUDGET = ' (budget 0.35 s)'
MOST_STEPS = 1 << 26  # constexpr steps in one evaluation; clang's own limit is 2^20


def meter(text):
    print(f'[METER] {text}', flush=True)


def compile_once(compiler, source, *flags):
    """(seconds, megabytes, compiler output or None) of one compiler process."""
    command = [compiler, '-std=c++20', f'-I{ROOT / "include"}', *flags, str(source)]
    began = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT,
                                 env={**os.environ, 'CCACHE_DISABLE': '1'})
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - began
        output.seek(0)
        errors = output.read().decode(errors='replace') or 'no message' if child.returncode else None
    return seconds, usage.ru_maxrss / 1024, errors


def cost(count, compiler, source, *flags):
    """Like compile_once: the best seconds and the most memory of `count` runs."""
    runs = []
    for _ in range(count):
        runs.append(compile_once(compiler, source, *flags))
        if runs[-1][2]:
            return runs[-1]
    return min(r[0] for r in runs), max(r[1] for r in runs), None


def steps(compiler, source):
    """The constexpr steps that the largest evaluation in a file needs, to 3 %, by bisection of clang's limit."""
    def fits(limit):
        return compile_once(compiler, source, '-fsyntax-only', f'-fconstexpr-steps={limit}')[2] is None
    low, high = 1, 1 << 12
    while not fits(high):
        low, high = high, high * 4
        if high > MOST_STEPS:
            return f'more than {MOST_STEPS} steps'
    if low == 1 and fits(64):
        return 'no constexpr steps to speak of'
    while high - low > high * 3 // 100:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return f'{high} constexpr steps'


def budget(source):
    first = source.read_text().split('\n', 1)[0]
    return f" (budget {first.removeprefix('// budget:').strip()})" if first.startswith('// budget:') else ''


def main():
    arguments = argparse.ArgumentParser(description='What poot costs a compiler.')
    arguments.add_argument('--runs', type=int, default=3, metavar='N', help='compilations of each file (3)')
    arguments.add_argument('compilers', nargs='*', default=['g++', 'clang++-19'], metavar='COMPILER')
    options = arguments.parse_args()
    if options.runs < 1:
        arguments.error('--runs: one at least')

    sizes = sorted(((len(p.read_text().splitlines()), p.relative_to(HEADERS).as_posix())
                    for p in HEADERS.rglob('*') if p.suffix in ('.hpp', '.inc')), reverse=True)
    meter(f'{len(sizes)} headers, {sum(n for n, _ in sizes)} lines; longest: '
          + ', '.join(f'{name} {n}' for n, name in sizes[:3]))

    broken = False
    with tempfile.TemporaryDirectory() as scratch:
        def including(name, headers):
            path = pathlib.Path(scratch) / f'{name}.cpp'
            path.write_text(''.join(f'#include <poot/{header}>\n' for header in headers))
            return path

        jobs = [('an empty file', including('empty', []), '')]
        if (HEADERS / 'poot.hpp').exists():
            jobs.append(('poot/poot.hpp', including('umbrella', ['poot.hpp']), UMBRELLA_BUDGET))
        for folder in sorted({p.relative_to(HEADERS).parts[0] for p in HEADERS.rglob('*/*.hpp')}):
            headers = sorted(p.relative_to(HEADERS).as_posix() for p in (HEADERS / folder).rglob('*.hpp'))
            jobs.append((f'poot/{folder}/', including(folder, headers), ''))
        programs = [(p.name, p, budget(p)) for p in sorted(HERE.glob('*.cpp'))]
        made = pathlib.Path(scratch) / 'made.o'

        for compiler in options.compilers:
            if not shutil.which(compiler):
                print(f'[SKIP] compile time: {compiler} is not installed')
                continue
            for name, source, limit in jobs + programs:
                is_program = source.parent == HERE
                flags = ['-O0', '-g', '-c', '-o', str(made)] if is_program else ['-fsyntax-only']
                seconds, megabytes, errors = cost(options.runs, compiler, source, *flags)
                if errors:
                    broken = True
                    print(f'{name} does not compile with {compiler}:\n{errors[:2000]}')
                    continue
                text = f'{compiler:11} {name:20} {seconds:5.2f} s {megabytes:5.0f} MB'
                if is_program:
                    text += f', object {made.stat().st_size / 1e6:.1f} MB'
                    if 'clang' in compiler:
                        text += f', {steps(compiler, source)}'
                meter(text + limit)
    return 1 if broken else 0


if __name__ == '__main__':
    sys.exit(main())
