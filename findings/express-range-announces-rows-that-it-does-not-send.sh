#!/usr/bin/env bash
# express-range, used as its README shows, announces rows 0 to 9 of 3, answers a request for the last two rows with none, and takes a
# range of bytes for one of items: a client that resumes a file by bytes gets rows, with 206.
#
# What it is: middleware for Express (npm) that pages lists by Range: items=0-9 and Content-Range.
# Versions: express-range 2.0.1, express 4.21.2 (npm).
# What the docs say: it accepts the unit "items", and has a suffix for "Range: items=-5, the last 5 items". RFC 9110, 14.2: a server MUST
#   ignore a Range in a unit that it does not understand; 14.4: a Content-Range whose length is not above its last position is
#   invalid, and its receiver MUST NOT put the parts together; 14.1.2: the last n of a shorter list are all of it.
# Guess: of three rows, items=0-9 gives "items 0-2/3"; items=-2 the last two; bytes=0-1 all three with status 200.
# Seen: "items 0-9/3"; an empty list and "items */3", with 206; two rows and "bytes 0-1/3", with 206. items=0-1 is right.
# Why: what was asked is written back as what was sent, unbounded; a suffix leaves first and last undefined, so that slice takes
#   nothing; the unit is read and not compared with the accepted one.
# Wrong number for a user: a reader that goes by Content-Range has ten rows of which seven are missing, or refuses the answer; "the
#   latest two hours" are an empty list; curl -C - joins rows to the half of a file.
# Instead: compute first and last from the length before res.range(), and leave Range out where the unit is another.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json && npm install --silent --no-audit --no-fund --ignore-scripts express-range@2.0.1 express@4.21.2 >/dev/null
cat > run.cjs <<'JS'
const express = require('express'), range = require('express-range')
for (const p of ['express-range', 'express']) console.log(p, require(`./node_modules/${p}/package.json`).version)
const items = [10, 20, 30], app = express()
app.use(range({ accept: 'items', limit: 10 }))
app.get('/hours', (request, response) => {      // the handler of the README
  response.range({ first: request.range.first, last: request.range.last, length: items.length })
  response.json(items.slice(request.range.first, request.range.last + 1))
})
const server = app.listen(0, '127.0.0.1', async () => {
  const rows = [
    ['items=0-1', '206 items 0-1/3 [10,20]', '206 items 0-1/3 [10,20]'],
    ['items=0-9', '206 items 0-2/3 [10,20,30]', '206 items 0-9/3 [10,20,30]'],
    ['items=-2', '206 items 1-2/3 [20,30]', '206 items */3 []'],
    ['bytes=0-1', '200 null [10,20,30]', '206 bytes 0-1/3 [10,20]']]
  let same = true
  for (const [asked, expected, stated] of rows) {
    const response = await fetch(`http://127.0.0.1:${server.address().port}/hours`, { headers: { Range: asked } })
    const observed = `${response.status} ${response.headers.get('content-range')} ${await response.text()}`
    console.log(`Range: ${asked}: expected ${expected}; observed ${observed}`)
    same &&= observed === stated
  }
  console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
})
JS
node run.cjs
