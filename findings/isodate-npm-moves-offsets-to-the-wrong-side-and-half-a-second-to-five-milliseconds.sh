#!/usr/bin/env bash
# The npm package isodate moves a time with an offset to the wrong side of UTC, reads .5 of a second as 5 milliseconds and
# .123456 as two minutes and three seconds, and puts a month without a day into the month before.
#
# What it is: isodate turns ISO 8601 text into a Date; its README names times with an offset, "2011-08-20T19:44:05+01:00".
# Versions: isodate 0.1.4; isoformat 0.2.1 for comparison where it reads the text (npm); the language's own Date.
# What the spec says: RFC 3339, 4.2 and 5.6: the offset is local time less UTC, so that 05:00+01:00 is 04:00Z; what follows the
#   point is a decimal fraction of a second. ISO 8601-1, 5.2.2.2: 2026-03 is March.
# Guess: the instants that Date gives, at least for the form in the README.
# Seen: with Z and whole seconds it is right (the script sets TZ=UTC, as Z is read in local time). Every offset goes the wrong way,
#   so that the result is off by twice the offset: 2 h for +01:00, 20 h for -10:00. A fraction counts as whole milliseconds: right
#   with three digits alone. 2026-03 is 28 February. No error.
# Why: "+" makes the offset negative, and it is then subtracted; the digits are handed to Date as a number; the missing day is 0.
# Wrong for a user: posts from clients in Tokyo and New York trade places around UTC, up to a day apart; a test with Z and
#   milliseconds passes. Microseconds, as many servers write them, move a post by up to a quarter of an hour.
# Instead: new Date(text), which reads all of RFC 3339.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json && npm install --silent --no-audit --no-fund --ignore-scripts isodate@0.1.4 isoformat@0.2.1 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import isodate from 'isodate'
import { parse } from 'isoformat'
console.log(['isodate', 'isoformat'].map((p) => `${p} ${JSON.parse(readFileSync(`node_modules/${p}/package.json`)).version}`).join(', '))
const stated = {
  '2026-03-02T05:00:00Z': '2026-03-02T05:00:00.000Z',
  '2026-03-02T05:00:00.250Z': '2026-03-02T05:00:00.250Z',
  '2026-03-02T05:00:00+01:00': '2026-03-02T06:00:00.000Z',
  '2026-03-02T05:00:00-10:00': '2026-03-01T19:00:00.000Z',
  '2011-08-20T19:44:05+01:00': '2011-08-20T20:44:05.000Z',
  '2026-03-02T05:00:00.5Z': '2026-03-02T05:00:00.005Z',
  '2026-03-02T05:00:00.123456Z': '2026-03-02T05:02:03.456Z',
  '2026-03': '2026-02-28T00:00:00.000Z',
}
let same = true
for (const [text, wrong] of Object.entries(stated)) {
  const [expected, observed, other] = [new Date(text), isodate(text), parse(text)].map((d) => d && d.toISOString())
  console.log(`${text}: expected ${expected}, observed ${observed}${expected === observed ? '' : ' (!)'}; isoformat ${other ?? 'does not read it'}`)
  same &&= observed === wrong && (other === undefined || other === expected)
}
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
TZ=UTC node run.mjs
