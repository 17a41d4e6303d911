#!/usr/bin/env bash
# ascii-histogram draws a count of 0 as a bar of full width, as long as that of the largest value, where its README shows an empty line.
#
# What it is: horizontal bars in a terminal for an object of names and numbers (npm).
# Versions: ascii-histogram 1.2.1; thistogram 2.0.0 for comparison (npm).
# What the docs say: the first picture of the README: "koalas | (nothing) | 0" below bars in the proportion of their numbers.
# Guess: for { stars: 6, likes: 15, forks: 0 } bars of 24, 60 and 0 signs.
# Seen: 24, 60 and 60. All of a quiet hour's numbers, 0 and 0, are full bars, too. With an option map, which only changes the text at
#   the end, it is the same. A value of 1 among thousands has no bar: it is shorter than a 0.
# Why: the share is (value / maximum) || 1, which is meant for 0 / 0 and takes every 0, too.
# Wrong for a user: an hour without an event looks like the busiest, and the row under the eye of whoever looks for silence is the
#   most prominent one; the number at its end says 0.
# Instead: thistogram, or the bar by hand: '#'.repeat(Math.round(60 * n / max)).
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json && npm i --silent --no-audit --no-fund --ignore-scripts ascii-histogram@1.2.1 thistogram@2.0.0 >/dev/null
cat > run.mjs <<'JS'
import fs from 'node:fs'
import draw from 'ascii-histogram'
import { histogram } from 'thistogram'
for (const n of ['ascii-histogram', 'thistogram']) console.log(n, JSON.parse(fs.readFileSync(`node_modules/${n}/package.json`)).version)
const counts = { stars: 6, likes: 15, forks: 0 }
const bars = (data) => Object.fromEntries(draw(data).split('\n').filter(l => l.includes('|')).map(l => [l.split('|')[0].trim(), (l.match(/#/g) ?? []).length]))
console.log('expected', JSON.stringify({ stars: 24, likes: 60, forks: 0 }), 'observed', JSON.stringify(bars(counts)))
console.log(draw(counts))
const other = histogram(Object.entries(counts), { width: 60, min: 0 })
console.log(other)
const quiet = bars({ a: 0, b: 0 }), small = bars({ a: 1, b: 5000, c: 0 })
console.log('0 and 0:', JSON.stringify(quiet), '  1, 5000 and 0:', JSON.stringify(small))
const of = (name) => (other.split('\n').find(l => l.startsWith(name)).match(/█/g) ?? []).length
const seen = bars(counts)
const same = seen.stars === 24 && seen.likes === 60 && seen.forks === 60 && quiet.a === 60 && small.c === 60 && small.a === 0 && of('forks') === 0 && of('likes') > of('stars')
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
