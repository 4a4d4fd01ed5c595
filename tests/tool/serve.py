"""Asks `poot serve` for texts and counters.

    serve.py STDERR_FILE PROCESS TEXT_FILE [OPTION…]    options say that it runs on a device
"""
import concurrent.futures
import json
import sys
import urllib.error
import urllib.request

from served import address, check, end

recorded = open(sys.argv[3], encoding='utf-8').read().rstrip('\n')


def ask(path, body=None, kind='application/json'):
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data=data, headers={'Content-Type': kind})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode()


def counters():
    lines = ask('/metrics')[1].splitlines()
    return {line.split()[0]: int(line.split()[1]) for line in lines if not line.startswith('#')}


base, _ = address()
check('is well', ask('/health') == (200, '{"status":"ok"}'))
before = counters()
status, said = ask('/completions', {'prompt': '', 'tokens': 40})
text = json.loads(said)
check('a text is the recorded one', status == 200 and text['text'] and recorded.startswith(text['text']), said)
check('tokens are counted', text['tokens'] == 40 and text['prompt_tokens'] == 1, said)
with concurrent.futures.ThreadPoolExecutor(4) as four:
    same = list(four.map(lambda _: ask('/completions', {'prompt': '', 'tokens': 40}), range(4)))
check('texts asked for at once are each as alone', all(s == (status, said) for s in same), same)
check('a stream is the same text', ask('/completions', {'prompt': '', 'tokens': 40, 'stream': True}) == (200, text['text']))
status, said = ask('/completions', {'prompt': text['text'][:20], 'tokens': 20})
check('a text begins with its prompt', status == 200 and json.loads(said)['text'].startswith(text['text'][:20]), said)
for name, body, rule in [
        ('no JSON', b'{"prompt": ', 'the body: is no JSON'),
        ('no UTF-8', b'{"prompt": "\xff"}', 'not in UTF-8'),
        ('a key given twice', b'{"prompt": "a", "tokens": 1, "tokens": 2}', 'key "tokens": is given twice'),
        ('a number that is none', b'{"prompt": "a", "tokens": 1e999}', 'key "tokens": must be a whole number from 1 to 64'),
        ('a key with a NUL', {'a\0b': 1}, 'key "a\\u0000b": is none of'),
        ('more tokens than are left', {'prompt': 'word ' * 160, 'tokens': 60}, 'key "tokens": 60 behind '),
        ('no object', b'[1]', 'the body: must be an object'),
        ('no prompt', {}, 'key "prompt": is missing'),
        ('a prompt that is a number', {'prompt': 1}, 'key "prompt": must be a string'),
        ('no tokens', {'prompt': 'a', 'tokens': 0}, 'key "tokens": must be a whole number from 1 to 64'),
        ('too many tokens', {'prompt': 'a', 'tokens': 65}, 'key "tokens": must be a whole number from 1 to 64'),
        ('half a token', {'prompt': 'a', 'tokens': 1.5}, 'key "tokens"'),
        ('an unknown key', {'prompt': 'a', 'temperatur': 1}, 'key "temperatur": is none of'),
        ('a flag that is a word', {'prompt': 'a', 'stream': 'yes'}, 'key "stream": must be true or false'),
        ('a chat that the file knows nothing of', {'prompt': 'a', 'chat': True}, 'key "chat": meadow.gguf: there is no key tokenizer.chat_template'),
        ('a prompt beyond the context', {'prompt': 'word ' * 5000}, 'do not fit the context')]:
    status, said = ask('/completions', body)
    check('refuses ' + name, status == 400 and rule in json.loads(said)['error'], said)
status, said = ask('/completions', b' ' * (1 << 20) + b'{}')
check('refuses a long body', status == 413 and '1048576' in said, said)
status, said = ask('/completions', b' ' * (1 << 14) + b'{"prompt": "a", "tokens": 1}', 'application/x-www-form-urlencoded')
check('takes a body whatever it is called', status == 200, said)
status, said = ask('/nothing')
check('refuses a path that is none', status == 404 and 'POST /completions' in json.loads(said)['error'], said)
after = counters()
check('counters say what was done', after['poot_texts_total'] - before['poot_texts_total'] == 8 and after['poot_refused_total'] == 16 and
      after['poot_tokens_total'] == 6 * 40 + 20 + 1, after)
check('the device holds memory', after['poot_device_bytes'] > 100000 and after['poot_dispatches_per_token'] > 10, after)
on_host = '--device' not in sys.argv
check('the driver compiles where there is one', (after['poot_compiles_total'] + after['poot_kernels_found_total'] == 0) == on_host and
      (after['poot_kernels_loaded'] == 0) == on_host, after)
end()
