#!/usr/bin/env bash
# asgi-etags answers a PUT whose If-Match is stale with 412 Precondition Failed, after the
# application has already made the change; a PUT whose If-Match is right gets 412 as well.
#
# What it is: middleware for ASGI applications (FastAPI, Litestar, Starlette): gives answers an
#   ETag and evaluates If-None-Match and If-Match.
# Versions: asgi-etags 0.2.1, Starlette 0.47.3, uvicorn 0.35.0 (PyPI).
# What the spec says: RFC 9110 section 13.1.1: if the condition of If-Match is false the origin
#   server MUST NOT perform the requested method; it is compared with the current
#   representation of the resource.
# Guess: 412 and no change for a stale tag; 200 and the change for the tag just read.
# Seen: the application runs first, and the tag is compared with that of the answer to the PUT.
#   A stale tag: 412, and the stored label has changed. The right tag: 412 too, changed as well,
#   so that every conditional write "fails" and every one takes effect. (The 412 also keeps
#   the Content-Length of the answer it replaces, with no body.)
# Wrong claim for a user: an editor is told that someone else was faster and nothing was saved,
#   while the other's change has just been overwritten.
# Instead: leave If-Match to the handler (compare before writing); the middleware for GET only.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install asgi-etags==0.2.1 starlette==0.47.3 uvicorn==0.35.0
cat > run.py <<'PY'
import hashlib, http.client, threading, time
from importlib.metadata import version
import uvicorn
from asgi_etags import ETagMiddleware
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
print('asgi-etags', version('asgi-etags'), 'starlette', version('starlette'))
store = {'title': 'first'}; ran = []
async def series(request):
    ran.append(request.method)
    if request.method == 'PUT':
        store['title'] = (await request.body()).decode()
        return PlainTextResponse('saved')
    return PlainTextResponse(store['title'])
app = Starlette(routes=[Route('/', series, methods=['GET', 'PUT'])])
app.add_middleware(ETagMiddleware, etag_generator=lambda body: '"' + hashlib.md5(body).hexdigest() + '"')
server = uvicorn.Server(uvicorn.Config(app, host='127.0.0.1', port=0, log_level='critical'))
threading.Thread(target=server.run, daemon=True).start()
while not server.started: time.sleep(0.05)
port = server.servers[0].sockets[0].getsockname()[1]
def ask(method, body=None, headers={}):
    c = http.client.HTTPConnection('127.0.0.1', port); c.request(method, '/', body, headers)
    r = c.getresponse(); c.close(); return r.status, r.headers.get('ETag')
tag = ask('GET')[1]
print('GET with If-None-Match:', ask('GET', headers={'If-None-Match': tag})[0], '(expected 304)')
store['title'] = 'second'                       # someone else was faster
stale = ask('PUT', 'third', {'If-Match': tag})[0], store['title']
print("PUT, stale If-Match: expected (412, 'second'), observed", stale)
store['title'] = 'fourth'; fresh = ask('GET')[1]
right = ask('PUT', 'fifth', {'If-Match': fresh})[0], store['title']
print("PUT, right If-Match: expected (200, 'fifth'), observed", right)
same = stale == (412, 'third') and right == (412, 'fifth') and tag != fresh and ran.count('PUT') == 2
print('still as stated' if same else 'changed'); server.should_exit = True; time.sleep(0.3); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
