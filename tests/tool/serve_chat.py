"""Asks `poot serve` for an answer: serve_chat.py STDERR_FILE PROCESS TEXT_FILE ANSWER"""
import json
import sys
import urllib.request

from served import address, check, end

base, _ = address()
body = {'prompt': 'ab', 'chat': True, 'tokens': 4}
for name, more in [('the answer is that of the command', {}), ('instructions are read', {'system': 'be'})]:
    with urllib.request.urlopen(base + '/completions', json.dumps(body | more).encode(), timeout=60) as a:
        said = json.load(a)
    check(name, said['prompt_tokens'] == 32 if more else said['text'] == open(sys.argv[3], encoding='utf-8').read().rstrip('\n'), said)
end()
