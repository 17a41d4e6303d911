#!/usr/bin/env bash
# stats-lite gives a fifth percentile of -1 for five counts that begin with 1 and 9, and -46 for counts of 0 and 100: below half a
# value it runs on past the smallest one. At the upper end it stops at the largest.
#
# What it is: a light package of statistics for JavaScript; a million downloads a month.
# Versions: stats-lite 2.2.0, simple-statistics 7.8.8 (npm) and numpy 2.4.6 (PyPI) for comparison.
# What the docs say: percentile(vals, ptile) with 0 < ptile <= 1, the value of the percentile, with interpolation by the "estimation
#   method" for percentiles that are no members. Of that method (Hyndman and Fan's definition 5, Hazen's): the rank n*p + 1/2, and
#   the smallest and largest value where the rank lies outside of 1 to n.
# Guess: numpy's method "hazen" for each percentile; nothing below the smallest value.
# Seen: the same as hazen from the rank 1 upwards. Below it: of 1, 9, 10, 12, 30 the 5th is -1, hazen's is 1; of 0, 100, 100, 100 the
#   1st is -46; of ten delays from 20 ms on the 1st is 0.4 ms. The 99th of the same values is the largest one, as it should be.
# Why: the index n*p - 1/2 is cut off towards 0, so -0.25 becomes the index 0 with a fraction of -0.25; the upper end has a minimum.
# Wrong number for a user: a band from the 5th to the 95th percentile of up to nine hours, or of the 1st of up to 49, reaches down
#   to values that never occurred, and for counts and delays below zero.
# Instead: Math.max(percentile(vals, p), Math.min(...vals)), or quantile of another library.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null; npm i --silent --no-audit --no-fund --ignore-scripts stats-lite@2.2.0 simple-statistics@7.8.8 >/dev/null
python3 -m venv v; v/bin/pip -q --disable-pip-version-check install --no-compile numpy==2.4.6 >/dev/null
cat > run.cjs <<'JS'
const { execFileSync } = require('node:child_process')
const stats = require('stats-lite'), simple = require('simple-statistics')
console.log('stats-lite', require('stats-lite/package.json').version, 'simple-statistics', require('simple-statistics/package.json').version)
const cases = [[[1, 9, 10, 12, 30], 0.05], [[1, 9, 10, 12, 30], 0.1], [[1, 9, 10, 12, 30], 0.3], [[1, 9, 10, 12, 30], 0.99], [[0, 100, 100, 100], 0.01],
  [[20, 69, 70, 71, 72, 73, 74, 75, 76, 77], 0.01]]
const hazen = JSON.parse(execFileSync('v/bin/python', ['-c', `import json, numpy
print(json.dumps([float(numpy.quantile(v, p, method='hazen')) for v, p in ${JSON.stringify(cases)}]))`]))
let same = true
cases.forEach(([values, p], i) => {
  const got = stats.percentile(values, p), below = got < Math.min(...values)
  console.log(`${p} of ${values.join(' ')}:`.padEnd(42), 'stats-lite', got.toFixed(2).padStart(7), ' numpy hazen', hazen[i].toFixed(2), ' simple-statistics', simple.quantile(values, p), below ? ' below the smallest' : '')
  same &&= below === [0, 4, 5].includes(i) && (below || Math.abs(got - hazen[i]) < 1e-9) && hazen[i] >= Math.min(...values)
})
same &&= stats.percentile(...cases[0]) === -1 && stats.percentile(...cases[4]) === -46
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.cjs
