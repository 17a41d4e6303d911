#!/usr/bin/env bash
# express-sse gives every event without an id one of its own, 0, 1, 2 for each connection: a heartbeat between two events with a
# cursor takes the cursor away, and after a lost connection the reader asks for what came after "0".
#
# What it is: middleware for Express (npm) that sends server-sent events; send(content, eventName, customID).
# Versions: express-sse 1.0.0, eventsource-parser 3.0.6 as the reader (npm).
# What the spec says: HTML standard, 9.2.5 and 9.2.6: an event without an id field leaves the last event ID as it is; the reader sends
#   that as Last-Event-ID when it connects again.
# Guess: the ids that were given, and none for events without one, as the README has the custom id as an addition and says nothing of
#   numbers; after the heartbeat the reader still holds 1767225600000001.
# Seen: the heartbeat has id 0, the next one 1, and they become the last event ID. A second reader, who comes later, gets 0 for the
#   second heartbeat: the same event has two ids. An event whose given id is the number 0 gets one of these numbers too.
# Why: data.id is tested for being true, else a counter that begins anew in every connection is written.
# Wrong for a user: a server that replays after Last-Event-ID sends the whole history again, so that every event counts twice, or
#   nothing, if it does not know the number; the more heartbeats, the more likely.
# Instead: give every event an id that is not 0, heartbeats the last cursor again; or better-sse.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true,"type":"module"}' > package.json && npm install --silent --no-audit --no-fund --ignore-scripts express-sse@1.0.0 eventsource-parser@3.0.6 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { createParser } from 'eventsource-parser'
import SSE from 'express-sse'
console.log(['express-sse', 'eventsource-parser'].map((p) => `${p} ${JSON.parse(readFileSync(`node_modules/${p}/package.json`)).version}`).join(', '))
const stream = new SSE(), server = http.createServer(stream.init)
const pause = (ms) => new Promise((done) => setTimeout(done, ms))
const read = (port) => new Promise((ready) => {
  const reader = { events: [], last: '' }
  const parser = createParser({ onEvent: ({ id, event, data }) => { if (id !== undefined) reader.last = id; reader.events.push(`${event}=${id ?? 'none'}`) } })
  http.get({ host: '127.0.0.1', port, agent: false }, (response) => { response.setEncoding('utf8').on('data', (text) => parser.feed(text)); reader.stop = () => response.destroy() })
  setTimeout(() => ready(reader), 300)
})
server.listen(0, '127.0.0.1', async () => {
  const { port } = server.address(), first = await read(port)
  stream.send({ stars: 5 }, 'count', '1767225600000001')
  stream.send({}, 'heartbeat')
  await pause(200)
  const lastOfFirst = first.last, second = await read(port)
  stream.send({}, 'heartbeat')
  stream.send({ stars: 6 }, 'first', 0)
  await pause(200)
  const rows = [
    ['first reader', first.events.join(' '), 'count=1767225600000001 heartbeat=none heartbeat=none first=0', 'count=1767225600000001 heartbeat=0 heartbeat=1 first=2'],
    ['second reader', second.events.join(' '), 'heartbeat=none first=0', 'heartbeat=0 first=1'],
    ['last event ID after the first heartbeat', lastOfFirst, '1767225600000001', '0']]
  for (const [name, observed, expected] of rows) console.log(`${name}: expected ${expected}; observed ${observed}`)
  const same = rows.every(([, observed, , stated]) => observed === stated)
  console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
})
JS
node run.mjs
