#!/usr/bin/env bash
# enhanced-ms reads "-5 minutes" as five minutes to come and writes minus five minutes as "5
# minutes"; in German "1,5 Stunden" is NaN and "1.5 Stunden" is read instead.
#
# What it is: an npm module for durations in words, both ways, in twelve languages.
# Versions: enhanced-ms 5.0.0; ms 2.1.3 (npm), which it calls itself an enhanced version of.
# What the docs say: "if no valid duration units are found, it will return null"; the German
#   language file has decimal: ","; ms, which it enhances, keeps the sign in both directions.
# Guess: -300000 and "-5 minutes"; 5,400,000 for "1,5 Stunden".
# Seen: the sign is not part of the pattern for numbers and goes through Math.abs when written:
#   nothing tells a delay from a lead. The pattern takes the comma of the language, but Number()
#   is given the text as it is: NaN, not null, so a test for null does not catch it.
# Wrong number for a user: "since -24 hours" selects the 24 hours to come: no rows; "published 5
#   minutes" for a table that came five minutes early; NaN as a delay is none.
# Instead: ms, or Temporal.Duration.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null && npm i -s --no-audit --no-fund --ignore-scripts enhanced-ms@5.0.0 ms@2.1.3
cat > run.mjs <<'JS'
import fs from 'node:fs'
import enhanced, { createMs } from 'enhanced-ms'
import german from 'enhanced-ms/locales/de'
import ms from 'ms'
console.log(['enhanced-ms', 'ms'].map(p => p + ' ' + JSON.parse(fs.readFileSync(`node_modules/${p}/package.json`)).version).join(', '))
const de = createMs({ language: german })
const rows = [
  ['"-5 minutes"', -300000, enhanced('-5 minutes'), ms('-5 minutes')],
  ['"-24 h"', -86400000, enhanced('-24 h'), ms('-24 h')],
  ['-300000', '-5 minutes', enhanced(-300000), ms(-300000, { long: true })],
  ['"1,5 Stunden" (de)', 5400000, de('1,5 Stunden'), '-'],
  ['"1.5 Stunden" (de)', 'not 1.5 hours', de('1.5 Stunden'), '-'],
  ['"1 Stunde 30 Minuten" (de)', 5400000, de('1 Stunde 30 Minuten'), '-']]
for (const [what, want, got, other] of rows) console.log(what.padEnd(27), 'expected', String(want).padEnd(14), 'observed', String(got).padEnd(10), 'ms', other)
const same = rows.map(r => String(r[2])).join('|') === '300000|86400000|5 minutes|NaN|5400000|5400000' && rows[0][3] === -300000
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
