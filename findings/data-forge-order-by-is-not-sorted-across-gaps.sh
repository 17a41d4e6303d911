#!/usr/bin/env bash
# data-forge orderBy on a column with empty cells returns the numbers themselves out of order.
#
# What it is: data-forge, a pandas-like library for JavaScript; an hourly CSV with two
#   unobserved hours, read with fromCSV(...).parseInts('stars').
# Versions: data-forge 1.10.5 (npm).
# What the docs say: orderBy sorts a series or dataframe by a value, ascending;
#   orderByDescending the other way. Its sum, min, max and average leave missing cells out.
# Guess: 0, 10, 30 in order, with the missing hours together at one end.
# Seen: ascending gives 10 after 30, and the "busiest hour" taken from the end or head of the
#   sorted table is not the busiest. A missing cell (undefined) is neither less nor more than
#   any number, so it is taken as equal to all of them and the sort loses its thread. The
#   same rows without the missing ones are sorted rightly; max() is right too.
# Wrong number for a user: top-ten lists and medians taken by position are wrong, and on a
#   longer table it does not show.
# Instead: .where(row => row.stars !== undefined) before orderBy.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund data-forge@1.10.5 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import df from 'data-forge'
console.log('data-forge', JSON.parse(readFileSync('node_modules/data-forge/package.json')).version)
const table = df.fromCSV('hour,stars\n2026-01-01T00:00:00Z,10\n2026-01-01T01:00:00Z,\n2026-01-01T02:00:00Z,0\n2026-01-01T03:00:00Z,30\n2026-01-01T04:00:00Z,\n').parseInts('stars')
const list = d => d.toArray().map(r => r.stars === undefined ? '-' : r.stars).join(' ')
const numbers = s => s.split(' ').filter(x => x !== '-').join(' ')
const up = list(table.orderBy(r => r.stars)), down = list(table.orderByDescending(r => r.stars))
const clean = list(table.where(r => r.stars !== undefined).orderBy(r => r.stars))
console.log('orderBy             expected 0 10 30 (gaps at one end) observed', up)
console.log('orderByDescending   expected 30 10 0 (gaps at one end) observed', down)
console.log('orderBy, gaps out   expected 0 10 30                   observed', clean)
console.log('max                 expected 30                        observed', table.getSeries('stars').max())
const same = numbers(up) !== '0 10 30' && clean === '0 10 30' && table.getSeries('stars').max() === 30
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
