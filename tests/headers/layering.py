#!/usr/bin/env python3
"""Checks what the headers may include, and their form. Prints one line per broken rule; status 1 when there is one.

A stage includes only itself and earlier stages; a stage's detail/ is its own; every include names its file from the
root, as <poot/stage/file.hpp>; core to emit touch no OS and include nothing that is slow to compile.
"""
import pathlib
import re
import sys

STAGES = ['core', 'ir', 'dsl', 'nn', 'pass', 'fuse', 'plan', 'kernel', 'emit', 'run', 'io']
BELOW_EVERY_STAGE = {'fwd.hpp', 'version.hpp'}  # at the root; every other file there is an umbrella, above them all
LONGEST = 400  # lines
SHIPPED = ('kernel', 'imported')  # texts of kernels, which generators write
SLOW = {'algorithm', 'filesystem', 'format', 'functional', 'iomanip', 'ios', 'iostream', 'istream', 'locale', 'map', 'memory',
        'ostream', 'ranges', 'regex', 'set', 'sstream', 'string', 'unordered_map', 'unordered_set', 'vector'}
SYSTEM = {'atomic', 'chrono', 'condition_variable', 'fstream', 'future', 'mutex', 'shared_mutex', 'stop_token', 'thread'}
SYSTEM_C = re.compile(r'^(sys/|linux/|unistd\.h|fcntl\.h|dlfcn\.h|pthread\.h|immintrin\.h|x86intrin\.h|cuda|hip/|vulkan/)')
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[>"]')


def stage_of(path):
    """Rank and name of the stage that holds `path` (relative to include/poot)."""
    if len(path.parts) == 1:
        return (-1, '') if path.name in BELOW_EVERY_STAGE else (len(STAGES), '')
    folder = path.parts[0]
    return (STAGES.index(folder), folder) if folder in STAGES else (None, folder)


def check_include(path, quote, target, files):
    rank, stage = stage_of(path)
    if not target.startswith('poot/'):
        if quote == '"':
            return f'includes "{target}": write <poot/stage/file.hpp>'
        if stage in STAGES[:STAGES.index('run')]:
            if target in SLOW:
                return f'includes <{target}>, which is too slow to compile for {stage}/'
            if target in SYSTEM or SYSTEM_C.match(target):
                return f'includes <{target}>: only run/ and io/ touch the system'
        return None
    if quote == '"':
        return f'includes "{target}": write <{target}>'
    other = pathlib.PurePosixPath(target).relative_to('poot')
    if str(other) not in files:
        return f'includes <{target}>, which does not exist'
    other_rank, other_stage = stage_of(other)
    if other_rank is None:
        return None  # reported for that file
    if other_rank > rank:
        return f'includes <{target}>, of a later stage'
    if 'detail' in other.parts and other_stage != stage:
        return f'includes <{target}>, which is private to {other_stage}/'
    return None


def check(root):
    base = root / 'include' / 'poot'
    paths = sorted(p for p in base.rglob('*') if p.suffix in ('.hpp', '.inc'))
    files = {p.relative_to(base).as_posix() for p in paths}
    for full in paths:
        path = pathlib.PurePosixPath(full.relative_to(base).as_posix())
        lines = full.read_text().splitlines()
        if stage_of(path)[0] is None:
            yield path, 1, f'stands in {path.parts[0]}/, which is no stage'
            continue
        if len(lines) > LONGEST and path.parts[:2] != SHIPPED:
            yield path, len(lines), f'has {len(lines)} lines; split it by concept ({LONGEST} at most)'
        if path.suffix == '.hpp' and not any(line.strip() == '#pragma once' for line in lines):
            yield path, 1, 'lacks #pragma once'
        for number, line in enumerate(lines, 1):
            found = INCLUDE.match(line)
            problem = found and check_include(path, *found.groups(), files)
            if problem:
                yield path, number, problem


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    problems = [f'include/poot/{path}:{line}: {text}' for path, line, text in check(root)]
    print('\n'.join(problems) if problems else 'every include points back')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
