#!/usr/bin/env python3
"""The table of include/poot/io/tokenizer/character_class.hpp: character_classes.py HEADER [--write].

Compares the header's table with what this Python's Unicode database gives, or writes it. Status 1 where they differ;
a database of another version than the table's is skipped with status 77.
"""
import pathlib
import re
import sys
import unicodedata

OTHER, LETTER, NUMBER, SPACE = range(4)


def class_of(code):
    """Letters are the categories L, numbers N; spaces have the property White_Space."""
    category = unicodedata.category(chr(code))
    if category[0] == 'L':
        return LETTER
    if category[0] == 'N':
        return NUMBER
    return SPACE if category[0] == 'Z' or 9 <= code <= 13 or code == 0x85 else OTHER


def changes():
    """4 · code + class for each code whose class is not that of the code before it."""
    found, last = [], OTHER
    for code in range(0x110000):
        now = class_of(code)
        if now != last:
            found.append(4 * code + now)
        last = now
    return found


def table():
    words = [f'{c:#x},' for c in changes()]
    lines, line = [], ' '
    for word in words:
        if len(line) + 1 + len(word) > 150:
            lines.append(line)
            line = ' '
        line += ' ' + word
    return '\n'.join(lines + [line])


def main():
    header = pathlib.Path(sys.argv[1])
    text = header.read_text()
    parts = re.fullmatch(r'(.*// Unicode )([0-9.]+)(\n.*character_changes\[\] = \{\n)(.*?)(\n\};.*)', text, re.S)
    version = unicodedata.unidata_version
    if '--write' in sys.argv:
        header.write_text(parts[1] + version + parts[3] + table() + parts[5])
    elif parts[2] != version:
        print(f'[SKIP] the table is of Unicode {parts[2]}, and this Python knows {version}')
        return 77
    elif parts[4] != table():
        print(f'{header}: the table of character classes is not that of Unicode {version}')
        return 1
    return 0


sys.exit(main())
