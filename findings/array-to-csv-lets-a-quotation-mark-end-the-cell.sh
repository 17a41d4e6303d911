#!/usr/bin/env bash
# array-to-csv does not double the quotation marks in a cell and does not quote a line break: one
# such text shifts the counts of its row, or makes two rows of it.
#
# What it is: an npm function that converts a two-dimensional array to CSV.
# Versions: array-to-csv 1.0.1; csv-parse 5.6.0 (strict and relaxed) and Python's csv to read.
# What the spec says: RFC 4180 section 2, rules 6 and 7: fields with line breaks, quotes or commas are
#   enclosed in quotes, and a quote inside is written as two.
# Guess: what is read back is what was written.
# Seen: 'the "best", 7' becomes "the "best", 7": a strict reader refuses the file; Python's csv
#   reads 'the best"' and ' 7"' and so one cell too many, with the count one column further on. A
#   text with a line break is written bare and makes two rows.
# Wrong number for a user: in the column of counts stands the rest of a title; a table of two
#   repositories has three rows.
# Instead: csv-stringify, or String(x).replace(/"/g, '""') between quotes.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null && npm i -s --no-audit --no-fund --ignore-scripts array-to-csv@1.0.1 csv-parse@5.6.0
cat > run.js <<'JS'
const fs = require('fs'), { execFileSync } = require('child_process'), toCSV = require('array-to-csv'), { parse } = require('csv-parse/sync')
console.log('array-to-csv', require('array-to-csv/package.json').version)
const python = t => JSON.parse(execFileSync('python3', ['-c', 'import csv, io, json, sys; print(json.dumps(list(csv.reader(io.StringIO(sys.stdin.read(), newline="")))))'], { input: t }))
const strict = t => { try { return JSON.stringify(parse(t)) } catch (e) { return e.code } }
const cases = { comma: 'best, 7', quote: 'the "best", 7', 'line break': 'two\nlines' }
const seen = {}
for (const [name, title] of Object.entries(cases)) {
  const text = toCSV([[title, '100']])
  const got = python(text)
  seen[name] = JSON.stringify(got) === JSON.stringify([[title, '100']])
  console.log(name.padEnd(10), JSON.stringify(text), '\n  expected', JSON.stringify([[title, '100']]), '\n  observed', JSON.stringify(got), ' csv-parse', strict(text))
}
const broken = python(toCSV([[cases.quote, '100']]))
const same = seen.comma && !seen.quote && !seen['line break'] && broken[0].length === 3 && broken[0][1] !== '100' && python(toCSV([[cases['line break'], '100']])).length === 2
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.js
