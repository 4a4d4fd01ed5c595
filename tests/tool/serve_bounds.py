"""Asks `poot serve` for what it must bound and refuse: serve_bounds.py STDERR_FILE PROCESS

The server was started with --waiting 0 --timeout 60 -n 500.
"""
import http.client
import json
import re
import socket

from served import address, check, end


def ask(method, path, body=None, headers={}):
    """Status, sentence or text, headers."""
    c = http.client.HTTPConnection('127.0.0.1', port, timeout=60)
    try:
        c.request(method, path, body, headers)
        answer = c.getresponse()
        return answer.status, answer.read().decode(), answer.headers
    finally:
        c.close()


def say(said):
    """What is answered to bytes."""
    with socket.create_connection(('127.0.0.1', port), timeout=60) as s:
        s.sendall(said)
        answer = b''
        while more := s.recv(65536):
            answer += more
    return answer.decode()


def counter(name):
    return int(re.search(rf'^poot_{name} (\d+)$', ask('GET', '/metrics')[1], re.M)[1])


def stream(prompt, tokens):
    """A connection on which a text is being written: its first bytes came."""
    s = socket.create_connection(('127.0.0.1', port), timeout=60)
    body = json.dumps({'prompt': prompt, 'tokens': tokens, 'stream': True}).encode()
    s.sendall(b'POST /completions HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n' % len(body) + body)
    s.recv(1)
    return s


_, port = address()
idle = [socket.create_connection(('127.0.0.1', port)) for _ in range(100)]
health, metrics = ask('GET', '/health'), ask('GET', '/metrics')
still = 0
for s in idle:
    s.setblocking(False)
    try:
        s.recv(1)
    except BlockingIOError:
        still += 1
    s.close()
check('answers while others say nothing', health[:2] == (200, '{"status":"ok"}') and metrics[0] == 200 and still == 100, still)

many, long = b'a: b\r\n' * 4000, b'GET /' + b'a' * 40000
post = b'POST /completions HTTP/1.1\r\n'
for name, said, status, rule in [
        ('a path that is none', b'GET /%00 HTTP/1.1\r\n\r\n', 404, 'GET /\\u0000: there is POST /completions, GET /health and GET /metrics'),
        ('a body for a path that is none', b'POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}', 404, 'POST /: there is'),
        ('a text that is fetched', b'GET /completions HTTP/1.1\r\n\r\n', 405, 'GET /completions: is asked for with POST'),
        ('health that is posted', b'POST /health HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}', 405, 'POST /health: is asked for with GET'),
        ('metrics that are traced', b'TRACE /metrics HTTP/1.1\r\n\r\n', 405, 'TRACE /metrics: is asked for with GET'),
        ('no length', post + b'\r\n', 411, 'Content-Length: is missing'),
        ('a length that is none', post + b'Content-Length: -1\r\n\r\n', 400, 'Content-Length: must be a number of bytes'),
        ('a length beyond all', post + b'Content-Length: 99999999999999999999\r\n\r\n', 413, 'the body: is longer than 1048576 bytes'),
        ('chunks without end', post + b'Transfer-Encoding: chunked\r\n\r\n' + (b'10000\r\n' + b' ' * 65536 + b'\r\n') * 20, 413, 'the body: is longer than 1048576 bytes'),
        ('chunks that are none', post + b'Transfer-Encoding: chunked\r\n\r\nx\r\n', 400, 'the body: its chunks are none'),
        ('another coding', post + b'Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n', 501, 'Transfer-Encoding: must be chunked'),
        ('a long path', b'GET /' + b'a' * 9000 + b' HTTP/1.1\r\n\r\n', 414, 'the path: is longer than 8192 bytes'),
        ('a form', post + b'Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 2\r\n\r\n{}', 415, 'Content-Type: '),
        ('a packed body', post + b'Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}', 415, 'Content-Encoding: '),
        ('a part that is none', b'GET /health HTTP/1.1\r\nRange: x\r\n\r\n', 416, 'Range: there are no parts of this'),
        ('many headers', b'GET /health HTTP/1.1\r\n' + many + b'\r\n', 431, 'the request: its head is longer than 16384 bytes'),
        ('a line without end', long, 431, 'the request: its head is longer than 16384 bytes'),
        ('a method that is none', b'FOO /health HTTP/1.1\r\n\r\n', 400, 'the request: is no HTTP/1.1'),
        ('another protocol', b'GET /health HTTP/9\r\n\r\n', 400, 'the request: is no HTTP/1.1')]:
    answer = say(said)
    check('refuses ' + name, answer.startswith(f'HTTP/1.1 {status} ') and rule in answer.replace('\\\\', '\\'), answer)
check('says what a path takes', ask('PUT', '/metrics')[2]['Allow'] == 'GET, HEAD' and ask('PUT', '/completions', 'a')[2]['Allow'] == 'POST')
answer = say(post + b'transfer-encoding: Chunked\r\n\r\nd\r\n{"prompt": "a\r\n10;x=y\r\n", "tokens": 02}\r\n0\r\n\r\n'.replace(b'02', b' 2'))
check('takes chunks', answer.startswith('HTTP/1.1 200 '), answer)

# A text may end before the next request is there: then the next one is tried.
whole = json.loads(ask('POST', '/completions', '{"prompt": "Once", "tokens": 480}')[1])['tokens']
for _ in range(100):
    before = counter('abandoned_total'), counter('tokens_total')
    stream('Once', 480).close()
    while ask('POST', '/completions', '{"prompt": "", "tokens": 1}')[0] == 503:  # until the model is free again
        pass
    after = counter('abandoned_total'), counter('tokens_total')
    if after[0] > before[0]:
        break
check('stops writing for a reader that is gone, and counts it', after[0] == before[0] + 1 and after[1] - before[1] < whole, (before, after, whole))
for _ in range(100):
    with stream('Once', 480) as s:
        status, said, headers = ask('POST', '/completions', '{"prompt": "", "tokens": 1}')
        while s.recv(65536):
            pass
    if status == 503:
        break
check('turns away what may not wait', status == 503 and headers['Retry-After'] == '1' and
      json.loads(said)['error'] == 'the model: 0 texts wait for it, and no more may' and counter('turned_away_total') > 0, said)
end()
