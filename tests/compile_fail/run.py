#!/usr/bin/env python3
"""Checks that misuse is refused by the compiler, in few words that say what is wrong.

    run.py [-k WORD] COMPILER…

Each tests/compile_fail/<stage>/<rule>.cpp holds a twin that compiles and, under `#ifdef POOT_FAIL`, the misuse. It
starts with one or more lines `// expect: TEXT`. With every compiler, the twin must pass without a warning, and the
misuse must fail with each TEXT in the output and with at most 15 lines of error text: all lines that the compiler
prints by default from the first line with `error:` to the end, notes and quoted source included, without the closing
count of errors.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LONGEST = 15  # lines of error text
CLOSING = re.compile(r'^(\d+ (errors?|warnings?).* generated\.|compilation terminated.*)$')


def expected(path):
    texts = []
    for line in path.read_text().splitlines():
        if not line.startswith('// expect:'):
            break
        texts.append(line.removeprefix('// expect:').strip())
    return texts


def error_text(output):
    lines = [line for line in output.splitlines() if not CLOSING.match(line)]
    first = next((i for i, line in enumerate(lines) if 'error:' in line), len(lines))
    return lines[first:]


def compiles(compiler, path, *defines):
    command = [compiler, '-std=c++20', '-Wall', '-Wextra', '-Wshadow', '-Werror', '-fsyntax-only', f'-I{ROOT / "include"}',
               *defines, str(path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                          env={**os.environ, 'LC_ALL': 'C', 'CCACHE_DISABLE': '1'}, timeout=300)
    return done.returncode == 0, done.stdout


def check(path, compiler):
    """What is wrong with one rule under one compiler: (sentence, compiler output) or None."""
    texts = expected(path)
    if not texts or not all(texts):
        return 'does not start with // expect: TEXT', ''
    if 'POOT_FAIL' not in path.read_text():
        return 'has no #ifdef POOT_FAIL', ''
    ok, output = compiles(compiler, path)
    if not ok:
        return 'the twin does not compile', output
    ok, output = compiles(compiler, path, '-DPOOT_FAIL')
    if ok:
        return 'the misuse compiles', output
    for text in texts:
        if text not in output:
            return f'the output lacks "{text}"', output
    lines = error_text(output)
    if len(lines) > LONGEST:
        return f'the error text has {len(lines)} lines, more than {LONGEST}', '\n'.join(lines)
    return None


def main():
    arguments = argparse.ArgumentParser(description='Checks that misuse is refused by the compiler.')
    arguments.add_argument('-k', metavar='WORD', default='', help='only rules whose path contains WORD')
    arguments.add_argument('compilers', nargs='*', default=['g++', 'clang++-19'], metavar='COMPILER')
    options = arguments.parse_args()
    rules = sorted(p for p in HERE.glob('*/*.cpp') if options.k in p.relative_to(HERE).as_posix())
    jobs = [(path, compiler) for path in rules for compiler in options.compilers]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get('POOT_JOBS', '2'))) as pool:
        for (path, compiler), problem in zip(jobs, pool.map(lambda job: check(*job), jobs)):
            name = f'{path.relative_to(HERE).as_posix()} ({compiler})'
            if problem:
                failed += 1
                print(f'FAIL {name}: {problem[0]}')
                print('\n'.join('    ' + line[:200] for line in problem[1].splitlines()[:30]))
            else:
                print(f'PASS {name}')
    print(f'{len(rules)} rules, {len(options.compilers)} compilers')
    print(f'{len(jobs) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
