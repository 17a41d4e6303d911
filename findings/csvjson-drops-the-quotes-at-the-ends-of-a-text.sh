#!/usr/bin/env bash
# csvjson-csv2json drops a quotation mark that stands first or last in a text: "hi" becomes hi, and a "b" becomes a "b.
#
# What it is: turns CSV into JSON; by its README the program behind the web page csvjson.com.
# Versions: csvjson-csv2json 5.0.6, csv-simple-parser 2.0.2 for comparison (npm); Python's csv wrote the table.
# What the spec says: RFC 4180, 2, rule 7: in a quoted field a quotation mark is written twice. So """hi""" is the text "hi" with
#   its marks. The README promises to convert reliably and names no limits; its example relies on it that blanks are trimmed.
# Guess: what Python's csv module wrote comes back, text for text.
# Seen: of the texts "hi", "hi" said, and said "hi" the outer marks are gone, only inner ones stay; a text that is one mark is
#   empty; 5" (inches) becomes 5, and with parseNumbers the number 5. Headers are cut likewise.
# Why: the parser below already takes the quotes off; then the result is trimmed, and /(^")|("$)/ removes one more at each end.
# Wrong for a user: a quoted post or a name is no quotation any more; texts end inside an open quotation, which breaks what is built
#   from them; a length in inches counts as a number.
# Instead: csv-simple-parser, papaparse or csv-parse.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null; npm i --silent --no-audit --no-fund --ignore-scripts csvjson-csv2json@5.0.6 csv-simple-parser@2.0.2 >/dev/null
python3 - <<'PY'
import csv, json
texts = ['plain', 'a, b', 'a "b" c', '"hi"', '"hi" said', 'said "hi"', '"', '5"', ' x ', 'end']
json.dump(texts, open('texts.json', 'w'))
with open('table.csv', 'w', newline='') as f: csv.writer(f).writerows([['n', 'text']] + [[i, t] for i, t in enumerate(texts)])
print([r['text'] for r in csv.DictReader(open('table.csv', newline=''))] == texts and 'Python reads back what it wrote')
PY
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import csv2json from 'csvjson-csv2json'; import parse from 'csv-simple-parser'
const version = p => p + ' ' + JSON.parse(readFileSync(`node_modules/${p}/package.json`)).version
console.log(['csvjson-csv2json', 'csv-simple-parser'].map(version).join(', '))
const csv = readFileSync('table.csv', 'utf8'), texts = JSON.parse(readFileSync('texts.json'))
const got = csv2json(csv).map(r => r.text), numbers = csv2json(csv, { parseNumbers: true }).map(r => r.text)
const other = parse(csv.trimEnd(), { header: true }).map(r => r.text)
texts.forEach((t, i) => console.log(JSON.stringify(t).padEnd(18), 'csvjson', JSON.stringify(got[i]).padEnd(14), 'parseNumbers', JSON.stringify(numbers[i]).padEnd(14), 'other', JSON.stringify(other[i])))
const same = got.join('|') === 'plain|a, b|a "b" c|hi|hi" said|said "hi||5|x|end' && numbers[7] === 5 && other.join('|') === texts.join('|')
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
