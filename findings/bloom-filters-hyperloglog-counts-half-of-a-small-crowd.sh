#!/usr/bin/env bash
# The HyperLogLog of bloom-filters counts half of up to 1,000 distinct accounts, while its accuracy() names 3 %.
#
# What it is: bloom-filters is a collection of probabilistic data structures for JavaScript.
# Versions: bloom-filters 3.0.4 (npm).
# What the docs say: count() estimates the cardinality, accuracy() the accuracy of that estimate. Flajolet et al.,
#   "HyperLogLog" (2007), which the docs name as the source: a register holds the position of the leftmost
#   1-bit, counted from 1; below 2.5 m, linear counting reads the registers that are still 0, the unused ones.
# Guess: with 1,024 registers (accuracy 0.0325) 100 accounts give 97 to 103.
# Seen: averaged over four seeds 100 distinct accounts give 49, 500 give 246, 1,000 give 493; 5,000 give 5,066, which
#   is right. Linear counting with positions from 1 (below) is right for the small sets too. With 16,384
#   registers, meant to be more exact, 5,000 accounts give 2,476.
# Why: positions are counted from 0. Half of all hashes begin with a 1-bit and leave their register at 0, so it
#   looks unused to linear counting. The estimate for larger sets is doubled, which hides the shift.
# Wrong number for a user: quiet hours show half of their accounts and busy hours all, so a rise from 1,000 to 5,000
#   looks like one from 500 to 5,000; and the more registers, the more hours count as quiet.
# Instead: a Set for small counts; check a sketch against known counts in each of its ranges.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund bloom-filters@3.0.4 >/dev/null
cat > run.mjs <<'JS'
import { createRequire } from 'node:module'
import { createHash } from 'node:crypto'
const require = createRequire(import.meta.url)
const { HyperLogLog } = require('bloom-filters')
console.log('bloom-filters', require('./node_modules/bloom-filters/package.json').version)
const M = 1024
function count(accounts, seed, registers = M) {
  const sketch = new HyperLogLog(registers)
  sketch.seed = seed
  for (let i = 0; i < accounts; i++) sketch.update(`did:plc:${seed}:${i}`)
  return sketch.count()
}
// Linear counting as in the paper: a used register is never 0.
function linear(accounts, seed) {
  const used = new Set()
  for (let i = 0; i < accounts; i++) used.add(createHash('sha256').update(`did:plc:${seed}:${i}`).digest().readUInt16BE(0) % M)
  return M * Math.log(M / (M - used.size))
}
// Mean over four seeds, as a share of the truth.
const mean = (f, accounts) => [1, 2, 3, 4].map((seed) => f(accounts, seed)).reduce((a, b) => a + b) / 4 / accounts
console.log('accuracy() says', new HyperLogLog(M).accuracy())
let same = Math.abs(new HyperLogLog(M).accuracy() - 0.0325) < 1e-9
for (const accounts of [100, 500, 1000, 5000]) {
  const observed = mean(count, accounts)
  console.log(`${accounts} accounts, mean of four seeds: expected ${accounts}, observed ${Math.round(observed * accounts)}`)
  same &&= accounts === 5000 ? Math.abs(observed - 1) < 0.05 : observed > 0.45 && observed < 0.55
  if (accounts < 5000) same &&= Math.abs(mean(linear, accounts) - 1) < 0.03
}
const large = count(5000, 1, 16384)
console.log(`16384 registers, 5000 accounts: expected 5000, observed ${Math.round(large)}`)
same &&= large > 2250 && large < 2750
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
