#!/usr/bin/env bash
# A value in @brokerloop/ttlcache that is read more often than its time to live never expires: each get() starts its time anew. And
# has() says yes for an entry that get() then does not have.
#
# What it is: a cache for JavaScript with a time to live ("TTL") and a largest size, which drops what was used the longest ago.
# Versions: @brokerloop/ttlcache 3.2.3; @isaacs/ttlcache 2.1.5 (npm) to compare with.
# What the docs say: "A cache with a configurable number of expiring entries"; ttl is the "default entry TTL in ms"; get() "returns
#   undefined if not found or if the entry is expired". That get() renews is said nowhere; of set() it is said that
#   the age for the order of use is refreshed. Time to live, as in DNS (RFC 1035) or HTTP, counts from when a thing was stored.
# Guess: a value of a second is gone after a second, however often it was asked for.
# Seen: read every 900 ms, it is there after 3 minutes. keys() and size behave as documented. Read seldom, it does expire.
# Wrong claim for a user: the account that is looked up most keeps the handle, key or host that it had when the process was started;
#   those that nobody asks for are fresh. A test with one set and one get shows nothing.
# Instead: a cache that renews only when told to (@isaacs/ttlcache); or store the time with the value and compare it.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund @brokerloop/ttlcache@3.2.3 @isaacs/ttlcache@2.1.5 >/dev/null
cat > run.cjs <<'JS'
const { TTLCache } = require('@brokerloop/ttlcache')
const { TTLCache: Other } = require('@isaacs/ttlcache')
console.log('@brokerloop/ttlcache', require('@brokerloop/ttlcache/package.json').version)
let time = 0
const clock = { now: () => time }                           // the clock that its README describes
function read(every, upTo) {
  const cache = new TTLCache({ ttl: 1000, clock }); time = 0
  cache.set('did:plc:a', 'old.example.com')
  let last
  while (time + every <= upTo) { time += every; last = cache.get('did:plc:a') }
  return last
}
const often = read(900, 180000), seldom = read(1100, 180000)
console.log('ttl 1 s; read every 0.9 s: after 3 minutes expected undefined, observed', often, '; every 1.1 s:', seldom)
const cache = new TTLCache({ ttl: 1000, clock }); time = 0
cache.set('did:plc:a', 'old.example.com'); time = 5000
const has = cache.has('did:plc:a'), got = cache.get('did:plc:a')
console.log('5 s later: has', has, 'get', got)
const wait = (ms) => new Promise((r) => setTimeout(r, ms))
async function main() {
  const other = new Other({ ttl: 300 }); other.set('did:plc:a', 'old.example.com')
  let last; for (let i = 0; i < 8; i++) { await wait(100); last = other.get('did:plc:a') }
  console.log('@isaacs/ttlcache, ttl 0.3 s, read every 0.1 s: after 0.8 s', last)
  const same = often === 'old.example.com' && seldom === undefined && has === true && got === undefined && last === undefined
  console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
}
main()
JS
node run.cjs
