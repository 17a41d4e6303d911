#!/usr/bin/env bash
# sirv answers a request for the last 8 bytes of a file with its first 9, and one for the first byte alone with all of it.
# A reader of Parquet, which looks for the end of a file first, gets the beginning.
#
# What it is: sirv serves static files; several development and preview servers of web frameworks are built on it.
# Versions: sirv 3.0.2; send 1.2.1 for comparison (npm).
# What the spec says: RFC 9110, 14.1.2: "bytes=-8" is a suffix range, the last 8 bytes; "bytes=0-0" is the first byte.
#   14.2: a range in a unit that the server does not know is ignored.
# Guess: 206 with bytes 92 to 99 of a hundred, and with byte 0.
# Seen: "bytes=-8" gives 206 and bytes 0 to 8, nine of them. "bytes=0-0" gives 206 and the whole file; "bytes=200-, 0-3", of which
#   the second part can be met, gives 416, and "hours=0-3", of an unknown unit, bytes 0 to 3 with 206. "bytes=2-5" is right. The
#   Content-Range fits what is sent, so that only a reader that compares it with what it asked for notices.
# Why: the header is cut at its first "-" and both halves are read as numbers, where none and 0 are taken for missing.
# Wrong for a user: a table in the browser, which asks for the last 8 bytes to find the index of a Parquet file, says that the
#   file is no Parquet file; a client that asks for one byte to learn the size gets the whole file each time.
# Instead: ask with both ends ("bytes=92-99", the size from a HEAD request), or serve with send.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund sirv@3.0.2 send@1.2.1 >/dev/null
mkdir files; node -e 'process.stdout.write(Array.from({length: 50}, (_, i) => String(i).padStart(2, "0")).join(""))' > files/hours.bin
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import send from 'send'
import sirv from 'sirv'
for (const p of ['sirv', 'send']) console.log(p, JSON.parse(readFileSync(`node_modules/${p}/package.json`)).version)
const serve = sirv('files')
const servers = [createServer((q, r) => serve(q, r)), createServer((q, r) => send(q, 'files/hours.bin').pipe(r))]
const ports = await Promise.all(servers.map((s) => new Promise((done) => s.listen(0, '127.0.0.1', () => done(s.address().port)))))
const ask = async (port, range) => {
  const answer = await fetch(`http://127.0.0.1:${port}/hours.bin`, { headers: { range } })
  return `${answer.status} ${answer.headers.get('content-range')}, ${(await answer.arrayBuffer()).byteLength} bytes`
}
const cases = [
  ['bytes=2-5', '206 bytes 2-5/100, 4 bytes', '206 bytes 2-5/100, 4 bytes'],
  ['bytes=-8', '206 bytes 92-99/100, 8 bytes', '206 bytes 0-8/100, 9 bytes'],
  ['bytes=0-0', '206 bytes 0-0/100, 1 bytes', '206 bytes 0-99/100, 100 bytes'],
  ['bytes=200-, 0-3', '206 bytes 0-3/100, 4 bytes', '416 bytes */100, 0 bytes'],
  ['hours=0-3', '200 null, 100 bytes', '206 bytes 0-3/100, 4 bytes'],
]
let same = true
for (const [range, expected, stated] of cases) {
  const [observed, control] = [await ask(ports[0], range), await ask(ports[1], range)]
  console.log(`${range}: expected ${expected}; observed ${observed}; send ${control}`)
  same &&= observed === stated && control === expected
}
for (const s of servers) { s.closeAllConnections(); s.close() }
console.log(same ? 'still as stated' : 'changed'); process.exitCode = same ? 0 : 1
JS
node run.mjs
