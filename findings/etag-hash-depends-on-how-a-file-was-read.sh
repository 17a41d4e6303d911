#!/usr/bin/env bash
# etag-hash gives one file two tags: read in one piece a file of more than two parts hashes
# wrongly, and read in small pieces a file of whole parts gets one part too many.
#
# What it is: etag-hash, npm, computes the ETag that S3 gives to a multi-part upload, "useful for
#   verifying" one.
# Versions: etag-hash 1.1.3 (npm).
# What the algorithm says: the file is cut into parts of the agreed size (the last may be shorter),
#   the MD5 sums of the parts are joined, the MD5 of that and the number of parts make the tag.
# Guess: the same tag however the bytes arrive, and three parts for three times the part size.
# Seen: update() of a buffer longer than what is left of two parts puts all the rest into one part:
#   3.5 parts make "-2" (the README's own call, update(contents)), in small pieces "-4" as they
#   should. When small pieces fill the last part exactly, an empty one is begun and counted: 2
#   parts make "-3", with the MD5 of nothing at the end.
# Wrong claim for a user: "the upload is damaged" for a perfect copy; which files fail depends on
#   their size and on the stream's buffer.
# Instead: cut the file into parts yourself, as in the lines below.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null && npm i -s --no-audit --no-fund --ignore-scripts etag-hash@1.1.3
cat > run.js <<'JS'
const { createHash } = require('crypto'), etag = require('etag-hash').createHash
console.log('etag-hash', require('etag-hash/package.json').version)
const MB = 1024 * 1024, md5 = b => createHash('md5').update(b).digest()
function definition (data) {                                   // parts of one MB
  const sums = []
  for (let i = 0; i < data.length; i += MB) sums.push(md5(data.subarray(i, i + MB)))
  return md5(Buffer.concat(sums)).toString('hex') + '-' + sums.length
}
function pieces (data, size) {
  const h = etag(1)
  for (let i = 0; i < data.length; i += size) h.update(data.subarray(i, i + size))
  return h.digest()
}
const line = Buffer.from('2026-01-01T00:00:00Z,5\n'), seen = {}
for (const mb of [1.5, 2, 3.5]) {
  const data = Buffer.alloc(mb * MB, line), want = definition(data)
  const whole = etag(1).update(data).digest(), small = pieces(data, 60000), even = pieces(data, 65536)
  seen[mb] = [whole, small, even].map(t => t === want)
  console.log(mb, 'parts: expected', want)
  console.log('   one piece', whole, ' pieces of 60000', small, ' of 65536', even)
}
const same = JSON.stringify(seen) === '{"2":[true,false,false],"1.5":[true,true,true],"3.5":[false,true,true]}'
console.log('right:', JSON.stringify(seen)); console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.js
