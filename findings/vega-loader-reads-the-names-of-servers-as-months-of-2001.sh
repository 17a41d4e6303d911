#!/usr/bin/env bash
# With parse: "auto" vega-loader takes a column of names that end in a number for dates: pds-1 becomes the
# first of January 2001, pds-2 the first of February, and the names are gone.
#
# What it is: vega-loader, the part of Vega that reads CSV; parse: "auto" is the way its README shows first.
# Versions: vega-loader 5.1.3 (npm, with Node 20 or newer: V8); d3-dsv 3.0.1 (npm) autoType as the control.
# What the docs say: README: type inference determines the data type of each field, one of boolean, integer, number,
#   date and string. ECMAScript, Date.parse: text that is not in the ISO form may be read by rules of the engine's own,
#   so that an answer does not show that the text is a date. RFC 3339: no date is written pds-1.
# Guess: the column "server" stays text.
# Seen: V8 reads any words with one number from 1 to 12 behind them as that month of 2001 (one from 32 on as a year,
#   in the local zone), vega-loader asks Date.parse alone, and so each name becomes a number of milliseconds.
#   The name of a version, 1.5.1, becomes the fifth of January 2001. If a single name has no number, all stay text.
#   (An open issue of 2018 in the tracker of datalib, an older sibling, number 95, tells of the same rule.)
# Wrong number for a user: an axis of servers becomes an axis of time; "node 1" and "pds-1" are one and the same server,
#   so their counts are added up.
# Instead: name the types: parse: {server: "string", stars: "number"}.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund vega-loader@5.1.3 d3-dsv@3.0.1 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { read, inferTypes } from 'vega-loader'
import { csvParse, autoType } from 'd3-dsv'
console.log('vega-loader', JSON.parse(readFileSync('node_modules/vega-loader/package.json')).version, 'node', process.version)
const csv = 'server,version,stars\npds-1,1.5.1,5\npds-2,1.6.0,7\nnode 1,1.5.2,100\n'
const auto = read(csv, { type: 'csv', parse: 'auto' })
const named = read(csv, { type: 'csv', parse: { server: 'string', stars: 'number' } })
const sum = rows => JSON.stringify([...rows.reduce((m, r) => m.set(r.server, (m.get(r.server) ?? 0) + r.stars), new Map())])
const day = t => typeof t === 'number' ? new Date(t).toISOString().slice(0, 10) : t
const servers = auto.map(r => day(r.server)).join(' ')
console.log('servers     expected pds-1 pds-2 node 1  observed', servers)
console.log('per server  expected', sum(named)); console.log('            observed', sum(auto))
console.log('d3-dsv      ', csvParse(csv, autoType).map(r => r.server).join(' '))
const types = inferTypes(csvParse(csv), ['server', 'stars']), mixed = inferTypes([{ server: 'pds-1' }, { server: 'home' }], ['server'])
console.log('inferTypes  ', JSON.stringify(types), 'with "home" among the names', JSON.stringify(mixed))
const same = servers === '2001-01-01 2001-02-01 2001-01-01' && types.server === 'date' && mixed.server === 'string' &&
  sum(named) === '[["pds-1",5],["pds-2",7],["node 1",100]]' && sum(auto) === '[[978307200000,105],[980985600000,7]]'
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
TZ=UTC node run.mjs
