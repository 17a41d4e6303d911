#!/usr/bin/env bash
# axios-etag-cache knows an answer by the path alone, without params, base address and Accept: a query for one account gets the
# counts of another as a 200 where both carry the tag of the same publication, and after a base changes also from another server.
#
# What it is: interceptors for axios (npm) that send If-None-Match and put the kept body in the place of a 304.
# Versions: axios-etag-cache 1.4.0, axios 1.7.9 (npm); axios alone for comparison.
# What the spec says: RFC 9110, 8.8.3: an entity tag tells the versions of one resource apart; two resources may have the same one,
#   such as the number of the hourly publication. RFC 9111, 2: the key of a cache is at least the method and the target URI,
#   which has the query and the host.
# Guess: four requests, four 200 with their own bodies, as every one of them is for another URI.
# Seen: the second to fourth are answered with the first's body, status 200. The server sees the tag of the first in
#   If-None-Match and rightly says 304, as its own answer has that tag. With the query written into the path all is right.
# Why: the key is config.url, as the caller wrote it; axios keeps params and baseURL beside it until it sends.
# Wrong number for a user: the series of one account is drawn under the name of the other, until the next publication; which of the
#   two depends on who was asked for first. The README shows a full address without params, with which nothing is seen.
# Instead: axios.getUri(config) as the address, or a cache that keys by the URI; publishers: put the query into the tag.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json && npm install --silent --no-audit --no-fund --ignore-scripts axios-etag-cache@1.4.0 axios@1.7.9 >/dev/null
cat > run.cjs <<'JS'
const http = require('node:http'), axios = require('axios'), { axiosETAGCache } = require('axios-etag-cache')
for (const p of ['axios-etag-cache', 'axios']) console.log(p, require(`./node_modules/${p}/package.json`).version)
const listen = (place) => new Promise((ready) => {
  const server = http.createServer((request, response) => {
    const account = new URL(request.url, 'http://localhost').searchParams.get('account'), known = request.headers['if-none-match']
    if (known) console.log(`  server ${place}: ${request.url} with If-None-Match ${known}: ${known === '"hour-17"' ? 304 : 200}`)
    response.setHeader('ETag', '"hour-17"').setHeader('Content-Type', 'application/json')
    response.statusCode = known === '"hour-17"' ? 304 : 200
    response.end(response.statusCode === 304 ? undefined : JSON.stringify({ place, account }))
  }).listen(0, '127.0.0.1', () => ready(server))
})
;(async () => {
  const servers = [await listen('a'), await listen('b')], bases = servers.map((s) => `http://127.0.0.1:${s.address().port}`)
  const cached = axiosETAGCache(axios.create()), plain = axios.create()
  const asked = [[0, '/stars', { account: 'alice' }], [0, '/stars', { account: 'bob' }], [1, '/stars', { account: 'alice' }], [1, '/stars', { account: 'bob' }], [0, '/stars?account=bob']]
  const ask = async (client, [base, url, params]) => { const r = await client.get(url, { baseURL: bases[base], params }); return `${r.status} ${r.data.place}/${r.data.account}` }
  const rows = []
  for (const one of asked) {
    rows.push([await ask(plain, one), await ask(cached, one)])
    console.log(`server ${'ab'[one[0]]}, ${one[1]} ${JSON.stringify(one[2]) ?? ''}: expected (axios alone) ${rows.at(-1)[0]}; observed ${rows.at(-1)[1]}`)
  }
  const [expected, observed] = [0, 1].map((i) => rows.map((r) => r[i]).join())
  const same = expected === '200 a/alice,200 a/bob,200 b/alice,200 b/bob,200 a/bob' && observed === '200 a/alice,200 a/alice,200 a/alice,200 a/alice,200 a/bob'
  console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
})()
JS
node run.cjs
