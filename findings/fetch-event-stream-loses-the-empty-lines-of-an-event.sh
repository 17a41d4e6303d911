#!/usr/bin/env bash
# fetch-event-stream loses an empty line at the start of an event's data and a bare "data" line
# anywhere, takes all blanks after the colon, and yields events that have no data at all.
#
# What it is: an npm module that makes an async iterator of a fetch Response with server-sent events.
# Versions: fetch-event-stream 0.1.6; eventsource-parser 3.0.6 (npm) to compare with.
# What the spec says: HTML standard, 9.2.6: each data line adds its value and a line feed to the data;
#   a line without a colon is a field with the empty value; one space after the colon is removed;
#   an event whose data is empty is not dispatched.
# Guess: as eventsource-parser, on each of six streams.
# Seen: "data:" followed by "data: x" is "x" instead of an empty line and x, as the first value is
#   tested for truth; "data" alone is not a field for it; "data:   x" is "x"; "event: ping" with a
#   blank line, or an id, is handed out as an event, with data undefined.
# Wrong claim for a user: JSON.parse(undefined) at each heartbeat; texts whose empty first lines or
#   indents matter (Markdown, code, a CSV row that begins with an empty cell on its own line)
#   arrive changed.
# Instead: eventsource-parser.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null && npm i -s --no-audit --no-fund --ignore-scripts fetch-event-stream@0.1.6 eventsource-parser@3.0.6
cat > run.mjs <<'JS'
import fs from 'node:fs'
import http from 'node:http'
import { events } from 'fetch-event-stream'
import { createParser } from 'eventsource-parser'
console.log(['fetch-event-stream', 'eventsource-parser'].map(p => p + ' ' + JSON.parse(fs.readFileSync(`node_modules/${p}/package.json`)).version).join(', '))
const streams = {
  'two lines': 'data: a\ndata: b\n\n',
  'empty first line': 'data:\ndata: x\n\n',
  'bare data in the middle': 'data: a\ndata\ndata: b\n\n',
  'indented line': 'data:   x\n\n',
  heartbeat: 'event: ping\n\ndata: x\n\n',
  'id alone': 'id: 7\n\ndata: x\n\n' }
const server = http.createServer((q, s) => { s.writeHead(200, { 'Content-Type': 'text/event-stream' }); s.end(streams[decodeURIComponent(q.url.slice(1))]) })
  .listen(0, '127.0.0.1', async () => {
    const wrong = []
    for (const [name, text] of Object.entries(streams)) {
      const want = []; createParser({ onEvent: e => want.push(e.data) }).feed(text)
      const got = []
      for await (const e of events(await fetch(`http://127.0.0.1:${server.address().port}/${encodeURIComponent(name)}`))) got.push(e.data)
      const show = a => JSON.stringify(a.map(d => d === undefined ? '(undefined)' : d))
      console.log(name.padEnd(24), 'expected', show(want).padEnd(12), 'observed', show(got))
      if (show(want) !== show(got)) wrong.push(name)
    }
    const same = wrong.join() === 'empty first line,bare data in the middle,indented line,heartbeat,id alone'
    console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
  })
JS
node run.mjs
