#!/usr/bin/env bash
# A week of hours drawn with 12 points by downsample's LTOB can never show a peak in hours 1 to
# 13 or in the last 13: the points of the first and the last bucket are not looked at.
#
# What it is: downsample, npm, thins a time series for a chart; LTOB (largest triangle one
#   bucket) keeps from each bucket the point that stands out most from its neighbours.
# Versions: downsample 1.4.0; @d3fc/d3fc-sample 5.0.2's LTOB to compare with, via esbuild 0.25.5.
# What the docs say: the README: it "performs only slightly worse than LTTB"; by the thesis it is
#   built on (Steinarsson 2013), every point is ranked and the one of the highest rank stands
#   for its bucket; only the first and the last point are kept as such.
# Guess: one hour of 500 stars among hours of 10 to 12 is kept wherever it is.
# Seen: the series is cut into as many buckets as points are asked for, and the whole first and
#   last bucket stand for the one end point: of 166 places for the peak 26 are lost, 13 at
#   each end. LTTB of the same package and LTOB of d3fc lose none.
# Wrong claim for a user: a chart of the week that ends quietly, while the busiest hour of the
#   week was three hours ago; the fewer points are asked for, the longer the blind ends.
# Instead: LTTB of the same package.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null
npm i -s --no-audit --no-fund --ignore-scripts downsample@1.4.0 @d3fc/d3fc-sample@5.0.2 esbuild@0.25.5
cat > run.mjs <<'JS'
import { LTOB, LTTB } from 'downsample'
import { version } from 'downsample/package.json'
import { largestTriangleOneBucket as one } from '@d3fc/d3fc-sample'
console.log('downsample', version)
const week = peak => Array.from({ length: 168 }, (_, i) => ({ x: i, y: i === peak ? 500 : 10 + i % 3 }))
function lost (f) {
  const at = []
  for (let k = 1; k <= 166; k++) if (!f(week(k)).some(p => p.y === 500)) at.push(k)
  return at
}
const ltob = lost(s => LTOB(s, 12)), lttb = lost(s => LTTB(s, 12)), other = lost(s => one().x(d => d.x).y(d => d.y).bucketSize(17)(s))
console.log('points asked for 12, given', LTOB(week(165), 12).length)
console.log('LTOB: places where the peak is lost: expected none, observed', ltob.join(' '))
console.log('LTTB:', lttb.length, ' LTOB of d3fc:', other.length)
console.log('peak three hours ago: LTOB max', Math.max(...LTOB(week(165), 12).map(p => p.y)), ' LTTB max', Math.max(...LTTB(week(165), 12).map(p => p.y)))
const want = [...Array.from({ length: 13 }, (_, i) => i + 1), ...Array.from({ length: 13 }, (_, i) => 154 + i)]
const same = ltob.join() === want.join() && lttb.length === 0 && other.length === 0
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
npx esbuild run.mjs --bundle --platform=node --log-level=error --outfile=run.js
node run.js
