#!/usr/bin/env bash
# With CRLF line ends, parse-sse takes a chunk that ends between CR and LF for an empty line: an event loses
# its name, or its first data line becomes an event of its own.
#
# What it is: parse-sse reads server-sent events from a fetch Response. The README calls it spec-compliant.
# Versions: parse-sse 0.1.0, eventsource-parser 4.1.3 for comparison (npm).
# What the spec says: HTML Standard, "Server-sent events", parsing an event stream: a line ends with CR LF, LF
#   or CR; CR LF is one line end. Interpreting: at the end of the stream pending data must be discarded.
# Guess: where the network cuts a stream makes no difference: one event, name "fact", data of two lines.
# Seen: of 41 places to cut one event, 3 change it. After the CR of the event line: type "message" in place of
#   "fact". After the CR of the first data line: two events, the second without its name. After the CR of
#   the id line: the name is lost again. Besides, an event that the end of the stream cut off ("data: 12" of
#   "data: 1234") is delivered. With LF line ends no cut changes anything; eventsource-parser is right in all.
# Why: each chunk is split at \r\n, \r or \n; a CR at the end of a chunk ends the line, then the LF that
#   begins the next chunk ends a second, empty one. At the end what is left is parsed and dispatched.
# Wrong name and number for a user: a listener for "fact" misses an event now and then, a count of events is
#   too high, a number may lose digits. No error, and another run over the same stream may be right.
# Instead: eventsource-parser, or let the server write LF.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund parse-sse@0.1.0 eventsource-parser@4.1.3 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { parseServerSentEvents } from 'parse-sse'
import { createParser } from 'eventsource-parser'
for (const n of ['parse-sse', 'eventsource-parser']) console.log(n, JSON.parse(readFileSync(`node_modules/${n}/package.json`)).version)
const show = (type, data) => `${type}=${data.replaceAll('\n', '/')}`
async function read(chunks) {
  const bytes = new TextEncoder(), out = []
  const body = new ReadableStream({ start(c) { for (const chunk of chunks) if (chunk) c.enqueue(bytes.encode(chunk)); c.close() } })
  for await (const e of parseServerSentEvents(new Response(body))) out.push(show(e.type, e.data))
  return out.join(' ')
}
function readOther(chunks) {
  const out = [], parser = createParser({ onEvent: (e) => out.push(show(e.event ?? 'message', e.data)) })
  for (const chunk of chunks) parser.feed(chunk)
  return out.join(' ')
}
const text = ['event: fact', 'id: 7', 'data: 10', 'data: 20', '', ''].join('\r\n')
let same = true
for (const [name, stream, seen] of [['CRLF', text, { 'event: fact\r': 'message=10/20', 'event: fact\r\nid: 7\r': 'message=10/20',
  'event: fact\r\nid: 7\r\ndata: 10\r': 'fact=10 message=20' }], ['LF', text.replaceAll('\r\n', '\n'), {}]]) {
  let changed = 0
  for (let cut = 1; cut < stream.length; cut++) {
    const chunks = [stream.slice(0, cut), stream.slice(cut)]
    const got = await read(chunks), want = 'fact=10/20'
    if (got !== want) { changed++; console.log(name, 'cut after', JSON.stringify(chunks[0]), 'expected', want, 'observed', got) }
    same &&= got === (seen[chunks[0]] ?? want) && readOther(chunks) === want
  }
  console.log(name + ':', changed, 'of', stream.length - 1, 'cuts change the events')
  same &&= changed === Object.keys(seen).length
}
const cutOff = ['event: fact\ndata: 10\n\nevent: fact\ndata: 12']
console.log('stream that ends inside "data: 1234": expected', readOther(cutOff), 'observed', await read(cutOff))
same &&= readOther(cutOff) === 'fact=10' && await read(cutOff) === 'fact=10 fact=12'
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
