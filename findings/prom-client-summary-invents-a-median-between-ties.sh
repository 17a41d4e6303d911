#!/usr/bin/env bash
# A prom-client Summary of 600 zeros and 400 sevens exports the median 2.8: nothing of that size was observed,
# and the true median is 0.
#
# What it is: prom-client exports metrics of a Node process to Prometheus; its Summary keeps its observations in
#   a t-digest (npm tdigest).
# Versions: prom-client 15.1.3, tdigest 0.1.3, @datadog/sketches-js 2.1.1 for comparison (npm).
# What the docs say: prom-client README: a Summary calculates percentiles of observed values. Prometheus, "Metric
#   types": a summary exposes quantiles of observations; the 0.5 quantile is the median.
# Guess: 0, give or take 1 % of the rank; sorted, ranks 1 to 600 of 1,000 are 0.
# Seen: quantile 0.25 is 0, 0.5 is 2.8, 0.59 is 4.06, 0.61 is 4.34, 0.75 is 6.3; the order of the observations
#   changes nothing, nor does their number (6,000 and 4,000). 1,000 different values have a median within 1 %.
#   DDSketch says 0, 0, 0, 7, 7.
# Why: equal values become one centroid, however many they are, and quantiles are interpolated between the middles of
#   centroids. Two values therefore give a straight line from rank 0.3 to rank 0.8. tdigest has an option for
#   discrete values; prom-client creates it without options.
# Wrong number for a user: counts per minute, sizes of batches and whole seconds have few values and many ties;
#   a quiet collection gets a median of almost three events a minute, and an alarm on p50 > 1 fires for an idle one.
# Instead: a Histogram with a bucket for each small value; a DDSketch beside it where quantiles are needed.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund prom-client@15.1.3 tdigest@0.1.3 @datadog/sketches-js@2.1.1 protobufjs@7.5.4 >/dev/null
cat > run.mjs <<'JS'
import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
const { Registry, Summary } = require('prom-client')
const { DDSketch } = require('@datadog/sketches-js')
for (const n of ['prom-client', 'tdigest']) console.log(n, require(`./node_modules/${n}/package.json`).version)
const percentiles = [0.25, 0.5, 0.59, 0.61, 0.75]
async function summary(values) {
  const registers = [new Registry()]
  const metric = new Summary({ name: 'events', help: 'Events a minute.', percentiles, registers })
  const sketch = new DDSketch({ relativeAccuracy: 0.01 })
  for (const value of values) { metric.observe(value); sketch.accept(value) }
  const page = await registers[0].metrics()
  const observed = [...page.matchAll(/quantile="[^"]+"} (\S+)/g)].map((m) => Number(Number(m[1]).toFixed(2)))
  return { observed: observed.join(' '), other: percentiles.map((q) => Math.round(sketch.getValueAtQuantile(q))).join(' ') }
}
const sorted = Array.from({ length: 1000 }, (_, i) => (i < 600 ? 0 : 7))
const mixed = sorted.map((_, i) => sorted[(i * 617) % 1000])
const tenfold = Array.from({ length: 10000 }, (_, i) => mixed[i % 1000])
let same = true
for (const [name, values] of [['sorted', sorted], ['mixed', mixed], ['tenfold', tenfold]]) {
  const { observed, other } = await summary(values)
  console.log(`${name}: quantiles ${percentiles.join(' ')}: expected 0 0 0 7 7; observed ${observed}; DDSketch ${other}`)
  same &&= observed === '0 2.8 4.06 4.34 6.3' && other === '0 0 0 7 7'
}
const distinct = (await summary(sorted.map((_, i) => (i * 617) % 1000 + 1))).observed.split(' ').map(Number)
console.log('1,000 different values: observed', distinct.join(' '))
same &&= percentiles.every((q, i) => Math.abs(distinct[i] - 1000 * q) < 10)
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
