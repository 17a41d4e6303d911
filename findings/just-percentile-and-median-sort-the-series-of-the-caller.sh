#!/usr/bin/env bash
# Asking just-percentile or median for one number puts the caller's own array in order of size: the hourly series that is
# printed afterwards belongs to other hours, and its last value is its largest.
#
# What it is: two npm packages, one function each, for a percentile and for the median of an array.
# Versions: just-percentile 4.2.0, median 0.0.2; compute-median 2.0.0 for comparison (npm).
# What the docs say: just-percentile: "return the value at the given percentile"; median: "to calculate median", with an example that
#   keeps the array in a variable, as the caller here does. Neither says that the argument changes.
# Guess: 8 for the median of 9, 1, 10, 2, 8, and the array as it was, as a function that returns a number leaves its argument alone.
# Seen: 8, and the array is 1, 2, 8, 9, 10. A frozen array, or values that are put together for the call, would show or hide it;
#   compute-median gives 8 and leaves the array alone.
# Why: both call sort() on the argument itself; Array.prototype.sort works in place.
# Wrong number for a user: every hour of the table gets another hour's count, the "latest" value is the largest and the trend of
#   every series is upwards; sums, averages and further percentiles stay right, so that nothing looks broken.
# Instead: hand over a copy (percentile([...counts], 0.5)), or Object.freeze the series to get an error; compute-median.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json && npm install --silent --no-audit --no-fund --ignore-scripts just-percentile@4.2.0 median@0.0.2 compute-median@2.0.0 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import computeMedian from 'compute-median'
import percentile from 'just-percentile'
import median from 'median'
console.log(['just-percentile', 'median', 'compute-median'].map((p) => `${p} ${JSON.parse(readFileSync(`node_modules/${p}/package.json`)).version}`).join(', '))
const functions = { 'just-percentile': (counts) => percentile(counts, 0.5), median, 'compute-median': (counts) => computeMedian(counts) }
const written = [9, 1, 10, 2, 8]
const table = (counts) => counts.map((count, hour) => `0${hour}:00 ${count}`).join(', ')
let same = true
for (const [name, middle] of Object.entries(functions)) {
  const counts = [...written]
  const value = middle(counts)
  console.log(`${name}: median ${value}; expected afterwards ${table(written)}; observed ${table(counts)}; latest ${counts.at(-1)}, change ${counts.at(-1) - counts[0]}`)
  same &&= value === 8 && counts.join() === (name === 'compute-median' ? '9,1,10,2,8' : '1,2,8,9,10')
}
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
