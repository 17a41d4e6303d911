#!/usr/bin/env bash
# arquero's toCSV writes one timestamp column in two shapes: midnight hours as "2026-01-01",
# all others as "2026-01-01T01:00Z"; a reader that settles on one shape keeps only midnights.
#
# What it is: arquero, tables for JavaScript: read an hourly CSV, filter it, save it again.
#   polars (Python) reads the saved file.
# Versions: arquero 8.0.1 (npm); polars 2.1.0 (PyPI).
# What the docs say: arquero's CSV reader parses ISO date text to dates by default and its
#   writer writes them as ISO text again. RFC 3339 section 5.6: a date-time always has its
#   time part; Table Schema "datetime" default: YYYY-MM-DDThh:mm:ssZ.
# Guess: the saved column looks like the one read: ...T00:00:00Z on every row.
# Seen: 2 of 26 rows (the midnights) are dates without time, the rest have no seconds. polars
#   leaves the column as text (the input file is read as times), and str.to_datetime with
#   strict=False takes its format from the first row: 2 times and 24 nulls.
# Wrong number for a user: all counts but those of midnight drop out of any grouping by time.
# Instead: give the writer a format for the column:
#   toCSV({ format: { hour: d => d.toISOString() } }).
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund arquero@8.0.1 >/dev/null
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install polars==2.1.0
cat > run.mjs <<'JS'
import { readFileSync, writeFileSync } from 'node:fs'
import * as aq from 'arquero'
console.log('arquero', JSON.parse(readFileSync('node_modules/arquero/package.json')).version)
const rows = [...Array(26).keys()].map(h => `${new Date(Date.UTC(2026, 0, 1, h)).toISOString().slice(0, 19)}Z,1`)
writeFileSync('in.csv', ['hour,stars', ...rows, ''].join('\n'))
const t = aq.fromCSV(readFileSync('in.csv', 'utf8'))
writeFileSync('out.csv', t.toCSV())
writeFileSync('iso.csv', t.toCSV({ format: { hour: d => d.toISOString() } }))
console.log('first rows read   ', readFileSync('in.csv', 'utf8').split('\n').slice(1, 3).join(' '))
console.log('first rows written', readFileSync('out.csv', 'utf8').split('\n').slice(1, 3).join(' '))
JS
TZ=UTC node run.mjs
cat > run.py <<'PY'
import polars as pl
print('polars', pl.__version__)
def look(f):
    c = pl.read_csv(f, try_parse_dates=True)['hour']
    if c.dtype != pl.String: return 'time', len(c) - c.null_count()
    c = c.str.to_datetime(strict=False); return 'text', len(c) - c.null_count()
got = {f: look(f) for f in ('in.csv', 'out.csv', 'iso.csv')}
for f, v in got.items(): print(f.ljust(8), "expected ('time', 26) observed", v)
same = got == {'in.csv': ('time', 26), 'out.csv': ('text', 2), 'iso.csv': ('time', 26)}
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
