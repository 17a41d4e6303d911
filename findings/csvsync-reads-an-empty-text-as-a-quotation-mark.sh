#!/usr/bin/env bash
# csvsync reads the empty quoted cell "" as one quotation mark, also from a file that csvsync itself
# has written.
#
# What it is: an npm reader and writer of CSV without streams.
# Versions: csvsync 1.3.3; csv-parse 5.6.0 (npm) to compare with.
# What the spec says: RFC 4180 section 2, rules 5 to 7: a field may be enclosed in double quotes; a
#   quote inside is written twice. So "" is the empty field and """" is one quotation mark.
# Guess: "" is the empty text, like nothing between two commas.
# Seen: a cell of one character: ". It cannot be told from a real quotation mark: with quoteAll
#   csvsync writes '' and '"' as "" and """", and reads both as ". Not quoted, an empty cell is
#   right, as are quotes inside of texts.
# Wrong claim for a user: exporters that quote everything (spreadsheets, R) mark what is empty with
#   "": a column of notes seems filled, Number('"') is NaN where Number('') was 0, a missing hour
#   has a value.
# Instead: csv-parse/sync.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null && npm i -s --no-audit --no-fund --ignore-scripts csvsync@1.3.3 csv-parse@5.6.0
cat > run.js <<'JS'
const csvsync = require('csvsync'), { parse } = require('csv-parse/sync')
console.log('csvsync', require('csvsync/package.json').version)
const texts = ['hour,note,stars\n2026-01-01T00:00:00Z,"",5\n', '"","a ""b"" c",""\n', 'hour,note,stars\n2026-01-01T00:00:00Z,,5\n']
const seen = texts.map(t => {
  const got = JSON.stringify(csvsync.parse(t)), want = JSON.stringify(parse(t))
  console.log(JSON.stringify(t), '\n  expected', want, '\n  observed', got)
  return [got === want, got]
})
const rows = [['', 'empty'], ['"', 'a quotation mark']], back = csvsync.parse(csvsync.stringify(rows, { quoteAll: true }))
console.log('own round trip: expected', JSON.stringify(rows), 'observed', JSON.stringify(back))
const same = seen.map(s => s[0]).join() === 'false,false,true' && back[0][0] === '"' && back[1][0] === '"' && seen[0][1].includes('"\\""')
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.js
