#!/usr/bin/env bash
# json-stream gives a line twice if a chunk of the stream ends between the line and its newline; from a
# server that writes each object and its newline in two steps, every single line comes twice.
#
# What it is: json-stream reads newline-delimited JSON as a Node stream of objects.
# Versions: json-stream 1.0.0; ndjson 2.0.0 as the second opinion (both npm).
# What the docs say: the README's example cuts a line in two writes and gets one object; invalid
#   JSON is ignored silently. Nothing says that where the chunks end matters.
# Guess: three lines in, three objects out, however they are cut.
# Seen: three when each chunk ends with a newline; six when the newline follows in a chunk of its
#   own, as it does from an HTTP server that calls write(json) and then write('\n'). A large file
#   read in pieces gets one line too many whenever a piece ends just before a newline. The
#   unfinished rest is tried as a line, and kept in the buffer though it was given out.
# Wrong number for a user: totals up to twice too high, and differing from run to run and from
#   machine to machine, as chunks end elsewhere.
# Instead: use ndjson; compare the number of rows with the count that the file or the server states.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund json-stream@1.0.0 ndjson@2.0.0 >/dev/null
cat > run.mjs <<'JS'
import { once } from 'node:events'
import { createReadStream, readFileSync, writeFileSync } from 'node:fs'
import { createServer, get } from 'node:http'
import { Readable } from 'node:stream'
import JSONStream from 'json-stream'
import ndjson from 'ndjson'

const version = name => JSON.parse(readFileSync(`node_modules/${name}/package.json`)).version
console.log('json-stream', version('json-stream'), '| ndjson', version('ndjson'))
const rows = ['00', '01', '02'].map((h, i) => JSON.stringify({ hour: `2026-01-01T${h}:00:00Z`, stars: [10, 20, 40][i] }))
const total = async (source, parser) => {
  const stars = []
  for await (const row of source.pipe(parser)) stars.push(row.stars)
  return `${stars.length} rows, ${stars.reduce((a, b) => a + b, 0)} stars`
}
const whole = () => Readable.from(rows.map(r => Buffer.from(r + '\n')), { objectMode: false })
const server = createServer((_, res) => { for (const r of rows) { res.write(r); res.write('\n') } res.end() }).listen(0, '127.0.0.1')
await once(server, 'listening')
const overHttp = async () => (await once(get(`http://127.0.0.1:${server.address().port}/`), 'response'))[0]
// 2,000 lines of 63 bytes and a newline, read in pieces of which the first ends just before a newline.
const row = i => { const s = JSON.stringify({ i, stars: 1, pad: '' }); return s.replace('"pad":""', `"pad":"${'x'.repeat(63 - s.length)}"`) }
writeFileSync('big.ndjson', Array.from({ length: 2000 }, (_, i) => row(i) + '\n').join(''))
const big = () => createReadStream('big.ndjson', { highWaterMark: 64 * 1024 - 1 })

const cases = [
  ['newline in the same chunk', whole, '3 rows, 70 stars', '3 rows, 70 stars'],
  ['over HTTP, newline written apart', overHttp, '3 rows, 70 stars', '6 rows, 140 stars'],
  ['a file of 2000 rows, in pieces', big, '2000 rows, 2000 stars', '2001 rows, 2001 stars'],
]
let same = true
for (const [name, source, expected, stated] of cases) {
  const second = await total(await source(), ndjson.parse())
  const got = await total(await source(), JSONStream())
  console.log(`${name.padEnd(34)} expected ${expected} (ndjson: ${second}), observed ${got}`)
  same &&= second === expected && got === stated
}
server.close()
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
