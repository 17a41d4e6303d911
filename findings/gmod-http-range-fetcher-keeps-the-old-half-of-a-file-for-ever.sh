#!/usr/bin/env bash
# @gmod/http-range-fetcher, which by its README respects HTTP caching, keeps every piece of a file for as long as the program runs,
# no-store or not, and answers one call with an old piece and a new one joined in the middle of a line.
#
# What it is: an npm module that reads parts of remote files and puts neighbouring requests together (made for genome browsers).
# Versions: @gmod/http-range-fetcher 5.0.7 (npm); fetch with Range and If-Range by hand for comparison.
# What the docs say: "Respects HTTP caching semantics, with the exception of setting a default minimum TTL of 1 second". RFC 9111, 5.2.2.5:
#   no-store is not to be kept; RFC 9110, 15.3.7.3: parts may only be joined if they share the same strong validator.
# Guess: two seconds after the change, with Cache-Control: no-store and another strong ETag, every byte is of the new file.
# Seen: the first piece (32 KiB) is the old one without any request; a range over its end is half old, half new, one line of which was
#   never published. The ETag that comes with the answer is the old one. A new fetcher, or reset(), gives the new file.
# Why: pieces are kept by address and number; neither Cache-Control nor ETag is read. Versions before had a TTL, the README still tells of it.
# Wrong number for a user: a table of hours with the counts of yesterday up to some line and those of today below it; where the join
#   is depends on what was looked at before.
# Instead: call reset() when the file may have changed, give each publication an address of its own, or compare ETags.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json && npm install --silent --no-audit --no-fund --ignore-scripts @gmod/http-range-fetcher@5.0.7 >/dev/null
cat > run.cjs <<'JS'
const fs = require('node:fs'), http = require('node:http'), { HttpRangeFetcher } = require('@gmod/http-range-fetcher')
console.log('@gmod/http-range-fetcher', JSON.parse(fs.readFileSync('node_modules/@gmod/http-range-fetcher/package.json')).version)
const make = (count) => Array.from({ length: 4000 }, (_, hour) => `${String(hour).padStart(5, '0')},${count}\n`).join('')   // 15 bytes a line
let file = make(11111111), tag = '"old"', asked = []
const server = http.createServer((request, response) => {
  const [, from, to] = /bytes=(\d+)-(\d+)/.exec(request.headers.range), end = Math.min(Number(to), file.length - 1)
  const whole = request.headers['if-range'] && request.headers['if-range'] !== tag
  asked.push(request.headers.range)
  response.setHeader('ETag', tag).setHeader('Cache-Control', 'no-store').setHeader('Accept-Ranges', 'bytes')
  if (whole) return response.end(file)
  response.writeHead(206, { 'Content-Range': `bytes ${from}-${end}/${file.length}` }).end(file.slice(Number(from), end + 1))
}).listen(0, '127.0.0.1', async () => {
  const url = `http://127.0.0.1:${server.address().port}/hours.csv`, fetcher = new HttpRangeFetcher({}), decode = (r) => Buffer.from(r.buffer).toString()
  const first = decode(await fetcher.getRange(url, 0, 15))
  file = make(22222222); tag = '"new"'; asked = []
  await new Promise((done) => setTimeout(done, 2000))
  const again = await fetcher.getRange(url, 0, 15), requests = asked.length
  const start = 15 * 2184, over = decode(await fetcher.getRange(url, start, 45)), fresh = decode(await new HttpRangeFetcher({}).getRange(url, start, 45))
  const byHand = await fetch(url, { headers: { Range: 'bytes=15-29', 'If-Range': '"old"' } })
  console.log('first line before the change:', first.trim(), '; by hand with If-Range afterwards: status', byHand.status, byHand.headers.get('etag'))
  console.log('first line two seconds after it: expected', file.slice(0, 14), '; observed', decode(again).trim(), ', ETag', again.headers.get('etag'), ', requests', requests)
  const lines = (text) => text.trim().split('\n').join(' ')
  console.log('three lines from byte', start, ': expected', lines(file.slice(start, start + 45)), '; observed', lines(over), '; new fetcher', lines(fresh))
  const same = decode(again) === first && requests === 0 && again.headers.get('etag') === '"old"' && fresh === file.slice(start, start + 45) && over === make(11111111).slice(start, 32768) + file.slice(32768, start + 45) && byHand.status === 200
  console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
})
JS
node run.cjs
