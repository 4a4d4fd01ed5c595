"""Says too little to `poot serve --timeout 1`: serve_times.py STDERR_FILE PROCESS"""
import socket

from served import address, check, end

_, port = address()
for name, said, wanted in [
        ('ends a connection on which nothing is said', b'', ''),
        ('ends one whose head does not end', b'GET /health HTTP/1.1\r\n', 'its head does not end within 1 s'),
        ('ends one whose body does not end', b'POST /completions HTTP/1.1\r\nContent-Length: 9\r\n\r\n{', 'it does not end within 1 s')]:
    with socket.create_connection(('127.0.0.1', port), timeout=60) as s:
        s.sendall(said)
        answer = b''
        while more := s.recv(65536):
            answer += more
    answer = answer.decode()
    check(name, wanted in answer if wanted else answer == '', answer)
end()
