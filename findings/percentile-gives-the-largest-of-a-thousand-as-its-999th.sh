#!/usr/bin/env bash
# percentile of npm goes one value too far where the rank is a whole number that floating point misses: the 99.9th percentile of a
# thousand values is the largest of them, the 55th of 1 to 100 is 56; compute-quantile errs to both sides.
#
# What it is: two small packages for percentiles by the nearest rank.
# Versions: percentile 1.6.0, compute-quantile 1.0.1 (npm); the rank in whole numbers (BigInt) for comparison.
# What the docs say: percentile: the 80th of 1 to 10 is 8, so the value of rank n*p/100, rounded up; compute-quantile: "determines
#   the nearest rank", its source: if n*p is whole, the mean of that value and the next, else the rank rounded up.
# Guess: rank 999 of 1000, and 55 of 100, as 80% of 10 is rank 8.
# Seen: percentile is right for 95 and 99, but gives 1000 for 99.9 of 1 to 1000 and 56 for 55 of 1 to 100; of the 99 whole
#   percentiles of a hundred values it misses five. compute-quantile gives 56 for 55.5, and 57 for 57.5.
# Why: 1000 * (99.9 / 100) is 999.0000000000001, of which Math.ceil makes 1000; 100 * 0.57 is 56.99999999999999.
# Wrong number for a user: one slow request in a thousand becomes the p99.9 of all: "one in a thousand takes longer than 30 s", where
#   all but that one took 0.2 s. With 1,001 values it is right, so that the alarm comes and goes with the number of requests.
# Instead: count in whole numbers, as in Math.ceil(n * 999 / 1000), or round n * p to nine digits before rounding up.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json && npm install --silent --no-audit --no-fund --ignore-scripts percentile@1.6.0 compute-quantile@1.0.1 >/dev/null
cat > run.cjs <<'JS'
const percentile = require('percentile'), quantile = require('compute-quantile')
for (const p of ['percentile', 'compute-quantile']) console.log(p, require(`./node_modules/${p}/package.json`).version)
const upTo = (n) => Array.from({ length: n }, (_, i) => i + 1)
const rank = (tenths, n) => { const t = BigInt(tenths) * BigInt(n); return [Number((t + 999n) / 1000n), t % 1000n === 0n] }   // per mille, exact
const stated = [[800, 10, 8, 8.5], [990, 100, 99, 99.5], [550, 100, 56, 56], [570, 100, 57, 57], [280, 25, 8, 8], [950, 1000, 950, 950.5], [999, 1000, 1000, 999.5], [999, 1001, 1000, 1000]]
let same = true
for (const [tenths, n, a, b] of stated) {
  const [nearest, whole] = rank(tenths, n), between = whole ? nearest + 0.5 : nearest
  const seen = [percentile(tenths / 10, upTo(n)), quantile(upTo(n), tenths / 1000)]
  console.log(`${tenths / 10}% of 1..${n}: expected ${nearest} and ${between}, observed ${seen.join(' and ')}`)
  same &&= seen[0] === a && seen[1] === b
}
const missed = upTo(99).filter((p) => percentile(p, upTo(100)) !== p)
console.log('whole percentiles of 1..100 that percentile misses: expected none, observed', missed.join(' '))
const waits = [...Array(999).fill(0.2), 30]
console.log('999 requests of 0.2 s and one of 30 s: expected p99.9 0.2, observed', percentile(99.9, waits), '; with one more of 0.2 s', percentile(99.9, [...waits, 0.2]))
same &&= missed.join() === '7,14,28,55,56' && percentile(99.9, waits) === 30
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.cjs
