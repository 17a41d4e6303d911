#!/usr/bin/env bash
# With aiohttp-etag a 404 and a 503 get an ETag as well, and a client that sends it back is told
# 304 Not Modified; a GET with nothing to say (204) becomes a 500.
#
# What it is: middleware that gives every answer of an aiohttp.web application an ETag and
#   answers If-None-Match.
# Versions: aiohttp-etag 0.0.1, aiohttp 3.12.15 (PyPI).
# What the spec says: RFC 9110 section 13.2.1: a server MUST ignore all preconditions if its
#   answer without them would not have been 2xx (or 412).
# Guess: errors have no ETag, or If-None-Match does nothing there; 204 stays 204.
# Seen: the body "no such series" has an ETag; the next poll with it gets 304, and so does a poll
#   of a service that is down (503) as long as its words stay the same. web.Response(status=204)
#   has no body to hash: TypeError, 500 for the client.
# Wrong claim for a user: a poller that keeps the tag of each answer reads "not modified" for as
#   long as the series is missing or the service down; its monitor counts 304s as successes.
# Instead: set response.etag in the handlers that answer 200 (aiohttp itself checks
#   If-None-Match for files only); clients: keep validators of 2xx answers only.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install aiohttp-etag==0.0.1 aiohttp==3.12.15
cat > run.py <<'PY'
import asyncio, logging
from importlib.metadata import version
import aiohttp, aiohttp_etag
from aiohttp import web
logging.disable(logging.CRITICAL)
print('aiohttp-etag', version('aiohttp-etag'), 'aiohttp', version('aiohttp'))
async def hours(request): return web.Response(text='hour,stars\n2026-01-01T00:00:00Z,5\n')
async def missing(request): return web.Response(status=404, text='no such series\n')
async def down(request): return web.Response(status=503, text='store is being rebuilt\n')
async def nothing(request): return web.Response(status=204)
async def main():
    seen = {}
    for name in ('with', 'without'):
        app = web.Application()
        if name == 'with': aiohttp_etag.setup(app)
        for path, h in (('/hours', hours), ('/missing', missing), ('/down', down), ('/nothing', nothing)): app.router.add_get(path, h)
        runner = web.AppRunner(app, access_log=None); await runner.setup()
        site = web.TCPSite(runner, '127.0.0.1', 0); await site.start()
        port = site._server.sockets[0].getsockname()[1]
        async with aiohttp.ClientSession() as s:
            for path in ('/hours', '/missing', '/down', '/nothing'):
                async with s.get(f'http://127.0.0.1:{port}{path}') as r: first, tag = r.status, r.headers.get('ETag')
                async with s.get(f'http://127.0.0.1:{port}{path}', headers={'If-None-Match': tag} if tag else {}) as r: again = r.status
                seen[name, path] = (first, again)
        await runner.cleanup()
    want = {'/hours': (200, 304), '/missing': (404, 404), '/down': (503, 503), '/nothing': (204, 204)}
    for path, w in want.items():
        print(f'{path:9} expected {w}, observed {seen["with", path]}; without the middleware {seen["without", path]}')
    return seen
seen = asyncio.run(main())
same = (seen['with', '/hours'] == (200, 304) and seen['with', '/missing'] == (404, 304) and seen['with', '/down'] == (503, 304)
        and seen['with', '/nothing'] == (500, 500) and seen['without', '/missing'] == (404, 404) and seen['without', '/nothing'] == (204, 204))
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
