#!/usr/bin/env bash
# csv-simple-parser makes one more row of the line break at the end of a file: of 24 hours and a header it gives 25 rows, the last
# one with only the first column, empty.
#
# What it is: a small and fast parser of CSV for JavaScript, by the author of many such libraries.
# Versions: csv-simple-parser 2.0.2, @vanillaes/csv 3.0.8 for comparison (npm); Python's csv.
# What the spec says: RFC 4180, 2: rule 1: each record is on a line of its own, ended by a line break; rule 2: the last record may or
#   may not have one. The line break ends a record and begins none. Rule 4: each line has the same number of fields.
# What the docs say: nothing of it; all examples in the README end without a line break. There is no option to leave out empty rows.
# Guess: 24 rows for 24 hours, with and without a line break at the end, as Python's csv gives.
# Seen: 24 without, 25 with one (LF and CR LF). The 25th is {hour: ""} with header and {hour: null} with infer, without the other
#   columns; as an array it is ["", null]. So r.n is undefined and r.n + sum is NaN.
# Why: after each line break a new row is begun; at the end of the text it is added though there is nothing in it.
# Wrong for a user: files end in a line break as a rule, so counts and means of rows are off by one, and the newest hour of a list
#   is an unknown one; sums become NaN.
# Instead: parse(text.replace(/\r?\n$/, ''), ...), or drop the last row if it has no second column.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null; npm i --silent --no-audit --no-fund --ignore-scripts csv-simple-parser@2.0.2 @vanillaes/csv@3.0.8 >/dev/null
python3 - <<'PY'
import csv
for name, end in (('lf', '\n'), ('crlf', '\r\n')):
    with open(name, 'w', newline='') as f:
        csv.writer(f, lineterminator=end).writerows([['hour', 'n']] + [[f'2026-11-01T{h:02}:00:00Z', h] for h in range(24)])
    print(name, 'Python reads', len(list(csv.DictReader(open(name, newline='')))), 'rows')
PY
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import parse from 'csv-simple-parser'; import { parse as other } from '@vanillaes/csv'
const version = p => p + ' ' + JSON.parse(readFileSync(`node_modules/${p}/package.json`)).version
console.log(['csv-simple-parser', '@vanillaes/csv'].map(version).join(', '))
let same = true
for (const name of ['lf', 'crlf']) {
  const csv = readFileSync(name, 'utf8')
  const rows = parse(csv, { header: true, infer: true }), without = parse(csv.trimEnd(), { header: true, infer: true })
  const last = [parse(csv, { header: true }), rows, parse(csv)].map(r => JSON.stringify(r.at(-1)))
  const sum = rows.reduce((s, r) => s + r.n, 0)
  console.log(name.padEnd(4), 'rows', rows.length, 'without the line break', without.length, '@vanillaes/csv', other(csv).length - 1, ' last', ...last, ' sum', sum)
  same &&= rows.length === 25 && without.length === 24 && other(csv).length === 25 && last.join() === '{"hour":""},{"hour":null},["",null]' && Number.isNaN(sum)
}
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
