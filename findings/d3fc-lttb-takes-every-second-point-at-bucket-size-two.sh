#!/usr/bin/env bash
# Halving a series with d3fc's largest triangle sampler keeps each odd point and drops each
# even one, so half of all peaks vanish: the triangle ends in the bucket's own average.
#
# What it is: d3fc's sampler for charts, largestTriangleThreeBucket, named after the LTTB
#   algorithm, which exists to keep the peaks of a long series.
# Versions: @d3fc/d3fc-sample 5.0.2 (bundled with esbuild 0.25.5); downsample 1.4.0 and a few
#   lines of our own to compare with (all npm).
# What the docs say: the README: the bucket's point is chosen between the point selected before
#   and "a temporary point which is the average" of the last of the three buckets, that is of
#   the next one, as in Steinarsson's thesis, which it names as its source.
# Guess: a day with one busy hour, in buckets of two, keeps that hour.
# Seen: the average is that of the bucket a point is chosen from. With two points in a bucket
#   both triangles then have the same area, always, the first point wins, and the result is
#   plainly every second point. One peak in each place in turn: 48 of 96 are lost, downsample
#   and the definition lose none. (With larger buckets a lone peak is kept.)
# Wrong claim for a user: no burst of stars at 06:00 where there was one of 500, while a burst
#   an hour earlier would have been drawn.
# Instead: downsample's LTTB, or largestTriangleOneBucket of the same package.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null
npm i -s --no-audit --no-fund --ignore-scripts @d3fc/d3fc-sample@5.0.2 downsample@1.4.0 esbuild@0.25.5
cat > run.mjs <<'JS'
import { largestTriangleThreeBucket as three, largestTriangleOneBucket as one } from '@d3fc/d3fc-sample'
import { version } from '@d3fc/d3fc-sample/package.json'
import { LTTB } from 'downsample'
console.log('@d3fc/d3fc-sample', version)
const series = peak => Array.from({ length: 98 }, (_, i) => ({ x: i, y: i === peak ? 500 : 10 + [0, 1, 2, 1][i % 4] }))
const d3fc = (f, s) => f().x(d => d.x).y(d => d.y).bucketSize(2)(s)
const mean = (b, k) => b.reduce((t, p) => t + p[k], 0) / b.length
function definition (s) {                        // buckets of two, average of the next bucket
  const b = [[s[0]]]; for (let i = 1; i < s.length - 1; i += 2) b.push(s.slice(i, i + 2))
  b.push([s[s.length - 1]]); const out = [s[0]]
  for (let i = 1; i < b.length - 1; i++) {
    const a = out[i - 1], cx = mean(b[i + 1], 'x'), cy = mean(b[i + 1], 'y')
    const area = p => Math.abs((a.x - cx) * (p.y - a.y) - (a.x - p.x) * (cy - a.y))
    out.push(b[i].reduce((best, p) => area(p) > area(best) ? p : best))
  }
  return [...out, s[s.length - 1]]
}
const lost = f => { let n = 0; for (let k = 1; k <= 96; k++) if (!f(series(k)).some(p => p.y === 500)) n++; return n }
const seen = { d3fc: lost(s => d3fc(three, s)), oneBucket: lost(s => d3fc(one, s)), downsample: lost(s => LTTB(s, 50)), definition: lost(definition) }
console.log('of 96 peaks lost: expected 0, observed', JSON.stringify(seen))
const hours = d3fc(three, series(6)).slice(0, 6).map(p => p.x), want = definition(series(6)).slice(0, 6).map(p => p.x)
console.log('peak at 6: hours kept, expected', JSON.stringify(want) + ', observed', JSON.stringify(hours))
const same = seen.d3fc === 48 && seen.downsample === 0 && seen.definition === 0 && seen.oneBucket === 0 && hours.join() === '0,1,3,5,7,9' && want.includes(6)
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
npx esbuild run.mjs --bundle --platform=node --log-level=error --outfile=run.js
node run.js
