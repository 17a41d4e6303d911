#!/usr/bin/env bash
# Asking timeseries-analysis for the outliers of a series replaces every count by its standard
# score: max() then says 3.3 for a busiest hour of 90, and reset() does not bring 90 back.
#
# What it is: an npm library for time series: averages, smoothing, min, max, mean, outliers,
#   chained on an object made of [Date, value] pairs.
# Versions: timeseries-analysis 1.0.12 (npm).
# What the docs say: the README calls the statistics "calculated based on the current buffer";
#   its source brackets outliers() with "Create a copy of the data" and "restore the data",
#   and says of reset(): "Reset the data to its original dataset".
# Guess: outliers() names the hour of 90 and leaves the series as it was.
# Seen: the copy holds the same pairs, and the pairs themselves are standardised. Afterwards
#   max() is 3.3, mean() is 0, output() and the caller's own array hold scores, reset() too,
#   and the outlier that is returned is 3.3, not 90. A second call finds nothing new in it.
# Wrong number for a user: "busiest hour: 3.3 stars, mean 0.0", or a table written after the
#   check for outliers in which every count is a score between -0.3 and 3.3.
# Instead: give the library a deep copy (hours.map(p => [...p])) for each question.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null && npm i -s --no-audit --no-fund --ignore-scripts timeseries-analysis@1.0.12
cat > run.js <<'JS'
const { main } = require('timeseries-analysis')
console.log('timeseries-analysis', require('timeseries-analysis/package.json').version)
const counts = [3, 4, 5, 4, 3, 4, 5, 4, 90, 4, 3, 4]
const hours = counts.map((n, i) => [new Date(Date.UTC(2026, 0, 1, i)), n])
const sum = counts.reduce((a, b) => a + b, 0), mean = sum / counts.length
const show = v => Number(v.toFixed(2))
const t = new main(hours)
const before = { max: show(t.max()), mean: show(t.mean()) }
const found = t.outliers().map(p => show(p[1]))
const after = { max: show(t.max()), mean: show(Math.abs(t.mean())) }
const reset = show(t.reset().max())
const own = hours.slice(6, 10).map(p => show(p[1]))
console.log('before outliers()  ', JSON.stringify(before))
console.log('outliers()          expected [90], observed', JSON.stringify(found))
console.log('after it            expected', JSON.stringify({ max: 90, mean: show(mean) }) + ', observed', JSON.stringify(after))
console.log('after reset() max   expected 90, observed', reset)
console.log("caller's array 6-9  expected [5,4,90,4], observed", JSON.stringify(own))
const kept = new main(counts.map((n, i) => [new Date(Date.UTC(2026, 0, 1, i)), n]))
console.log('without outliers()  max', kept.max(), 'after reset', kept.reset().max())
const same = before.max === 90 && after.max === 3.32 && after.mean === 0 && reset === 3.32 && own[2] === 3.32 && found[0] === 3.32 && kept.reset().max() === 90
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.js
