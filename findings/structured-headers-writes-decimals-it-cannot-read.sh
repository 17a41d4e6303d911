#!/usr/bin/env bash
# structured-headers writes a number that rounds to a whole one, such as 2.9999, as "3.", which is not a
# valid structured field: a reader must ignore the whole header, and the library's own parser refuses it.
#
# What it is: structured-headers reads and writes HTTP Structured Fields (RFC 9651).
# Versions: structured-headers 2.1.0; control: structured-field-values 2.0.4 (npm).
# What the spec says: RFC 9651 section 4.1.5, serialising a Decimal: round to three places; if the
#   fractional part is zero, append "0" after the point. Section 4.2.4: a number whose last character is
#   the point fails parsing, and a field that fails is ignored as a whole (section 4.2).
# Guess: 2.9999 is written "3.0"; whatever is written can be read back.
# Seen: "3.", "0.", "100."; the library's own parser refuses them, and with them the other members
#   of the same header. 0.95 and 3 are right; the control library writes "3.0".
# Why: the text of toFixed(3) loses all zeros at its end, and nothing puts one back after the point.
# Wrong number for a user: a header with a share or a mean (coverage=0.9999, lag=0.0004) disappears in
#   just the hours where the value is nearly whole, so that the best hours seem to have no value.
# Instead: round to three places yourself and let whole results be written as integers.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund structured-headers@2.1.0 structured-field-values@2.0.4 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { parseDictionary, serializeDictionary } from 'structured-headers'
import { encodeItem } from 'structured-field-values'
for (const p of ['structured-headers', 'structured-field-values']) console.log(p, JSON.parse(readFileSync(`node_modules/${p}/package.json`)).version)
let same = true
for (const [coverage, want, seen] of [[0.95, '0.95', '0.95'], [3, '3', '3'], [0.9999, '1.0', '1.'], [2.9999, '3.0', '3.'],
  [0.0004, '0.0', '0.'], [100.0003, '100.0', '100.']]) {
  const header = serializeDictionary({ hours: 24, coverage })
  let hours
  try { hours = parseDictionary(header).get('hours')[0] } catch (error) { hours = 'refused (' + error.message + ')' }
  console.log(String(coverage).padEnd(9), 'expected', `hours=24, coverage=${want}`, 'observed', header, '| hours read back:', hours, '| control:', encodeItem(coverage))
  same &&= header === `hours=24, coverage=${seen}` && (hours === 24) === !seen.endsWith('.')
}
same &&= encodeItem(2.9999) === '3.0' && encodeItem(0.9999) === '1.0'
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
