#!/usr/bin/env bash
# In jsonquery the min, average and prod of a field take null, and also an object that lacks the field, for nought: the smallest of 10, null
# and 30 is 0 and their average 13.3, while filter(.stars < 5) on the same rows finds none.
#
# What it is: @jsonquerylang/jsonquery (npm), a query language for JSON with a library in JavaScript, and ports.
# Versions: @jsonquerylang/jsonquery 5.1.1, mingo 7.2.7 (npm); the port for Python, jsonquerylang 2.1.0 (PyPI), as a second reader.
# What the docs say: reference of functions: min returns the minimum of the values in an array, average their average, filter with
#   < compares values; get returns null where a property does not exist. Nothing is said of null in sums. RFC 8259: null
#   is a value other than any number; SQL and MongoDB leave it out of both.
# Guess: 10 and 20, or an error.
# Seen: map(.stars) | min() gives 0, average() 13.33 and, with an hour without the field, 10; of null and -5 the max is 0.
#   filter(.stars < 5) and filter(.stars == 0) find no hour, so that the minimum is the value of no row. The Python port stops
#   with a TypeError; mingo's $min and $avg give 10 and 20.
# Wrong number for a user: every table with one unobserved hour has had an hour without any stars.
# Instead: filter first: filter(.stars != null) | map(.stars) | min().
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund @jsonquerylang/jsonquery@5.1.1 mingo@7.2.7 >/dev/null
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install jsonquerylang==2.1.0
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { jsonquery } from '@jsonquerylang/jsonquery'
import { aggregate } from 'mingo'
console.log('@jsonquerylang/jsonquery', JSON.parse(readFileSync('node_modules/@jsonquerylang/jsonquery/package.json')).version)
const rows = [{ h: '00', stars: 10 }, { h: '01', stars: null }, { h: '02', stars: 30 }], lacks = [...rows, { h: '03' }]
const q = (text, data = rows) => JSON.stringify(jsonquery(data, text))
const port = text => spawnSync('v/bin/python', ['-c', 'import sys, json; from jsonquerylang import jsonquery as q; print(q(json.loads(sys.argv[1]), sys.argv[2]))', JSON.stringify(rows), text], { encoding: 'utf8' })
const min = q('map(.stars) | min()'), avg = q('map(.stars) | average()'), lack = q('map(.stars) | average()', lacks)
console.log('min      expected 10, observed', min)
console.log('average  expected 20, observed', avg, 'and with an hour that lacks the field', lack)
console.log('max of null and -5 expected -5, observed', q('max()', [null, -5]))
const below = q('filter(.stars < 5)'), nought = q('filter(.stars == 0)'), first = q('filter(.stars != null) | map(.stars) | min()')
console.log('filter(.stars < 5)', below, 'filter(.stars == 0)', nought, 'min after filter', first)
const p = port('map(.stars) | min()'), ok = port('map(.h) | size()')
console.log('Python port, min:', p.stdout.trim() || p.stderr.trim().split('\n').at(-1))
const m = aggregate(lacks, [{ $group: { _id: null, min: { $min: '$stars' }, avg: { $avg: '$stars' } } }])[0]
console.log('mingo    min', m.min, 'average', m.avg)
const same = min === '0' && avg.startsWith('13.33') && lack === '10' && q('max()', [null, -5]) === '0' && below === '[]' && nought === '[]' && first === '10' &&
  p.status !== 0 && /TypeError/.test(p.stderr) && ok.stdout.trim() === '3' && m.min === 10 && m.avg === 20
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
