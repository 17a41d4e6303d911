#!/usr/bin/env bash
# A Date given straight as a filter value to hyparquet selects nothing out: every row comes back.
#
# What it is: hyparquet is a Parquet reader for browsers and Node; parquetQuery takes
#   Mongo-like filters. A reader of an hourly table asks for one hour.
# Versions: hyparquet 1.33.0, hyparquet-writer 0.17.0 (writes the sample file), npm.
# What the docs say: the type declarations (types.d.ts, ParquetQueryFilter) list operator
#   objects such as {$eq: ...} and allow any object as the operand; a bare value in place of
#   the operator object is not declared there, yet a bare bigint or string does act as
#   equality, so the same is expected of a bare Date (timestamp columns are read as Date).
# Guess: {hour: new Date(...)} gives the one row of that hour.
# Seen: all rows come back, with no error. A Date has no own keys, so it is taken for an
#   operator object with no operators in it, which every row satisfies. {hour: {$in: [date]}}
#   and a $gte/$lte pair do select the one row.
# Wrong number for a user: "stars gained in the hour 04:00" is the sum of the whole file.
# Instead: always write the operator ({$eq: date}), and check how many rows came back.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund hyparquet@1.33.0 hyparquet-writer@0.17.0 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { parquetQuery } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
for (const p of ['hyparquet', 'hyparquet-writer']) console.log(p, JSON.parse(readFileSync(`node_modules/${p}/package.json`)).version)
const hours = [0, 1, 2, 3, 4, 5].map(h => new Date(Date.UTC(2026, 0, 1, h)))
const gained = [10n, 20n, 30n, 40n, 5n, 60n]
const file = parquetWriteBuffer({ columnData: [
  { name: 'hour', data: hours, type: 'TIMESTAMP' },
  { name: 'gained', data: gained, type: 'INT64' },
  { name: 'repo', data: ['a', 'a', 'a', 'a', 'b', 'b'], type: 'STRING' },
] })
const sum = async filter => { const r = await parquetQuery({ file, filter }); return `${r.length} rows, sum ${r.reduce((s, x) => s + x.gained, 0n)}` }
const at = new Date(Date.UTC(2026, 0, 1, 4))
const bare = await sum({ hour: at })
const eq = await sum({ hour: { $eq: at } })
const inn = await sum({ hour: { $in: [at] } })
const str = await sum({ repo: 'b' })
console.log('bare string  {repo: "b"}       expected 2 rows, sum 65  observed', str)
console.log('operator     {hour: {$eq: d}}  expected 1 rows, sum 5   observed', eq)
console.log('operator     {hour: {$in: [d]}} expected 1 rows, sum 5  observed', inn)
console.log('bare Date    {hour: d}         expected 1 rows, sum 5   observed', bare)
const same = str === '2 rows, sum 65' && eq === '1 rows, sum 5' && inn === '1 rows, sum 5' && bare === '6 rows, sum 165'
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
