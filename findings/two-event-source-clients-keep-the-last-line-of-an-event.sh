#!/usr/bin/env bash
# event-source-plus and @sentool/fetch-event-source keep only the last data line of an event: an event of three hours
# arrives as one of the last hour. What remains is stripped of its blanks.
#
# What it is: two npm clients for server-sent events over fetch, made for streams that EventSource cannot ask for.
# Versions: event-source-plus 0.1.15, @sentool/fetch-event-source 0.6.0; eventsource-parser 4.1.3 for comparison (npm).
# What the spec says: HTML standard, 9.2.6: each data line adds its value and a line feed to the data of the event; at most
#   one blank after the colon is removed.
# Guess: the three events arrive as they were sent; the standard's own examples have events of several data lines.
# Seen: of "hour,stars", "05:00,3" and "06:00,4" in one event both hand out "06:00,4" alone; of a printed JSON object they
#   hand out "}". " word" loses its blank. eventsource-parser gives all as sent. No error, no warning.
# Why: each data line replaces the one before it (data = result.data ?? data; message.data = value), and values are trimmed.
# Wrong for a user: a table of hours sent as one event has one row, the newest, and a sum over it is too small; servers
#   cut any text with a line feed into data lines, so that whether a message is whole depends on its text.
# Instead: eventsource-parser or eventsource; servers: one line of JSON for each event.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true,"type":"module"}' > package.json && npm install --silent --no-audit --no-fund event-source-plus@0.1.15 @sentool/fetch-event-source@0.6.0 eventsource-parser@4.1.3 >/dev/null
cat > run.mjs <<'JS'
import { createServer } from 'node:http'
import { EventSourcePlus } from 'event-source-plus'
import { fetchEventSource } from '@sentool/fetch-event-source'
import { createParser } from 'eventsource-parser'
const sent = ['hour,stars\n05:00,3\n06:00,4', '{\n  "stars": 3\n}', ' word']
const body = sent.map((text) => text.split('\n').map((line) => `data: ${line}\n`).join('') + '\n').join('')
const server = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body))
await new Promise((done) => server.listen(0, '127.0.0.1', done))
const url = `http://127.0.0.1:${server.address().port}/`
const plus = await new Promise((done) => {
  const seen = []
  const source = new EventSourcePlus(url, { retryStrategy: 'on-error' }).listen({ onMessage: ({ data }) => seen.push(data) })
  source.onAbort(() => done(seen))
})
const sentool = []
await fetchEventSource(url, { method: 'GET', parseJson: false, onmessage: ({ data }) => sentool.push(data) })
const parsed = []
createParser({ onEvent: ({ data }) => parsed.push(data) }).feed(await (await fetch(url)).text())
server.close()
const show = (name, seen) => console.log(name, JSON.stringify(seen))
show('expected', sent); show('eventsource-parser', parsed); show('event-source-plus', plus); show('@sentool/fetch-event-source', sentool)
const wrong = JSON.stringify(['06:00,4', '}', 'word'])
const same = JSON.stringify(parsed) === JSON.stringify(sent) && JSON.stringify(plus) === wrong && JSON.stringify(sentool) === wrong
console.log(same ? 'still as stated' : 'changed')
process.exit(same ? 0 : 1)
JS
node run.mjs
