#!/usr/bin/env bash
# Express, @fastify/static and serve-handler answer 416 to a request for the last 500 bytes of a file of 100; http-server
# does so for any request for last bytes. A Parquet reader opens large files there and fails at small ones.
#
# What it is: four ways to serve static files with Node.js; the first two use send and @fastify/send.
# Versions: express 5.3.0, @fastify/static 10.1.11 with fastify 5.12.8, serve-handler 6.1.8, http-server 14.1.1 (npm).
# What the spec says: RFC 9110, 14.1.2: if the file is shorter than the suffix that is asked for, the whole file is used;
#   a suffix range of more than 0 bytes can always be met.
# Guess: 206 with all 100 bytes (or 200), from all four, for "bytes=-500".
# Seen: 416 from all four. serve-handler sends all 100 bytes as the body of its 416. For "bytes=-100", just the size, the first
#   three send 206 and the file; http-server says 416 then too, and for "bytes=-5".
# Why: the start is the size less the suffix, and a start below 0 counts as outside of the file. range-parser has corrected it
#   in 2.0.0, which none of them uses yet; http-server takes a missing start for an invalid one.
# Wrong for a user: readers that fetch a guess of the end (64 KiB, say) to have the index of a file at once fail for the small
#   files of quiet hours and of tests only; a viewer shows these hours as missing.
# Instead: after a 416 to a suffix range ask again without Range, or learn the size first and ask with both ends.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund express@5.3.0 fastify@5.12.8 @fastify/static@10.1.11 serve-handler@6.1.8 http-server@14.1.1 range-parser@2.0.0 >/dev/null
mkdir files; printf '%0100d' 0 > files/hours.bin
cat > run.cjs <<'JS'
const { readFileSync } = require('node:fs')
const { createServer } = require('node:http')
const root = `${process.cwd()}/files`
const listen = (s) => new Promise((done) => s.listen(0, '127.0.0.1', () => done(s)))
const servers = {
  express: () => { const e = require('express'); const a = e(); a.use(e.static(root)); a.use((error, q, r, next) => r.sendStatus(error.status)); return listen(createServer(a)) },
  '@fastify/static': async () => { const f = require('fastify')(); f.register(require('@fastify/static'), { root }); await f.listen({ port: 0 }); return f.server },
  'serve-handler': () => listen(createServer((q, r) => require('serve-handler')(q, r, { public: root }))),
  'http-server': () => listen(require('http-server').createServer({ root }).server),
}
const stated = { 'bytes=0-499': '206 206 206 206', 'bytes=-5': '206 206 206 416', 'bytes=-100': '206 206 206 416', 'bytes=-500': '416 416 416 416' }
async function main() {
  for (const p of Object.keys(servers)) console.log(p, JSON.parse(readFileSync(`node_modules/${p}/package.json`)).version)
  const running = []
  for (const start of Object.values(servers)) running.push(await start())
  let same = true
  for (const [range, expected] of Object.entries(stated)) {
    const seen = []
    for (const s of running) {
      const answer = await fetch(`http://127.0.0.1:${s.address().port}/hours.bin`, { headers: { range } })
      seen.push(answer.status); await answer.arrayBuffer()
    }
    console.log(`${range}: expected 206 four times, observed ${seen.join(' ')}`)
    same &&= seen.join(' ') === expected
  }
  const fixed = (await import('range-parser')).parse(100, 'bytes=-500').ranges[0]
  console.log('range-parser 2.0.0 of bytes=-500:', JSON.stringify(fixed))
  same &&= fixed.start === 0 && fixed.end === 99
  console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
}
main()
JS
node --no-deprecation run.cjs
