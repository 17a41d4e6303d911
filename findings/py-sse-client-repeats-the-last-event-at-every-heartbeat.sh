#!/usr/bin/env bash
# py-sse-client hands out the last event again at every heartbeat, gives an event without a name the name of the one before it, and
# puts a blank before each name, so that "hour" is never equal to the name of an event: hour.
#
# What it is: a client for server-sent events on aiohttp; it calls a function with each event.
# Versions: py-sse-client 1.0.1, aiohttp 3.14.5; httpx-sse 0.4.3 with httpx 0.28.1 for comparison (PyPI).
# What the spec says: HTML, 9.2.6: a line that begins with a colon is ignored; at an empty line the event is dispatched, nothing is if
#   there are no data, and data and name are then set to the empty string; one blank after the colon is removed; an event without
#   a name is a message. 9.2.7 advises a comment line every 15 seconds or so. Lines may end in LF, CR LF or CR.
# Guess: three events from hour, a heartbeat, two messages without a name: hour 5, message 6, message 7.
# Seen: five calls: " hour" 5, at the heartbeat " hour" 5 once more, " hour" 6, and at another heartbeat " hour" 6 again, then " hour"
#   7. All five are the same object, so that a list of them shows 7 five times. Of the same stream with CR LF nothing arrives.
# Why: the event is made once before the loop and neither emptied nor replaced; each line that is just "\n" calls the function.
# Wrong for a user: a stream of counts that is silent adds its last count again every 15 seconds; what belongs to no hour is put
#   under the hour before.
# Instead: httpx-sse, or another client of the HTML standard.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v
v/bin/pip -q --disable-pip-version-check install --no-compile py-sse-client==1.0.1 aiohttp==3.14.5 httpx-sse==0.4.3 httpx==0.28.1 >/dev/null
cat > run.py <<'PY'
import asyncio
from importlib.metadata import version
import httpx
from aiohttp import web
from httpx_sse import aconnect_sse
from pysse import Client
print(', '.join(p + ' ' + version(p) for p in ('py-sse-client', 'aiohttp', 'httpx-sse')))
STREAM = 'event: hour\ndata: 5\n\n: heartbeat\n\ndata: 6\n\n: heartbeat\n\ndata: 7\n\n'
async def stream(request):
    answer = web.StreamResponse(headers={'Content-Type': 'text/event-stream'}); await answer.prepare(request)
    await answer.write((STREAM.replace('\n', '\r\n') if 'crlf' in request.path else STREAM).encode()); return answer
async def main():
    app = web.Application(); app.router.add_get('/{kind}', stream)
    runner = web.AppRunner(app); await runner.setup(); site = web.TCPSite(runner, '127.0.0.1', 0); await site.start()
    base = 'http://127.0.0.1:%d/' % site._server.sockets[0].getsockname()[1]
    async def ask(kind):
        calls, kept = [], []
        def take(event): calls.append((event.name, event.data)); kept.append(event)
        await Client(base + kind, take).connect()
        return calls, [e.data for e in kept]
    calls, kept = await ask('lf'); print('LF   ', calls, 'kept in a list', kept)
    crlf, _ = await ask('crlf'); print('CR LF', crlf)
    right = []
    for kind in ('lf', 'crlf'):
        async with httpx.AsyncClient() as c, aconnect_sse(c, 'GET', base + kind) as source:
            right.append([(e.event, int(e.data)) async for e in source.aiter_sse()])
    print('httpx-sse', *right); await runner.cleanup()
    same = calls == [(' hour', 5), (' hour', 5), (' hour', 6), (' hour', 6), (' hour', 7)] and kept == [7] * 5 and crlf == [] \
        and right == [[('hour', 5), ('message', 6), ('message', 7)]] * 2
    print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
asyncio.run(main())
PY
v/bin/python run.py
