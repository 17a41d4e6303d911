#!/usr/bin/env bash
# toArray() of an Arrow vector gives counts of other rows in the places of nulls when the table
# was read from Parquet, so a sum over it is too high.
#
# What it is: parquet-wasm decodes Parquet to Arrow in JavaScript; apache-arrow is Arrow's own
#   JavaScript library, and Vector.toArray() the usual way to a typed array.
# Versions: parquet-wasm 0.8.0, apache-arrow 21.2.0; hyparquet-writer 0.17.0 writes the file (npm).
# What the docs say: apache-arrow's API pages call toArray() "a JavaScript Array or TypedArray of
#   the Vector's elements", without a word on nulls. The columnar format lets the memory behind a
#   null hold any value, which a consumer must mask with the validity bitmap.
# Guess: a null is 0 or NaN in the typed array, as in vectorFromArray([1, null, 3]).toArray().
# Seen: the column 10, null, 30, null, null, 60, 70, null gives 10,30,30,70,0,60,70,0: two of the
#   nulls are numbers of later rows. nullCount is 4, and iterating the same vector gives nulls.
# Wrong number for a user: the sum is 270 in place of 170, with plausible counts in hours that
#   nobody observed; no value looks out of place.
# Instead: iterate the vector, or use get(i) or isValid(i); publishers: leave out rows without a
#   value, so that no column needs nulls.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund parquet-wasm@0.8.0 apache-arrow@21.2.0 hyparquet-writer@0.17.0 >/dev/null
cat > r.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { readParquet } from 'parquet-wasm/node'
import { tableFromIPC } from 'apache-arrow'
for (const name of ['parquet-wasm', 'apache-arrow', 'hyparquet-writer'])
  console.log(name, JSON.parse(readFileSync(`node_modules/${name}/package.json`)).version)
const data = [10n, null, 30n, null, null, 60n, 70n, null]
const file = new Uint8Array(parquetWriteBuffer({ columnData: [{ name: 'n', data, type: 'INT64', nullable: true }] }))
const vector = tableFromIPC(readParquet(file).intoIPCStream()).getChild('n')
const sum = (values) => values.reduce((total, value) => total + Number(value ?? 0), 0)
const [iterated, array] = [[...vector], [...vector.toArray()]]
console.log('expected 170; iterated', iterated.join(), '=', sum(iterated), '; toArray', array.join(), '=', sum(array))
const same = vector.nullCount === 4 && sum(iterated) === 170 && array.join() === '10,30,30,70,0,60,70,0'
console.log(same ? 'still as stated' : 'changed')
process.exit(same ? 0 : 1)
JS
node r.mjs
