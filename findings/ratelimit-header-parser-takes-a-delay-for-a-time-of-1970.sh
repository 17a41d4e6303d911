#!/usr/bin/env bash
# ratelimit-header-parser reads "Retry-After: 120" as the second 120 of 1970, and a Retry-After
# with a date as an invalid Date: "reset" is always past, so waiting until then is no waiting.
#
# What it is: an npm parser for the rate limit fields of answers (GitHub's, Bluesky's, the IETF
#   draft's): limit, used, remaining, reset as a Date.
# Versions: ratelimit-header-parser 0.1.0 (npm).
# What the spec says: RFC 9110 section 10.2.3: Retry-After is a number of seconds to wait, counted
#   from when the answer was received, or an HTTP date. It is never a Unix time.
# Guess: reset is two minutes from now, or the date that was sent.
# Seen: where there is no ...-reset field the library falls back to Retry-After and multiplies it by
#   1000 as a Unix time: 1970-01-01T00:02:00.000Z; "Thu, 01 Jan 2026 00:02:00 GMT" is not a
#   number: Invalid Date. With x-ratelimit-reset: 120 it counts from now, rightly.
# Wrong claim for a user: "the limit was reset 56 years ago": the next request goes out at once, and
#   a loop "sleep until reset" (or on NaN) hits the server that asked for two minutes of rest.
# Instead: read Retry-After yourself: a number is seconds from now, else Date.parse.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null && npm i -s --no-audit --no-fund --ignore-scripts ratelimit-header-parser@0.1.0
cat > run.mjs <<'JS'
import fs from 'node:fs'
import http from 'node:http'
import { parseRateLimit } from 'ratelimit-header-parser'
console.log('ratelimit-header-parser', JSON.parse(fs.readFileSync('node_modules/ratelimit-header-parser/package.json')).version)
const date = new Date(Math.ceil(Date.now() / 1000) * 1000 + 120000).toUTCString()
const answers = { '/seconds': { 'Retry-After': '120' }, '/date': { 'Retry-After': date }, '/reset': { 'X-RateLimit-Reset': '120' } }
const server = http.createServer((q, s) => {
  s.writeHead(429, { 'X-RateLimit-Limit': '100', 'X-RateLimit-Remaining': '0', ...answers[q.url] }); s.end()
}).listen(0, '127.0.0.1', async () => {
  const seen = {}
  for (const path of Object.keys(answers)) {
    const r = await fetch(`http://127.0.0.1:${server.address().port}${path}`)
    const { remaining, reset } = parseRateLimit(r)
    const wait = Math.round((reset - Date.now()) / 1000)
    seen[path] = [String(reset instanceof Date && !isNaN(reset) ? reset.toISOString() : reset), wait]
    console.log(JSON.stringify(answers[path]).padEnd(50), 'remaining', remaining, ' wait expected 120 s, observed', path === '/seconds' ? `reset ${seen[path][0]}` : wait)
  }
  const same = seen['/seconds'][0] === '1970-01-01T00:02:00.000Z' && Number.isNaN(seen['/date'][1]) && Math.abs(seen['/reset'][1] - 120) < 3
  console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
})
JS
node run.mjs
