#!/usr/bin/env bash
# fetch-json-cache asks at every call and then hands out the first answer for ever, where the server sends no ETag: "no tag" equals
# "no tag", whatever Last-Modified, Cache-Control: no-store and the body say.
#
# What it is: an npm module that keeps JSON on disk and asks with HEAD whether it has changed.
# Versions: fetch-json-cache 1.7.1 (npm).
# What the docs say: it "updates it when the endpoint's ETag changes"; the kept one is used "only when the ETag request fails"
#   with ENOTFOUND. RFC 9110, 8.8.3: a server need not send an ETag; RFC 9111, 5.2.2.5: no-store must not be kept.
# Guess: without a tag it cannot know, so it fetches anew (or says so): 1, 2, 3.
# Seen: 1, 1, 1, with a HEAD for each, though Last-Modified is later every time; with no-store too, and after a restart of the
#   program, as the file stays. With an ETag 1, 2, 3. A server that sends its tag with GET but not with HEAD is fetched every time.
# Why: the headers' etag are compared with ===, and undefined is the same as undefined.
# Wrong number for a user: the count of the first day, every day; the log shows that it asked every time, so that the server gets the blame.
# Instead: { force: true } for such servers, or If-Modified-Since by hand.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json && npm install --silent --no-audit --no-fund --ignore-scripts fetch-json-cache@1.7.1 >/dev/null
cat > run.cjs <<'JS'
const http = require('node:http'), Cache = require('fetch-json-cache')
console.log('fetch-json-cache', require('./node_modules/fetch-json-cache/package.json').version)
let count = 0, asked = []
const server = http.createServer((request, response) => {
  asked.push(request.method)
  response.setHeader('Content-Type', 'application/json').setHeader('Last-Modified', new Date(Date.UTC(2026, 0, count)).toUTCString())
  if (request.url === '/tagged') response.setHeader('ETag', `"${count}"`)
  if (request.url === '/no-store') response.setHeader('Cache-Control', 'no-store')
  response.end(request.method === 'HEAD' ? undefined : JSON.stringify({ count }))
}).listen(0, '127.0.0.1', async () => {
  let same = true
  for (const [path, stated] of [['/tagged', '1,2,3'], ['/untagged', '1,1,1'], ['/no-store', '1,1,1']]) {
    const seen = []
    asked = []
    for (count of [1, 2, 3]) seen.push((await new Cache('kept').get(`http://127.0.0.1:${server.address().port}${path}`)).count)
    console.log(`${path}: expected 1,2,3; observed ${seen}; requests ${asked.join(' ')}`)
    same &&= seen.join() === stated
  }
  console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
})
JS
node run.cjs
