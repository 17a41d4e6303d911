#!/usr/bin/env bash
# With a cache set, got stores a 304 that answered the caller's own If-None-Match, and gives
# that empty 304 to every later caller that sent no condition at all.
#
# What it is: got is a Node HTTP client whose cache option is cacheable-request over
#   http-cache-semantics. A program keeps the last ETag on its own disk, restarts with an
#   empty cache, asks with If-None-Match and rightly gets 304; later code asks plainly.
# Versions: got 14.6.6 with cacheable-request 13.0.19, http-cache-semantics 4.3.0 (npm).
# What the spec says: RFC 9111 section 3 lets a cache store a 304 only if it understands that
#   status, and section 4.3.4 says what it is for: to freshen a stored response; RFC 9110
#   section 15.4.5: 304 answers a conditional request. http-cache-semantics does not count
#   304 among the statuses it stores, but is handed this one as a 200.
# Guess: the 304 passes through unstored, the plain request fetches 200 with the body.
# Seen: one request reaches the origin; the plain one gets 304, body "", isFromCache true, for
#   the whole max-age. Cache-Control: no-cache does not heal it: the stored tag is sent, the
#   origin says 304 once more, and the empty 304 is handed out again.
# Wrong claim for a user: an empty document (JSON parse error, or "no data") for as long as
#   the resource stays unchanged, though the origin is well.
# Instead: either let got's cache do all revalidating or none: no If-None-Match of your own
#   together with the cache option.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund got@14.6.6 cacheable-request@13.0.19 http-cache-semantics@4.3.0 >/dev/null
cat > run.mjs <<'JS'
import http from 'node:http'
import { readFileSync } from 'node:fs'
import got from 'got'
for (const p of ['got', 'cacheable-request', 'http-cache-semantics']) console.log(p, JSON.parse(readFileSync(`node_modules/${p}/package.json`)).version)
let hits = 0
const srv = http.createServer((q, r) => {
  hits++
  const h = { ETag: 'W/"v1"', 'Cache-Control': 'max-age=60', 'Content-Type': 'application/json' }
  if (q.headers['if-none-match'] === 'W/"v1"') { r.writeHead(304, h); return r.end() }
  r.writeHead(200, h); r.end('{"stars":5}')
})
await new Promise(d => srv.listen(0, '127.0.0.1', d))
const url = `http://127.0.0.1:${srv.address().port}/stars.json`, cache = new Map()
const get = async (name, headers) => {
  const r = await got(url, { cache, headers, retry: { limit: 0 } })
  console.log(name.padEnd(28), r.statusCode, JSON.stringify(r.body), 'fromCache', r.isFromCache, 'origin requests', hits)
  return `${r.statusCode} ${r.body}`
}
await get('own If-None-Match', { 'if-none-match': 'W/"v1"' })
const plain = await get('plain', {})
const fresh = await get('plain, Cache-Control: no-cache', { 'cache-control': 'no-cache' })
console.log('expected 200 {"stars":5} twice; observed', JSON.stringify(plain), JSON.stringify(fresh))
const same = plain === '304 ' && fresh === '304 '
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
