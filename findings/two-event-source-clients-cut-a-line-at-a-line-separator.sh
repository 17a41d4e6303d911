#!/usr/bin/env bash
# aiosseclient (Python) and @server-sent-stream/parser (npm) cut the data of an event at U+2028, the line separator that posts and
# JSON may contain: "Rain", a separator and "wind" arrive as "Rain".
#
# What it is: two readers of server-sent events; the code of the npm package cites the HTML standard step by step.
# Versions: aiosseclient 0.1.8, aiohttp 3.x, httpx-sse 0.4.3 (PyPI); @server-sent-stream/parser 1.0.4, eventsource-parser 4.1.3 (npm).
# What the spec says: HTML standard, 9.2.5 and 9.2.6: lines end in CR LF, LF or CR; any-char, which a value is made of, is every
#   other character, U+2028 among them. RFC 8259, 7: JSON strings may contain it unescaped, and JSON.stringify writes it so.
# Guess: the text and the JSON arrive as they were sent.
# Seen: the text is cut after its first line and the JSON is cut in the middle of a string, by both.
#   eventsource-parser and httpx-sse give all as sent. No error.
# Why: Python's splitlines() also splits at U+2028 and eight others; the point in a JavaScript pattern, (.*), stops at U+2028 and U+2029.
# Wrong for a user: half of a text shown as the whole; a JSON event that cannot be parsed, once in many thousand, with
#   nothing wrong in the server's log.
# Instead: eventsource-parser; httpx-sse; servers: escape U+2028 and U+2029 in JSON.
set -euo pipefail
T=$(mktemp -d); trap 'kill $S 2>/dev/null || true; rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true,"type":"module"}' > package.json && npm install --silent --no-audit --no-fund @server-sent-stream/parser@1.0.4 eventsource-parser@4.1.3 >/dev/null
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install --no-compile aiosseclient==0.1.8 httpx-sse==0.4.3 httpx==0.28.1 >/dev/null
cat > server.mjs <<'JS'
import { createServer } from 'node:http'
const texts = ['Rain\u2028wind', JSON.stringify({ text: 'Rain\u2028wind', stars: 5 })]
createServer((q, r) => { r.setHeader('content-type', 'text/event-stream'); r.end(texts.map((t, i) => `id: ${i + 1}\ndata: ${t}\n\n`).join('')) })
  .listen(0, '127.0.0.1', function () { console.log(this.address().port) })
JS
node server.mjs > port & S=$!; until [ -s port ]; do sleep 0.1; done; URL=http://127.0.0.1:$(cat port)/
cat > run.mjs <<'JS'
import parser from '@server-sent-stream/parser'
import { createParser } from 'eventsource-parser'
const text = await (await fetch(process.argv[2])).text(), a = [], b = []
new (parser.default ?? parser)((data, type, id) => a.push([id, data])).push(text)
createParser({ onEvent: e => b.push([e.id, e.data]) }).feed(text)
console.log(JSON.stringify({ 'server-sent-stream': a, 'eventsource-parser': b }).replaceAll('\u2028', '\\u2028'))
JS
cat > run.py <<'PY'
import asyncio, json, logging, sys, aiosseclient, httpx, httpx_sse
logging.disable(); url, got = sys.argv[1], json.loads(sys.argv[2])
async def read(): return [[e.id, e.data] async for e in aiosseclient.aiosseclient(url)]
got['aiosseclient'] = asyncio.run(read())
with httpx.Client() as c, httpx_sse.connect_sse(c, 'GET', url) as s: got['httpx-sse'] = [[e.id, e.data] for e in s.iter_sse()]
for k in got: print(k.ljust(19), got[k])
sent = [['1', 'Rain\u2028wind'], ['2', '{"text":"Rain\u2028wind","stars":5}']]
cut = [['1', 'Rain'], ['2', '{"text":"Rain']]
same = got['httpx-sse'] == got['eventsource-parser'] == sent and got['server-sent-stream'] == got['aiosseclient'] == cut
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py "$URL" "$(node run.mjs "$URL")"
