#!/usr/bin/env bash
# With @azure/core-sse an event without data, such as a heartbeat, is not over at its empty line: its name and id go
# to the event that follows. A first data line that is empty is lost, and so is a bare "data".
#
# What it is: @azure/core-sse reads server-sent events for the Azure clients that are generated from TypeSpec.
# Versions: @azure/core-sse 2.4.0, eventsource-parser 4.1.3 for comparison (npm).
# What the spec says: HTML Standard, "Server-sent events", interpreting an event stream: at an empty line, if the data
#   buffer is empty, the event type buffer is set to the empty string and nothing is dispatched. A line without
#   a colon is a field with an empty value; each data line adds its value and a line feed.
# Guess: "event: ping" and an empty line change nothing: the next event has no name, type "message".
# Seen: the next event is named "ping". A name of its own, or a comment as heartbeat, hides the fault. "data:" followed by
#   "data: 10" is "10" in place of "\n10". "data" alone dispatches nothing and lends its event's name as well.
# Why: the message in hand is only replaced when it has data; a line counts only if it has a colon; an empty text is
#   taken for none.
# Wrong number for a user: facts sent without a name after a heartbeat arrive as "ping"; who switches on the name
#   drops exactly those that follow a quiet time. Nothing is raised, and busy streams in tests pass.
# Instead: eventsource-parser; or let the server send comments (":") as heartbeats and name every event.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund @azure/core-sse@2.4.0 eventsource-parser@4.1.3 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { createSseStream } from '@azure/core-sse'
import { createParser } from 'eventsource-parser'
for (const n of ['@azure/core-sse', 'eventsource-parser']) console.log(n, JSON.parse(readFileSync(`node_modules/${n}/package.json`)).version)
const show = (name, data) => `${name || 'message'}=${JSON.stringify(data)}`
async function read(text) {
  const body = new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode(text)); c.close() } })
  const out = []
  for await (const e of createSseStream(body)) out.push(show(e.event, e.data))
  return out.join(' ')
}
function readOther(text) {
  const out = [], parser = createParser({ onEvent: (e) => out.push(show(e.event, e.data)) })
  parser.feed(text)
  return out.join(' ')
}
// [stream, expected, stated]
const cases = [
  ['data: 10\n\nevent: fact\ndata: 11\n\n', 'message="10" fact="11"', 'message="10" fact="11"'],
  [': quiet\n\ndata: 10\n\n', 'message="10"', 'message="10"'],
  ['event: ping\n\ndata: 10\n\ndata: 11\n\n', 'message="10" message="11"', 'ping="10" message="11"'],
  ['event: ping\n\nevent: fact\ndata: 10\n\n', 'fact="10"', 'fact="10"'],
  ['event: end\ndata\n\ndata: 10\n\n', 'end="" message="10"', 'end="10"'],
  ['data:\ndata: 10\n\n', 'message="\\n10"', 'message="10"'],
]
let same = true
for (const [text, expected, stated] of cases) {
  const observed = await read(text)
  console.log(`${JSON.stringify(text)}: expected ${expected}; observed ${observed}`)
  same &&= observed === stated && readOther(text) === expected
}
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
