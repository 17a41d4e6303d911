#!/usr/bin/env bash
# Filling gaps with tidyjs complete + fullSeqDateISOString on timestamps written without
# milliseconds drops every observed row and returns the filler for all of them.
#
# What it is: @tidyjs/tidy, data wrangling for JavaScript; complete() adds missing
#   combinations, fullSeqDateISOString() makes the run of dates between first and last.
# Versions: @tidyjs/tidy 2.6.1 (npm).
# What the docs say: complete() is described as turning implicit missing values into explicit
#   ones, with replacement values for what is missing; fullSeqDateISOString, by its
#   name, works on ISO date strings. RFC 3339 section 5.6: the fraction of a second is optional,
#   so ...T00:00:00Z and ...T00:00:00.000Z are the same instant.
# Guess: hours 00, 01 and 03 keep 10, 20 and 40; only 02 is added, with the filler.
# Seen: four rows, all with the filler: the run is written as ...00.000Z, the join compares
#   text, nothing matches, and observed rows outside the run are not kept. With input written
#   ...00.000Z (the control) the result is as guessed. No warning.
# Wrong number for a user: a day of activity becomes a flat line of zeros (or of "unknown").
# Instead: rewrite the key first: mutate({ hour: d => new Date(d.hour).toISOString() }), and
#   compare the total before and after.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund @tidyjs/tidy@2.6.1 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import * as t from '@tidyjs/tidy'
console.log('@tidyjs/tidy', JSON.parse(readFileSync('node_modules/@tidyjs/tidy/package.json')).version)
const make = end => [[0, 10], [1, 20], [3, 40]].map(([h, stars]) => ({ hour: `2026-01-01T0${h}:00:00${end}`, stars }))
const fill = rows => t.tidy(rows, t.complete({ hour: t.fullSeqDateISOString('hour', 'minute', 60) }, { stars: 0 })).map(r => r.stars).join(',')
const bare = fill(make('Z')), ms = fill(make('.000Z'))
console.log('hours as ...00Z      expected 10,20,0,40 observed', bare)
console.log('hours as ...00.000Z  expected 10,20,0,40 observed', ms)
const same = bare === '0,0,0,0' && ms === '10,20,0,40'
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
