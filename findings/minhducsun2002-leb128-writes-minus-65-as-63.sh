#!/usr/bin/env bash
# @minhducsun2002/leb128 writes -65 as the byte that means 63, and a time in milliseconds as
# another, much smaller number; such times written by others it reads wrongly too.
#
# What it is: an npm codec for LEB128, "done right"; LEB128.encode takes any safe integer.
# Versions: @minhducsun2002/leb128 1.0.0; leb 1.0.0 (npm) to compare with.
# What the spec says: DWARF 5 section 7.6 (Wikipedia, which the source names): of a signed number
#   bit 6 of the last byte is the sign, so -65 is bf 7f; of an unsigned one every seven bits have
#   a byte of their own, whatever its size.
# Guess: bytes as leb writes them, and back again.
# Seen: a negative number is filled up to seven bits without keeping one for the sign: -65 to -127
#   become 3f to 01, which are 63 to 1 for any reader. Read back by the package -64 is -0 and -65
#   is -1. Above 2 to the 32 the 32-bit shifts of JavaScript drop the rest: 2026-01-01 in
#   milliseconds is written as its lower 32 bits and read from leb's bytes as another number.
# Wrong number for a user: a fall of 65 stars is a rise of 63; a time of 1970.
# Instead: leb, or @thi.ng/leb128.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null && npm i -s --no-audit --no-fund --ignore-scripts @minhducsun2002/leb128@1.0.0 leb@1.0.0
cat > run.js <<'JS'
const fs = require('fs'), { LEB128 } = require('@minhducsun2002/leb128'), leb = require('leb')
console.log(['@minhducsun2002/leb128', 'leb'].map(p => p + ' ' + JSON.parse(fs.readFileSync(`node_modules/${p}/package.json`)).version).join(', '))
const hex = u => Buffer.from(u).toString('hex')
for (const n of [-2, -63, -64, -65, -100, -128]) {
  const got = LEB128.encode(n), want = leb.encodeInt32(n)
  console.log(String(n).padStart(5), 'expected', hex(want).padEnd(5), 'observed', hex(got).padEnd(5), ' read by leb', leb.decodeInt32(Buffer.from(got)).value, ' by itself', LEB128.decode(got, 0, true))
}
const wrong = [], back = []
for (let n = -1; n >= -8192; n--) {
  if (hex(LEB128.encode(n)) !== hex(leb.encodeInt32(n))) wrong.push(n)
  if (LEB128.decode(LEB128.encode(n), 0, true) !== n) back.push(n)
}
console.log('of -1 to -8192: written wrongly, expected 0, observed', wrong.length + '; read back wrongly, expected 0, observed', back.length)
const time = Date.UTC(2026, 0, 1), theirs = leb.encodeUInt64(time)
const own = LEB128.decode(LEB128.encode(time)), read = LEB128.decode(theirs)
console.log('time', time, 'expected', hex(theirs), 'observed', hex(LEB128.encode(time)), ' read back', own, " leb's bytes read", read)
const same = hex(LEB128.encode(-65)) === '3f' && leb.decodeInt32(Buffer.from(LEB128.encode(-65))).value === 63 && own !== time && read !== time && wrong.length > 60 && hex(LEB128.encode(-2)) === hex(leb.encodeInt32(-2))
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.js
