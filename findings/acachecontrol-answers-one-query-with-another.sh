#!/usr/bin/env bash
# acachecontrol answers a request for one hour with the answer for another: the query given as params= is no part of its key.
# An error 503 that named no lifetime is repeated for two minutes as well, though the server has recovered.
#
# What it is: a cache for Python's aiohttp; its session has the methods of aiohttp's and passes their arguments on.
# Versions: acachecontrol 0.3.7, aiohttp 3.14.5; aiohttp-client-cache 0.14.3 for comparison (PyPI).
# What the spec says: RFC 9111, 2 and 4: a stored response may be used only if its target URI matches, and the query is part of
#   the URI (RFC 9110, 4.2.1). 4.2.2: without an explicit time a cache may guess a lifetime only for a status code that is
#   heuristically cacheable, and RFC 9110, 15.1, does not list 503. 4.1: the fields of Vary must match too.
# What the docs say: the README calls it a CacheControl for aiohttp, still under development; of keys, queries and status it says nothing.
# Guess: each hour is asked once and its own answer is repeated; after a 503 the server is asked again.
# Seen: the hour 13 gets the body of the hour 12 with status 200, and the server never hears of 13. With the query written in the
#   address both are right. The 503 is handed out again. Accept is no part of the key either: CSV is answered with JSON.
# Why: the key is the pair of the method and the address as given, before aiohttp adds params to it; the status is not looked at,
#   and what has no max-age is kept for 120 seconds.
# Wrong for a user: a loop over the hours of a day writes the same number 24 times, with no error and no sign of a cache.
# Instead: write the query into the address and close the session between forms, or use aiohttp-client-cache.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v
v/bin/pip -q --disable-pip-version-check install --no-compile acachecontrol==0.3.7 aiohttp==3.14.5 aiohttp-client-cache==0.14.3 >/dev/null
cat > run.py <<'PY'
import asyncio
from importlib.metadata import version
from acachecontrol import AsyncCache, AsyncCacheControl
from aiohttp import web
from aiohttp_client_cache import CachedSession
print('acachecontrol', version('acachecontrol'), 'aiohttp', version('aiohttp'), 'aiohttp-client-cache', version('aiohttp-client-cache'))
seen, down = [], [True]
async def hours(request):
    seen.append(request.path_qs)
    form = 'csv' if 'csv' in request.headers.get('Accept', '') else 'json'
    return web.Response(text=f'{form} of hour {request.query["hour"]}', headers={'Cache-Control': 'max-age=60', 'Vary': 'Accept'})
async def state(request):
    if down[0]: down[0] = False; return web.Response(status=503, text='no observation')
    return web.Response(text='calm')
async def ask(session, url, **more):
    async with session.get(url, **more) as answer: return answer.status, await answer.text()
async def main():
    app = web.Application(); app.router.add_get('/hours', hours); app.router.add_get('/state', state)
    runner = web.AppRunner(app); await runner.setup(); site = web.TCPSite(runner, '127.0.0.1', 0); await site.start()
    base = 'http://127.0.0.1:%d' % site._server.sockets[0].getsockname()[1]
    async with AsyncCacheControl(cache=AsyncCache()) as s:
        params = [(await ask(s, base + '/hours', params={'hour': h}))[1] for h in ('12', '13')]
        print('params=        ', params, 'server saw', seen)
        written = [(await ask(s, base + '/hours?hour=' + h))[1] for h in ('12', '13')]
        print('in the address ', written)
        csv = await ask(s, base + '/hours?hour=12', headers={'Accept': 'text/csv'}); print('CSV asked      ', csv)
        state_ = [await ask(s, base + '/state') for _ in range(2)]; print('after recovery ', state_, 'server up again:', not down[0])
    async with CachedSession(cache_control=True) as s:
        other = [(await ask(s, base + '/hours', params={'hour': h}))[1] for h in ('12', '13')]; print('the other cache', other)
    await runner.cleanup()
    same = params == ['json of hour 12'] * 2 and written == other == ['json of hour 12', 'json of hour 13'] \
        and csv == (200, 'json of hour 12') and state_ == [(503, 'no observation')] * 2
    print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
asyncio.run(main())
PY
v/bin/python run.py
