#!/usr/bin/env bash
# zbase32 writes another text than z32 for the same 32-byte key, and reads z32's text as another
# key, shifted by four bits, without an error: it fills up at the front instead of the end.
#
# What it is: an npm codec for z-base-32, the alphabet of did:dht identifiers, Pkarr names and
#   Hypercore keys.
# Versions: zbase32 2.0.3; z32 1.1.0 and b4a 1.6.7 (npm), and eight lines of our own to compare
#   with.
# What the spec says: "human-oriented base-32 encoding": the bits are taken from the first byte
#   on, five at a time, and zero bits are added to the end if the last group is short.
# Guess: both packages and our lines agree on any bytes.
# Seen: only on lengths that are multiples of five bytes, like the README's "hello". Else the
#   groups are cut from the end of the input: f0 is "8o" instead of "6y"; of 200 keys of 32
#   bytes none is written alike, and none of z32's is read back.
# Wrong claim for a user: a did:dht or a key that belongs to nobody (or that nobody finds), made
#   from a right one; zbase32 alone reads its own texts back, so its own tests pass.
# Instead: z32.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null && npm i -s --no-audit --no-fund --ignore-scripts zbase32@2.0.3 z32@1.1.0 b4a@1.6.7
cat > run.mjs <<'JS'
import fs from 'node:fs'
import { createHash } from 'node:crypto'
import zbase32 from 'zbase32'
import z32 from 'z32'
console.log(['zbase32', 'z32'].map(p => p + ' ' + JSON.parse(fs.readFileSync(`node_modules/${p}/package.json`)).version).join(', '))
const alphabet = 'ybndrfg8ejkmcpqxot1uwisza345h769'
function definition (bytes) {
  const bits = [...bytes].map(b => b.toString(2).padStart(8, '0')).join('')
  return bits.match(/.{1,5}/g).map(g => alphabet[parseInt(g.padEnd(5, '0'), 2)]).join('')
}
const hex = u => Buffer.from(u).toString('hex')
for (const h of ['f0', 'd47a', '68656c6c6f']) {
  const b = Buffer.from(h, 'hex')
  console.log(h.padEnd(10), 'expected', definition(b).padEnd(8), 'observed', zbase32.encode(b).padEnd(8), ' z32', z32.encode(b))
}
let alike = 0, readBack = 0, defined = 0, own = 0
for (let i = 0; i < 200; i++) {
  const key = createHash('sha256').update(String(i)).digest()
  const text = z32.encode(key)
  if (text === definition(key)) defined++
  if (zbase32.encode(key) === text) alike++
  if (hex(zbase32.decode(text)) === hex(key)) readBack++
  if (hex(zbase32.decode(zbase32.encode(key))) === hex(key)) own++
}
console.log('of 200 keys: z32 as defined', defined + '; zbase32 writes alike, expected 200, observed', alike + "; reads z32's, expected 200, observed", readBack + '; reads its own', own)
const key = createHash('sha256').update('0').digest()
console.log('a key    ', hex(key), '\nread back', hex(zbase32.decode(z32.encode(key))))
const same = defined === 200 && alike === 0 && readBack === 0 && own === 200 && zbase32.encode(Buffer.from('f0', 'hex')) === '8o'
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
