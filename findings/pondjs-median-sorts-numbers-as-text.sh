#!/usr/bin/env bash
# The median of pondjs sorts the numbers as text, so that the median of 9, 10 and 11 is 11; its
# percentile(50) of the same column is right.
#
# What it is: pondjs, time series for JavaScript with means, medians and rollups of windows.
# Versions: pondjs 0.9.0 with @babel/runtime 7.28.4, which it needs and does not install (npm).
# What the docs say: median() of a series and of a window is the median value of a column; missing
#   values are left out.
# Guess: 10, as percentile(50) gives.
# Seen: 11: Array.sort() without a comparison puts "10" and "11" before "9". With an odd number of values
#   median() is one of them, but which one follows from their first digits: 1000 for 2, 3, 10, 100,
#   1000. Right by chance when all values have as many digits, as in most examples. Rollups of
#   windows use the same function.
# Wrong number for a user: a typical hour of a day whose counts pass from two digits to three comes out
#   as one of its extremes, and no error and no odd-looking value gives it away.
# Instead: percentile(50), which sorts by value, of the series or of the window.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund pondjs@0.9.0 @babel/runtime@7.28.4 >/dev/null
cat > run.cjs <<'JS'
const { median, TimeSeries } = require('pondjs')
console.log('pondjs', require('pondjs/package.json').version)
const series = values => new TimeSeries({ name: 'hours', columns: ['time', 'stars'], points: values.map((v, i) => [1767225600000 + i * 3600000, v]) })
const cases = [
  [[9, 10, 11], 10, 11],
  [[2, 3, 10, 100, 1000], 10, 1000],
  [[100, 9, null, 8], 9, 8],
  [[12, 10, 11], 11, 11],
]
let same = true
for (const [values, expected, stated] of cases) {
  const s = series(values)
  const whole = s.median('stars')
  const day = s.fixedWindowRollup({ windowSize: '1d', aggregation: { m: { stars: median() } } }).at(0).get('m')
  console.log(JSON.stringify(values).padEnd(20), `expected ${expected} (percentile(50): ${s.percentile(50, 'stars')}), observed median ${whole}, of the day's window ${day}`)
  same &&= whole === stated && day === stated
}
const right = [[9, 10, 11], [2, 3, 10, 100, 1000], [12, 10, 11]].every(v => series(v).percentile(50, 'stars') === [...v].sort((a, b) => a - b)[(v.length - 1) / 2])
same &&= right
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.cjs
