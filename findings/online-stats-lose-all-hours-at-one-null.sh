#!/usr/bin/env bash
# One null, one empty cell or one empty batch turns online-mean and online-variance into NaN for
# good, and gives online-median a wrong number, though all three skip what is not a number.
#
# What it is: the online-stats family on npm: mean, variance and median of values as they come.
# Versions: online-mean 1.1.2, online-variance 1.0.2, online-median 1.0.3 (npm).
# What the docs say: call the function with a value, without one for the result; arrays are taken
#   apart; undefined and NaN are passed over, as the source's isNaN test shows.
# Guess: null (a missing hour in JSON), "" (one in CSV) and [] (a batch with no hours) are passed
#   over like undefined.
# Seen: isNaN(null), isNaN("") and isNaN([]) are false, so the value is let in, and parseFloat makes
#   a NaN of it after the test. n counts it. Mean and variance are NaN from then on. The median
#   has a NaN in a heap that cannot order it, and returns plausible wrong numbers or NaN.
# Wrong number for a user: no mean for the rest of the year after one missing hour; a median that
#   no sorting of the same hours gives.
# Instead: call them for numbers only: if (typeof x === 'number').
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null && npm i -s --no-audit --no-fund --ignore-scripts online-mean@1.1.2 online-variance@1.0.2 online-median@1.0.3
cat > run.js <<'JS'
const make = { mean: require('online-mean'), variance: require('online-variance'), median: require('online-median') }
console.log(Object.keys(make).map(n => `online-${n} ` + require(`online-${n}/package.json`).version).join(', '))
const hours = [5, 9, 4, 8, 3, 7, 12, 6, 2, 11]
const sorted = [...hours].sort((a, b) => a - b), mean = hours.reduce((a, b) => a + b) / 10
const want = { mean, variance: hours.reduce((t, x) => t + (x - mean) ** 2, 0) / 10, median: (sorted[4] + sorted[5]) / 2 }
const run = (name, gap, at) => { const f = make[name](); hours.forEach((x, i) => { if (i === at) f(gap); f(x) }); return f() }
const show = v => Number.isNaN(v) ? 'NaN' : Math.round(v * 1000) / 1000
let same = true
for (const name of Object.keys(make)) {
  const gaps = { none: 1, undefined, NaN, null: null, '""': '', '[]': [] }
  const seen = Object.entries(gaps).map(([k, g]) => [k, k === 'none' ? run(name, 0, -1) : run(name, g, 3)])
  console.log(name.padEnd(9), 'expected', show(want[name]), 'each; observed', seen.map(([k, v]) => `${k}: ${show(v)}`).join('  '))
  same &&= seen.slice(0, 3).every(([, v]) => Math.abs(v - want[name]) < 1e-9) && seen.slice(3).every(([, v]) => !(Math.abs(v - want[name]) < 1e-9))
}
const medians = hours.map((_, at) => show(run('median', null, at)))
console.log('median with null before hour 0 to 9: expected 6.5 each, observed', medians.join(' '))
same &&= medians.some(v => v !== 'NaN' && v !== 6.5)
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.js
