#!/usr/bin/env bash
# @vanillaes/csv with types reads 2026-11-01T12:00:00.500Z as 2026, labeler.example as NaN and 1e-7 as 1.
#
# What it is: a parser and writer of CSV for JavaScript that calls itself compliant with RFC 4180.
# Versions: @vanillaes/csv 3.0.8; csv-simple-parser 2.0.2 with infer for comparison (npm).
# What the docs say: the option typed: infer types, false unless it is set. RFC 4180 has only texts. ECMA-262, 7.1.4.1.1, and the
#   JSON that JavaScript writes: 1e-7 is one ten-millionth, and JSON.stringify writes numbers below 0.000001 so.
# Guess: numbers become numbers, true and false booleans, and all else stays text.
# Seen: 2026-11-01T12:00:00Z stays text, but with .500 it becomes 2026; labeler.example, tools.ozone.report and "No. 5" become NaN;
#   10.0.0.1 becomes 10, "5.5 of 6" 5.5. 1e-7 becomes 1, 2E6 2, 1e+21 1; 1.5e3 is right. No error is raised.
# Why: a text counts as a number with a point as soon as any character stands before a point anywhere in it, and parseFloat takes
#   what it can; all that is finite without a point goes to parseInt, which stops at the e.
# Wrong for a user: a column of times with milliseconds is a column of years, and only those rows whose fraction is not left out;
#   names of hosts and schemas are lost; a share of one in ten million is a hundred percent.
# Instead: leave typed out and convert the columns you know, for instance in the function that is the third argument.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @vanillaes/csv@3.0.8 csv-simple-parser@2.0.2 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { parse } from '@vanillaes/csv'; import simple from 'csv-simple-parser'
const version = p => p + ' ' + JSON.parse(readFileSync(`node_modules/${p}/package.json`)).version
console.log(['@vanillaes/csv', 'csv-simple-parser'].map(version).join(', '))
const stated = {
  '2026-11-01T12:00:00Z': '2026-11-01T12:00:00Z', '2026-11-01T12:00:00.500Z': 2026, 'labeler.example': NaN, 'tools.ozone.report': NaN,
  'No. 5': NaN, '10.0.0.1': 10, '5.5 of 6': 5.5, '1e-7': 1, '2E6': 2, '1e+21': 1, '1.5e3': 1500, '0.25': 0.25, 7: 7, true: true
}
const cells = Object.keys(stated).filter(c => c !== '7').concat('7')
const csv = cells.map(c => c + ',x').join('\n') + '\n'
const got = parse(csv, { typed: true }).map(r => r[0])
const other = simple(csv, { infer: true }).map(r => r[0])
cells.forEach((c, i) => console.log(c.padEnd(25), 'typed:', String(got[i]).padEnd(21), 'csv-simple-parser:', other[i]))
const number = c => Number.isNaN(Number(c)) ? c : Number(c)
const right = c => c === 'true' ? true : number(c)
const same = cells.every((c, i) => Object.is(got[i], stated[c]) && other[i] === right(c))
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
