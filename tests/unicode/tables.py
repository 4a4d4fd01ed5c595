#!/usr/bin/env python3
"""Tables of Unicode in headers: tables.py HEADER… [--write].

Compares every table that a header of include/poot/io/tokenizer holds with what this Python's Unicode database gives, or writes
it. Status 1 where they differ; a database of another version than the table's is skipped with status 77.
"""
import pathlib
import re
import sys
import unicodedata

OTHER, LETTER, NUMBER, SPACE = range(4)
CODES = [c for c in range(0x110000) if not 0xd800 <= c < 0xe000]


def class_of(code):
    """Letters are the categories L, numbers N; spaces have the property White_Space."""
    category = unicodedata.category(chr(code))
    if category[0] == 'L':
        return LETTER
    if category[0] == 'N':
        return NUMBER
    return SPACE if category[0] == 'Z' or 9 <= code <= 13 or code == 0x85 else OTHER


def changes(value, factor, first=0):
    """factor · code + value for each code whose value is not that of the code before it."""
    found, last = [], first
    for code in range(0x110000):
        now = value(code)
        if now != last:
            found.append(factor * code + now)
        last = now
    return found


def parts(code):
    """The one or two codes that a code is canonically made of, if it is."""
    words = unicodedata.decomposition(chr(code)).split()
    return [] if not words or words[0][0] == '<' else [int(w, 16) for w in words]


def pairs():
    """code, first and second for each code that is two, in the order of codes; 2^31 more where the two do not become it."""
    found = []
    for code in CODES:
        p = parts(code)
        if len(p) == 2:
            becomes = unicodedata.normalize('NFC', chr(p[0]) + chr(p[1])) == chr(code)
            found += [code if becomes else code + 2**31, *p]
    return found


def singles():
    """code and what it is, for each code that is another one."""
    return [x for code in CODES if len(parts(code)) == 1 for x in (code, parts(code)[0])]


TABLES = {'character_changes': lambda: changes(class_of, 4, OTHER),
          'combining_changes': lambda: changes(lambda c: unicodedata.combining(chr(c)), 256),
          'canonical_pairs': pairs, 'canonical_singles': singles}


def table(name):
    lines, line = [], ' '
    for word in (f'{c:#x},' for c in TABLES[name]()):
        if len(line) + 1 + len(word) > 150:
            lines.append(line)
            line = ' '
        line += ' ' + word
    return '\n'.join(lines + [line])


def main():
    skipped = False
    for path in [pathlib.Path(a) for a in sys.argv[1:] if a != '--write']:
        text = path.read_text()
        version = re.search(r'// Unicode ([0-9.]+)', text)[1]
        if version != unicodedata.unidata_version and '--write' not in sys.argv:
            print(f'[SKIP] the table is of Unicode {version}, and this Python knows {unicodedata.unidata_version}')
            skipped = True
            continue
        wanted = re.sub(r'(constexpr uint32 (\w+)\[\] = \{\n).*?(\n\};)', lambda m: m[1] + table(m[2]) + m[3], text, flags=re.S)
        wanted = wanted.replace(f'// Unicode {version}', f'// Unicode {unicodedata.unidata_version}')
        if '--write' in sys.argv:
            path.write_text(wanted)
        elif wanted != text:
            print(f'{path}: not all tables are those of Unicode {version}')
            return 1
    return 77 if skipped else 0


sys.exit(main())
