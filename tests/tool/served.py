"""What the clients of `poot serve` share: they get the file with the server's messages and its process first, print a line for each
check, `ok NAME` or `FAIL NAME: why`, and end the process.
"""
import os
import re
import signal
import sys
import time


def address():
    for _ in range(600):
        found = re.search(r'listening on (http://\S+:(\d+))', open(sys.argv[1]).read())
        if found:
            return found[1], int(found[2])
        time.sleep(0.1)
    sys.exit('FAIL the server listens: it does not, within a minute')


def check(name, holds, said=''):
    print(f'ok {name}' if holds else f'FAIL {name}: {said}')


def end():
    os.kill(int(sys.argv[2]), signal.SIGTERM)
