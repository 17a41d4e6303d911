#!/usr/bin/env bash
# urlfile reads every remote file as empty unless it is told to show progress; and then its cache
# gives bytes of another place if the server sends its answers in chunks.
#
# What it is: a Python package: a file object over HTTP ranges, UrlFile, and BufferedUrlFile with a
#   cache of whole blocks.
# Versions: urlfile 1.0.1, requests 2.32.4, rich 14.0.0 (PyPI); the server is Python's, HTTP/1.1 with
#   206 and Content-Length or, as proxies and streaming handlers send it, chunked.
# What the spec says: RFC 9112 section 7.1: how a body is cut into chunks means nothing.
# Guess: each read gives what the file holds at that place.
# Seen: verbose=False, the default: read() returns b"" everywhere, as the function that should hand
#   the answer on is a generator and its "return" yields nothing. With verbose=True the first
#   read is right. For the cache each piece that requests gives is taken for one block of 4096
#   bytes; of a chunked answer a piece is one chunk, here 1000 bytes, and so the bytes from 5096
#   on are filed under 8192, and are what a read there gets.
# Wrong number for a user: 0 rows in a table of thousands, or the rows of other hours further on in a
#   remote CSV, Parquet or ZIP file. No error.
# Instead: fsspec's http files.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install urlfile==1.0.1 requests==2.32.4 rich==14.0.0
cat > run.py <<'PY'
import contextlib, io, re, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from urlfile import BufferedUrlFile, UrlFile
print('urlfile', version('urlfile'), 'requests', version('requests'))
data = ''.join(f'{i:06},{i % 97:03}\n' for i in range(2000)).encode()            # 22,000 bytes
class Origin(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *a): pass
    def do_HEAD(self):
        self.send_response(200); self.send_header('Accept-Ranges', 'bytes'); self.send_header('Content-Length', str(len(data))); self.end_headers()
    def do_GET(self):
        a, b = map(int, re.fullmatch(r'bytes=(\d+)-(\d+)', self.headers['Range']).groups())
        part = data[a:b + 1]
        self.send_response(206); self.send_header('Content-Range', f'bytes {a}-{a + len(part) - 1}/{len(data)}')
        step = 1000 if self.path == '/chunked' else None
        self.send_header(*(('Transfer-Encoding', 'chunked') if step else ('Content-Length', str(len(part))))); self.end_headers()
        if not step: self.wfile.write(part); return
        for i in range(0, len(part), step): self.wfile.write(b'%x\r\n%s\r\n' % (len(part[i:i + step]), part[i:i + step]))
        self.wfile.write(b'0\r\n\r\n')
ThreadingHTTPServer.handle_error = lambda *a: None                  # the client hangs up early
srv = ThreadingHTTPServer(('127.0.0.1', 0), Origin); threading.Thread(target=srv.serve_forever, daemon=True).start()
seen = {}
def read(f, at): f.seek(at); return f.read(44)
url = lambda path: f'http://127.0.0.1:{srv.server_port}{path}'
silent = read(UrlFile(url('/whole')), 5000), read(BufferedUrlFile(url('/whole'), chunk_size_bytes=4096), 5000)
print('verbose=False: expected 44 bytes, observed', *map(len, silent), '(UrlFile, BufferedUrlFile)')
for path in ('/chunked', '/whole'):
    with contextlib.redirect_stdout(io.StringIO()):
        f = BufferedUrlFile(url(path), chunk_size_bytes=4096, verbose=True); got = read(f, 5000), read(f, 8300)
    seen[path] = [got[0] == data[5000:5044], got[1] == data[8300:8344]]
    print(f'verbose {path:9}at 5000', got[0][:15], '; at 8300 expected', data[8300:8315], 'observed', got[1][:15])
same = seen == {'/chunked': [True, False], '/whole': [True, True]} and silent == (b'', b'') and got[1] != b''
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
