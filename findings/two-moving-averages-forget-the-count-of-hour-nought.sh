#!/usr/bin/env bash
# ewma gives 100 where its README says 150, as the count of time 0 weighs nothing; moving-average
# throws that count away too: both take the time 0 for "no time yet".
#
# What it is: two npm modules that keep an exponential moving average of values that come at
#   uneven times; the caller gives the time (moving-average) or a clock (ewma).
# Versions: ewma 2.0.1, moving-average 1.0.1, @vascosantos/moving-average 1.1.0 (npm).
# What the docs say: ewma takes a "clock object used to read time", and its example: a half-life
#   of 10, 100 inserted at t=0 and 200 at t=10 make 150; moving-average: push(time, value).
# Guess: a series whose hours are counted from 0 (or a monotonic clock that starts at 0) gives
#   the same averages as the same series counted from 1000.
# Seen: ewma, its own example: 0 after the first insert (age 0, so no weight against a built-in
#   0), 100 after the second; from a later start 100 and 150. moving-average puts the next value
#   in the place of that of time 0: 100, then 0 ten later, is 0 instead of 36.79.
# Wrong number for a user: an average of 0 beside a count of 100, then two thirds of the rate; the
#   longer the span, the longer the wrong start is seen.
# Instead: hours since 1970, never 0; ewma: new Ewma(halfLife, firstValue, clock).
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null && npm i -s --no-audit --no-fund --ignore-scripts ewma@2.0.1 moving-average@1.0.1 @vascosantos/moving-average@1.1.0
cat > run.mjs <<'JS'
import fs from 'node:fs'
import Ewma from 'ewma'
import movingAverage from 'moving-average'
import vascoModule from '@vascosantos/moving-average'
const names = ['ewma', 'moving-average', '@vascosantos/moving-average']
console.log(names.map(p => p + ' ' + JSON.parse(fs.readFileSync(`node_modules/${p}/package.json`)).version).join(', '))
const vasco = vascoModule.default ?? vascoModule
const round = v => Math.round(v * 100) / 100
function ewma (start) {
  let now = start; const e = new Ewma(10, undefined, { now: () => now }), seen = []
  for (const [t, v] of [[0, 100], [10, 200]]) { now = start + t; e.insert(v); seen.push(round(e.value())) }
  return seen.join(' ')
}
function moving (make, start) {
  const m = make(10)
  for (const [t, v] of [[0, 100], [10, 0]]) m.push(start + t, v)
  return round(typeof m.movingAverage === 'function' ? m.movingAverage() : m.movingAverage)
}
const rows = [['ewma', ewma(0), ewma(1e12)], ['moving-average', moving(movingAverage, 0), moving(movingAverage, 1e12)], ['@vascosantos', moving(vasco, 0), moving(vasco, 1e12)]]
for (const [name, zero, later] of rows) console.log(name.padEnd(15), 'from time 0:', String(zero).padEnd(12), 'the same from 1e12:', later)
console.log('expected        100 150, 36.79 and 36.79 in both columns')
const same = JSON.stringify(rows.map(r => [r[1], r[2]])) === JSON.stringify([['0 100', '100 150'], [0, 36.79], [0, 36.79]])
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
