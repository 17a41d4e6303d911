#!/usr/bin/env bash
# One missing hour (NaN) makes two LTTB ports drop the bucket in front of it, peak and all, and
# put the point before it into the result twice.
#
# What it is: downsample-lttb and downsample-lttb-ts, npm, thin a series of [x, y] pairs for a
#   chart with Largest Triangle Three Buckets.
# Versions: downsample-lttb 0.0.1, downsample-lttb-ts 0.0.6; downsample 1.4.0 to compare (npm).
# What the docs say: neither README sets a condition for y; the result has as many points as were
#   asked for, one of each bucket.
# Guess: NaN is kept as a gap, or passed over; the other buckets are as without it.
# Seen: the average of the bucket with the gap is NaN, so every triangle of the bucket in front
#   of it has the area NaN, none is larger than -1, and the variable still holds the choice of
#   the bucket before: it is written again. A burst of 500 at hour 18 with a gap at hour 23 is
#   gone, for each of the places of the gap in the next bucket; the NaN is not in the result
#   either, so the chart shows no break. (downsample's LTTB raises a TypeError here.)
# Wrong claim for a user: a chart without the busiest hour of three days and without the gap
#   right after it: outages often follow bursts.
# Instead: cut the series at its gaps and thin each piece; or leave the missing hours out.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null && npm i -s --no-audit --no-fund --ignore-scripts downsample-lttb@0.0.1 downsample-lttb-ts@0.0.6 downsample@1.4.0
cat > run.js <<'JS'
const fs = require('fs'), v = p => p + ' ' + JSON.parse(fs.readFileSync(`node_modules/${p}/package.json`)).version
console.log(['downsample-lttb', 'downsample-lttb-ts', 'downsample'].map(v).join(', '))
const one = require('downsample-lttb').processData, two = require('downsample-lttb-ts').downsample, { LTTB } = require('downsample')
const hours = gap => Array.from({ length: 62 }, (_, i) => [i, i === gap ? NaN : i === 18 ? 500 : 10 + i % 3])
const ports = { 'downsample-lttb': s => one(s, 14), 'downsample-lttb-ts': s => two({ series: s, threshold: 14 }) }
const whole = LTTB(hours(-1), 14).map(p => p[0])
console.log('no gap:       downsample        ', whole.join(' '))
let same = true
for (const [name, f] of Object.entries(ports)) {
  const clean = f(hours(-1)).map(p => p[0]), gapped = f(hours(23)), xs = gapped.map(p => p[0])
  console.log('no gap:      ', name.padEnd(18), clean.join(' '))
  console.log('gap at 23:   ', name.padEnd(18), xs.join(' '), ' peak', Math.max(...gapped.map(p => p[1])), ' distinct', new Set(xs).size)
  const without = f(hours(23).filter(p => !Number.isNaN(p[1])))
  const lost = [21, 22, 23, 24, 25].filter(g => !f(hours(g)).some(p => p[1] === 500))
  console.log('  gap left out: peak', Math.max(...without.map(p => p[1])), '; peak lost with a gap at: expected none, observed', lost.join(' '))
  same &&= clean.join() === whole.join() && xs.join() === '0,2,6,15,15,24,26,33,38,42,47,51,56,61' && lost.join() === '21,22,23,24,25' && without.some(p => p[1] === 500)
}
try { LTTB(hours(23), 14); same = false } catch (e) { console.log('gap at 23:    downsample        ', e.constructor.name) }
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.js
