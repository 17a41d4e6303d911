#!/usr/bin/env bash
# http-cache-semantics and parse-cache-control know Cache-Control directives in lower case only: with
# "Max-Age=60" an answer is never fresh, with "No-Cache, max-age=60" it is served for 60 s unasked.
#
# What it is: http-cache-semantics decides for many HTTP caches of Node (got, cacheable-request,
#   make-fetch-happen) whether a stored answer may be used; parse-cache-control reads the field alone.
# Versions: http-cache-semantics 4.3.0, parse-cache-control 1.0.1, cache-control-parser 2.2.0 for comparison (npm).
# What the spec says: RFC 9111, section 5.2: cache directives are identified by a token, to be compared
#   case-insensitively.
# Guess: case changes nothing: 60 s, and 0 s for no-cache.
# Seen: "Max-Age=60" and "MAX-AGE=60" give a lifetime of 0 s. "No-Cache, max-age=60" gives 60 s, and the policy says
#   that the stored answer satisfies the next request. "max-age=3600, S-MaxAge=60" gives a shared cache 3,600 s.
#   parse-cache-control returns the key "Max-Age" with the text "60"; its "max-age" is undefined.
# Why: names become keys of an object as they were written, and look-ups use the lower case.
# Wrong number for a user: a server that writes "Max-Age" is asked for each request, although it allowed a
#   minute; where "No-Cache" asked for a question first, the count of a minute ago is shown as current. No error.
# Instead: a server writes directives in lower case; a client lowers the names before it hands them over.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund http-cache-semantics@4.3.0 parse-cache-control@1.0.1 cache-control-parser@2.2.0 >/dev/null
cat > run.mjs <<'JS'
import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
const CachePolicy = require('http-cache-semantics')
const parse = require('parse-cache-control')
const { parse: parseOther } = require('cache-control-parser')
for (const n of ['http-cache-semantics', 'parse-cache-control']) console.log(n, require(`./node_modules/${n}/package.json`).version)
const request = { method: 'GET', url: '/hours.json', headers: {} }
function policy(cacheControl, shared) {
  const headers = { date: new Date().toUTCString(), etag: '"1"', 'cache-control': cacheControl }
  const it = new CachePolicy(request, { status: 200, headers }, { shared })
  return `${it.maxAge()} s, ${it.satisfiesWithoutRevalidation(request) ? 'used unasked' : 'asked first'}`
}
// [field, for a shared cache, expected, stated]
const cases = [
  ['max-age=60', false, '60 s, used unasked', '60 s, used unasked'],
  ['Max-Age=60', false, '60 s, used unasked', '0 s, asked first'],
  ['MAX-AGE=60', false, '60 s, used unasked', '0 s, asked first'],
  ['no-cache, max-age=60', false, '0 s, asked first', '0 s, asked first'],
  ['No-Cache, max-age=60', false, '0 s, asked first', '60 s, used unasked'],
  ['max-age=3600, s-maxage=60', true, '60 s, used unasked', '60 s, used unasked'],
  ['max-age=3600, S-MaxAge=60', true, '60 s, used unasked', '3600 s, used unasked'],
]
let same = true
for (const [field, shared, expected, stated] of cases) {
  const observed = policy(field, shared)
  console.log(`${field}: expected ${expected}; observed ${observed}`)
  same &&= observed === stated
}
for (const [field, stated] of [['max-age=60', 60], ['Max-Age=60', undefined]]) {
  const observed = parse(field)['max-age']
  console.log(`parse-cache-control, ${field}: expected max-age ${parseOther(field)['max-age']}; observed ${observed}`)
  same &&= observed === stated && parseOther(field)['max-age'] === 60
}
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
