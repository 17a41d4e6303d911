#!/usr/bin/env bash
# NDJSON with one number per line: where the network cuts a number, ndjson-readablestream hands out two
# numbers. 12345 becomes 123 and 45, without an error.
#
# What it is: ndjson-readablestream reads newline-delimited JSON from the body of a fetch Response.
# Versions: ndjson-readablestream 1.4.0, can-ndjson-stream 1.0.2 for comparison (npm).
# What the spec says: the NDJSON specification: each JSON text is followed by a newline, and may be any JSON
#   value of RFC 8259, which a number alone is. The chunks of a stream have no meaning.
# Guess: 40, 12345 and 7 for the three lines, wherever the stream is cut.
# Seen: every cut inside a number of two or more digits gives one value more: 4 and 0, or 123 and 45. The sum of
#   the hours goes from 12392 down to as little as 215. Objects are right at every cut.
# Why: pieces of a chunk are joined to what is left over and parsed at once, whether or not a newline has
#   been seen; the head of a number is a number, while the head of an object is not JSON. For the same reason,
#   and as errors of parsing are dropped, one line that is not JSON takes all later lines with it, silently.
# Wrong numbers for a user: hours that do not exist, counts that are too small, all later rows shifted by one.
#   On a fast link with short files it does not show.
# Instead: can-ndjson-stream, or write an object or an array on each line.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund ndjson-readablestream@1.4.0 can-ndjson-stream@1.0.2 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import readNDJSONStream from 'ndjson-readablestream'
const other = createRequire(import.meta.url)('can-ndjson-stream')
for (const n of ['ndjson-readablestream', 'can-ndjson-stream']) console.log(n, JSON.parse(readFileSync(`node_modules/${n}/package.json`)).version)
const bytes = new TextEncoder()
const body = (chunks) => new ReadableStream({ start(c) { for (const chunk of chunks) c.enqueue(bytes.encode(chunk)); c.close() } })
async function all(iterable) { const out = []; for await (const value of iterable) out.push(value); return JSON.stringify(out) }
const COUNTS = [40, 12345, 7]
let same = true
for (const [name, rows, places] of [['numbers', COUNTS, 5], ['objects', COUNTS.map((events) => ({ events })), 0]]) {
  const text = rows.map((row) => JSON.stringify(row) + '\n').join(''), want = JSON.stringify(rows)
  let changed = 0
  for (let cut = 1; cut < text.length; cut++) {
    const chunks = [text.slice(0, cut), text.slice(cut)]
    const got = await all(readNDJSONStream(body(chunks)))
    if (got !== want) { changed++; console.log(name, 'cut after', JSON.stringify(chunks[0]), 'expected', want, 'observed', got) }
    same &&= await all(other(body(chunks))) === want
    if (name === 'numbers' && chunks[0] === '40\n123') same &&= got === '[40,123,45,7]'
  }
  console.log(name + ':', changed, 'of', text.length - 1, 'cuts change the rows')
  same &&= changed === places
}
// Not the point, but the same cause: a line that is not JSON.
const damaged = await all(readNDJSONStream(body(['{"events":40}\n{"eve\n{"events":7}\n{"events":8}\n'])))
console.log('second of four lines damaged: expected an error or the other three, observed', damaged)
same &&= damaged === '[{"events":40}]'
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
