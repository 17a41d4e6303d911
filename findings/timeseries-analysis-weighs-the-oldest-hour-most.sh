#!/usr/bin/env bash
# timeseries-analysis's linear weighted moving average gives the oldest hour the most weight,
# and its exponential moving average has forgotten everything two hours back.
#
# What it is: an npm library for time series; .lwma() and .ema() smooth a series of counts.
# Versions: timeseries-analysis 1.0.12, compared with moving-averages 4.0.6 (npm) and with the
#   definitions written out below.
# What the definition says: a linearly weighted average of n values has the weights n, n-1 ...
#   1 from the newest to the oldest; an exponential one is m * value + (1 - m) * the average
#   before, with m = 2 / (n + 1). The README offers "Linear Weighted Moving Average" by name.
# Guess: after one hour of 100 among hours of 10 both jump at once and fade hour by hour.
# Seen: (the window of ma() and lwma() ends one hour before the hour it is written to.) lwma()
#   rises while the hour gets older, 25, 40, 55, then drops to 10. ema() is half of this hour
#   and half of the hour before, 55, 55, 10: no memory, so no exponential average.
# Wrong number for a user: the smoothed peak is highest at hour 7 instead of 5, when the busy hour
#   is oldest; the burst looks over after two hours where the average would still say 21 and 16.
# Instead: moving-averages (wma, ema), or the two lines of arithmetic below.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null && npm i -s --no-audit --no-fund --ignore-scripts timeseries-analysis@1.0.12 moving-averages@4.0.6
cat > run.js <<'JS'
const { main } = require('timeseries-analysis')
const other = require('moving-averages')
console.log('timeseries-analysis', require('timeseries-analysis/package.json').version)
const counts = [10, 10, 10, 10, 100, 10, 10, 10, 10], n = 3, m = 2 / (n + 1)
const t = () => new main(counts.map((c, i) => [new Date(Date.UTC(2026, 0, 1, i)), c]))
const round = a => a.map(v => Math.round(v * 100) / 100)
const seenL = round(t().lwma({ period: n }).output().map(p => p[1])).slice(4)
const seenE = round(t().ema({ period: n }).output().map(p => p[1])).slice(4)
// the definitions; lwma over the same window as the library's (it ends one hour before)
const lwma = [], ema = [counts[0]]
for (let i = 4; i < counts.length; i++) lwma.push((3 * counts[i - 1] + 2 * counts[i - 2] + 1 * counts[i - 3]) / 6)
for (let i = 1; i < counts.length; i++) ema.push(m * counts[i] + (1 - m) * ema[i - 1])
const wantL = round(lwma), wantE = round(ema).slice(4)
const otherE = round(other.ema(counts, n)).slice(4)
console.log('lwma of hours 4 to 8: expected', JSON.stringify(wantL) + ', observed', JSON.stringify(seenL))
console.log('ema of hours 4 to 8:  expected', JSON.stringify(wantE) + ', observed', JSON.stringify(seenE))
console.log('moving-averages ema: ', JSON.stringify(otherE))
const eq = (a, b) => JSON.stringify(a) === JSON.stringify(b)
const same = eq(seenL, [10, 25, 40, 55, 10]) && eq(wantL, [10, 55, 40, 25, 10]) && eq(seenE, [55, 55, 10, 10, 10]) && eq(wantE, otherE)
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.js
