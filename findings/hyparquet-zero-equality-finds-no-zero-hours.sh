#!/usr/bin/env bash
# On an INT64 count column hyparquet's range filters accept plain numbers, but equality with 0
# finds no hour, and "not 0" keeps the zero hours, all without a word.
#
# What it is: hyparquet reads Parquet in JavaScript; parquetQuery filters rows.
# Versions: hyparquet 1.33.0, hyparquet-writer 0.17.0 (writes the sample file), npm.
# What the docs say: types.d.ts gives every operator the same operand type (number and bigint
#   both allowed) and says filterStrict, default true, makes "filtering use strict equality";
#   it does not say that on INT64 a number then never equals anything.
# Guess: since {$gte: 0} and {$lt: 1} work with numbers on the column, {$eq: 0} finds the
#   zero hours too, and {$ne: 0} leaves them out.
# Seen: {$gte: 0, $lt: 1} finds 2 zero hours; {$eq: 0} finds 0; {$in: [0, 1]} finds 0;
#   {$ne: 0} and {$nin: [0]} return the zero hours (and the null ones).
# Wrong number for a user: "hours observed with no star at all: 0", and "hours with some
#   activity" counts quiet and unobserved hours as active.
# Instead: write bigints (0n) for INT64 columns, or pass filterStrict: false; add a
#   {$ne: null} when unobserved hours are not wanted.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund hyparquet@1.33.0 hyparquet-writer@0.17.0 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { parquetQuery } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
for (const p of ['hyparquet', 'hyparquet-writer']) console.log(p, JSON.parse(readFileSync(`node_modules/${p}/package.json`)).version)
const file = parquetWriteBuffer({ columnData: [
  { name: 'stars', data: [3n, 0n, null, 7n, 0n, 1n], type: 'INT64' },
] })
const n = async (f, more) => (await parquetQuery({ file, filter: { stars: f }, ...more })).length
const rows = [
  ['{$gte: 0, $lt: 1}', 2, 2, await n({ $gte: 0, $lt: 1 })],
  ['{$eq: 0}', 2, 0, await n({ $eq: 0 })],
  ['{$in: [0, 1]}', 3, 0, await n({ $in: [0, 1] })],
  ['{$ne: 0, $gte: 0}', 3, 5, await n({ $ne: 0, $gte: 0 })],
  ['{$eq: 0n}', 2, 2, await n({ $eq: 0n })],
  ['{$eq: 0} filterStrict:false', 2, 2, await n({ $eq: 0 }, { filterStrict: false })],
]
let same = true
for (const [f, want, seen, got] of rows) { console.log(f.padEnd(30), 'expected', want, 'observed', got); same &&= got === seen }
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
