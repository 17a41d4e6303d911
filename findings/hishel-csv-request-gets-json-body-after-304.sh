#!/usr/bin/env bash
# After a 304, hishel in RFC mode can answer a CSV request with the stored JSON body.
#
# What it is: hishel is an HTTP cache for Python clients (requests, httpx). An address serves
#   JSON or CSV by Accept, with Vary: Accept, one weak ETag for each form and, as both forms
#   come from one hourly publication, the same Last-Modified.
# Versions: hishel 2.0.0, requests 2.34.2 (PyPI), CacheAdapter(rfc=True).
# What the spec says: RFC 9111 section 4.1: a stored response may be used only if the request
#   fields that Vary names match; section 4.3.4: a 304 freshens the stored response it
#   selects, and that one is then sent; RFC 9110 section 12.5.5 (Vary).
# Guess: JSON is fetched, CSV is fetched, both go stale, CSV is revalidated with the CSV tag,
#   the origin says 304, the CSV body is handed out.
# Seen: the body and Content-Type handed out are the JSON ones, marked revalidated. With a weak
#   tag the 304 is matched by Last-Modified alone, both variants match, and the oldest of the
#   matches is returned whatever the request asked for.
# Wrong claim for a user: a program that asked for text/csv gets a 200 that is JSON; a parser
#   may read it as a table of one odd row, or, without Vary, get an older body under a new tag.
# Instead: give each form its own address (/hours.csv, /hours.json); publishers: strong ETags,
#   or Last-Modified values that differ.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install 'hishel[requests]==2.0.0' requests==2.34.2
cat > run.py <<'PY'
import threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
import requests
from hishel import SqliteStorage
from hishel.requests import CacheAdapter
print('hishel', version('hishel'), 'requests', version('requests'))
class Origin(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'; log = []
    def log_message(self, *a): pass
    def do_GET(self):
        csv = 'csv' in self.headers['Accept']
        tag = 'W/"csv-1"' if csv else 'W/"json-1"'
        hit = self.headers.get('If-None-Match') == tag
        Origin.log.append((self.headers['Accept'], self.headers.get('If-None-Match'), 304 if hit else 200))
        body = b'' if hit else b'hour,stars\n2026-01-01T00:00:00Z,5\n' if csv else b'{"stars":5}'
        self.send_response(304 if hit else 200)
        for k, v in (('ETag', tag), ('Last-Modified', 'Thu, 01 Jan 2026 01:00:00 GMT'), ('Vary', 'Accept'), ('Cache-Control', 'max-age=3')): self.send_header(k, v)
        if not hit: self.send_header('Content-Type', 'text/csv' if csv else 'application/json'); self.send_header('Content-Length', str(len(body)))
        self.end_headers(); self.wfile.write(body)
srv = ThreadingHTTPServer(('127.0.0.1', 0), Origin); threading.Thread(target=srv.serve_forever, daemon=True).start()
s = requests.Session(); s.mount('http://', CacheAdapter(storage=SqliteStorage(database_path='c.db'), rfc=True))
def get(accept):
    r = s.get(f'http://127.0.0.1:{srv.server_port}/stars', headers={'Accept': accept})
    print('asked', accept.ljust(17), '->', r.status_code, r.headers['Content-Type'], repr(r.text), 'revalidated:', r.headers['X-Hishel-Revalidated'])
    return r.text
get('application/json'); time.sleep(1.5); first = get('text/csv'); time.sleep(4.2)
again = get('text/csv')
print('origin saw', Origin.log)
print('expected', repr(first), 'observed', repr(again))
same = first.startswith('hour,') and again == '{"stars":5}' and Origin.log[-1] == ('text/csv', 'W/"csv-1"', 304)
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
