#!/usr/bin/env bash
# After a successful POST CacheControl goes on to answer from the copy made before it; requests-cache does so after PUT, PATCH and
# DELETE as well. A program that writes and reads back sees its own change only when the copy is too old.
#
# What it is: both are HTTP caches for Python's requests; requests-cache is run with cache_control=True, so that headers decide.
# Versions: CacheControl 0.14.4, requests-cache 1.3.3, requests 2.34.2; hishel 2.0.0 for comparison (PyPI).
# What the spec says: RFC 9111, 4.4: when a cache receives a non-error status code for an unsafe method such as PUT, POST or DELETE, it
#   must invalidate the target URI. RFC 9110, 9.2.1: only GET, HEAD, OPTIONS and TRACE are safe.
# Guess: read, write, read gives the new state for each of the four methods, though the first answer may be kept for a minute.
# Seen: CacheControl asks again after PUT, PATCH and DELETE, but after POST it returns the old state without asking the server;
#   requests-cache returns the old state after all four. hishel is right in all cases.
# Why: CacheControl has a list of the methods that invalidate, without POST (a change for that was proposed as number 461 in
#   2026); requests-cache looks at methods only to decide what it stores.
# Wrong for a user: a program that adds an entry to a list by POST and reads the list finds that it is not there, and adds it
#   again; a deleted record is still shown, with status 200.
# Instead: send Cache-Control: no-cache with the first read after a write, or hishel; servers: no-cache with an ETag for what
#   clients change.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install --no-compile CacheControl==0.14.4 requests-cache==1.3.3 'hishel[requests]==2.0.0' requests==2.34.2 >/dev/null
cat > run.py <<'PY'
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
import requests
from cachecontrol import CacheControl
from hishel import SqliteStorage
from hishel.requests import CacheAdapter
from requests_cache import CachedSession

class Server(BaseHTTPRequestHandler):
    protocol_version, state, asked = 'HTTP/1.1', 0, 0
    def log_message(self, *args): pass
    def do_GET(self):
        self.rfile.read(int(self.headers.get('Content-Length') or 0))
        if self.command == 'GET': Server.asked += 1
        else: Server.state += 1
        body = b'%d' % Server.state
        self.send_response(200)
        if self.command == 'GET': self.send_header('Cache-Control', 'max-age=60')
        self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

server = ThreadingHTTPServer(('127.0.0.1', 0), Server); threading.Thread(target=server.serve_forever, daemon=True).start()
other = requests.Session()
other.mount('http://', CacheAdapter(storage=SqliteStorage(database_path='hishel.db'), rfc=True))
stale = {}
for name, session in (('CacheControl', CacheControl(requests.Session())), ('requests-cache', CachedSession(backend='memory', cache_control=True)), ('hishel', other)):
    stale[name] = set()
    for method in ('PUT', 'POST', 'PATCH', 'DELETE'):
        url = f'http://127.0.0.1:{server.server_port}/{name}/{method}'
        before, expected, asked = session.get(url).text, session.request(method, url, data='x').text, Server.asked
        observed = session.get(url).text
        print(f'{name} {version(name)} | {method} | before {before} | after: expected {expected}, observed {observed} | server asked {Server.asked - asked} times')
        if observed == before: stale[name].add(method)
same = stale == {'CacheControl': {'POST'}, 'requests-cache': {'PUT', 'POST', 'PATCH', 'DELETE'}, 'hishel': set()}
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
