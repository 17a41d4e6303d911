#!/usr/bin/env bash
# parquetjs-lite rounds a BigInt above 2^53 when it writes the page, but writes the exact value
# into the column statistics: the file's own maximum is a value the file does not contain.
#
# What it is: parquetjs-lite is a Parquet writer for Node; DuckDB reads the file.
# Versions: parquetjs-lite 0.8.7 (npm); duckdb 2.0.1 (PyPI) as the reader (pyarrow 26.0.1 decodes the same).
# What the docs say: the README type table offers INT64, stored as INT64; the Parquet format's
#   Statistics struct (parquet.thrift) says min_value/max_value bound the column's values.
# Guess: a BigInt handed to an INT64 column is stored whole (the caller did avoid JS numbers),
#   or the writer refuses it.
# Seen: 9007199254740993n is stored as 9007199254740992 without an error, while the footer
#   says max 9007199254740993. Readers that trust the footer and readers that decode the page
#   disagree about the same file.
# Wrong number for a user: the maximum read from metadata is not the maximum of the data, and
#   a lookup of the exact value finds nothing although the footer promises it.
# Instead: write such columns with a writer that keeps 64 bits (@dsnp/parquetjs and
#   hyparquet-writer did), and compare decoded values with the footer once after writing.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund parquetjs-lite@0.8.7 >/dev/null
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install duckdb==2.0.1
cat > w.cjs <<'JS'
const p = require('parquetjs-lite')
;(async () => {
  const s = new p.ParquetSchema({ n: { type: 'INT64', optional: true } })
  const w = await p.ParquetWriter.openFile(s, 'x.parquet')
  for (const n of [1n, null, 9007199254740993n]) await w.appendRow({ n })
  await w.close()
  console.log('parquetjs-lite', require('parquetjs-lite/package.json').version)
})()
JS
node w.cjs
cat > r.py <<'PY'
import duckdb
print('duckdb', duckdb.__version__)
one = lambda q: duckdb.sql(q).fetchall()[0][0]
foot = one("select coalesce(stats_max_value, stats_max) from parquet_metadata('x.parquet')")
page = one("select list(n) from 'x.parquet'")
hits = one("select count(*) from 'x.parquet' where n = 9007199254740993")
print('written     [1, None, 9007199254740993]')
print('decoded     expected [1, None, 9007199254740993] observed', page)
print('footer max  expected to be the largest decoded value, observed', foot)
print('rows where n = footer max: expected 1 observed', hits)
same = str(foot) == '9007199254740993' and page == [1, None, 9007199254740992] and hits == 0
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python r.py
