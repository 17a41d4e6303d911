#!/usr/bin/env bash
# @cacheable/net answers a request for CSV with the stored JSON, though the answer says Vary: Accept, if the program writes the name
# of the header as Accept; with accept it is right. Headers given as an object of the class Headers it does not send at all.
#
# What it is: fetch with an HTTP cache for Node, by the authors of cacheable, built on http-cache-semantics.
# Versions: @cacheable/net 2.1.0, cacheable 2.5.0, http-cache-semantics 4.3.0; make-fetch-happen 14.0.3 for comparison (npm).
# What the docs say: the README promises RFC 7234 by default and writes headers: { Accept: 'application/json' } in an example; the
#   type of the option is undici's RequestInit, whose headers may be a Headers object. RFC 9111, 4.1: a stored response must not be
#   used unless the fields named by Vary match. RFC 9110, 5.1: names of fields are case-insensitive.
# Guess: one request to the server for JSON and one for CSV, whatever the case of the name and the way of giving it.
# Seen: with Accept the server is asked once and both get JSON, the second with status 200 and the JSON type. With accept both are
#   right. With new Headers(...) the server reads */* from fetch, once (Node 20) or twice (Node 24), and both get JSON.
# Why: http-cache-semantics asks for names in lower case (its README says so); the object of the caller is handed over as it is, so
#   that the field accept is missing in both requests and missing equals missing. And {...headers} copies nothing of a Headers.
# Wrong for a user: the reader of CSV finds JSON in its place, for a minute or an hour, depending on what was asked first; with a
#   Headers object a request loses its language and form without a word.
# Instead: plain objects with names in lower case, or an address for each form.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; mkdir w
npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @cacheable/net@2.1.0 cacheable@2.5.0 http-cache-semantics@4.3.0 make-fetch-happen@14.0.3 >/dev/null
cat > run.mjs <<'JS'
import { createServer } from 'node:http'; import { readFileSync } from 'node:fs'
import { CacheableNet } from '@cacheable/net'; import mfh from 'make-fetch-happen'
const version = p => p + ' ' + JSON.parse(readFileSync(`node_modules/${p}/package.json`)).version
console.log(['@cacheable/net', 'cacheable', 'http-cache-semantics', 'make-fetch-happen'].map(version).join(', '))
let seen = []
const server = createServer((q, r) => {
  seen.push(q.headers.accept)
  const csv = q.headers.accept === 'text/csv'
  r.writeHead(200, { 'Content-Type': csv ? 'text/csv' : 'application/json', Vary: 'Accept', 'Cache-Control': 'max-age=60' })
  r.end(csv ? 'hour,n\n0,5\n' : '{"n":5}')
})
await new Promise(done => server.listen(0, '127.0.0.1', done))
const url = `http://127.0.0.1:${server.address().port}/hours`
const both = async (name, ask, headers) => {
  seen = []; const got = []
  for (const form of ['application/json', 'text/csv']) got.push((await ask(headers(form))).headers.get('content-type'))
  console.log(name.padEnd(30), 'got', got.join(' and '), '  server saw', seen.join(' and ')); return got.join() + ' ' + seen.join()
}
const cacheable = () => { const net = new CacheableNet(); return headers => net.fetch(url, { headers }) }
const out = [await both('@cacheable/net { Accept }', cacheable(), f => ({ Accept: f })),
  await both('@cacheable/net { accept }', cacheable(), f => ({ accept: f })),
  await both('@cacheable/net new Headers', cacheable(), f => new Headers({ accept: f })),
  await both('make-fetch-happen { Accept }', headers => mfh(url, { headers, cachePath: 'w' }), f => ({ Accept: f }))]
server.close()
const json = 'application/json', right = `${json},text/csv ${json},text/csv`
const same = out[0] === `${json},${json} ${json}` && out[1] === right && out[2].startsWith(`${json},${json} */*`) && out[3] === right
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
