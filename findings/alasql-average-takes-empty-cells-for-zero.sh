#!/usr/bin/env bash
# In AlaSQL, AVG over a CSV column divides by the hours that nobody observed, and COUNT(column)
# counts them, while WHERE column = 0 finds only the hours that were observed to be zero.
#
# What it is: AlaSQL, SQL on JavaScript data; an hourly table read with CSV(?), two cells empty.
# Versions: alasql 4.19.1 (npm).
# What the docs say: its CSV reader turns numbers into numbers; AVG and COUNT are those of SQL,
#   which leave NULL out.
# Guess: an empty cell is NULL, so AVG is 40 / 3 = 13.33 and COUNT(stars) is 3.
# Seen: an empty cell is '': AVG is 8, COUNT(stars) is 5, stars < 20 keeps the empty hours, and
#   ORDER BY stars DESC puts one of them before an observed zero. MIN and MAX are right. The
#   obvious mend, WHERE stars != '', also drops the hours that were observed to be zero: 20.
# Wrong number for a user: every mean and rate of a column with gaps is too low.
# Instead: filter the rows in JavaScript first, with row.stars !== ''.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund --legacy-peer-deps alasql@4.19.1 >/dev/null
cat > run.cjs <<'JS'
const alasql = require('alasql')
console.log('alasql', JSON.parse(require('fs').readFileSync('node_modules/alasql/package.json')).version)
const csv = 'hour,stars\n2026-01-01T00:00:00Z,10\n2026-01-01T01:00:00Z,\n2026-01-01T02:00:00Z,0\n2026-01-01T03:00:00Z,30\n2026-01-01T04:00:00Z,\n'
const one = (sql) => alasql(`SELECT ${sql} FROM CSV(?)`, [csv])[0]
const { mean, hours, most } = one('AVG(stars) AS mean, COUNT(stars) AS hours, MAX(stars) AS most')
const zero = alasql('SELECT * FROM CSV(?) WHERE stars = 0', [csv]).length
const observed = alasql("SELECT AVG(stars) AS mean FROM CSV(?) WHERE stars != ''", [csv])[0].mean
console.log('AVG(stars)            expected 13.33, observed', mean)
console.log('COUNT(stars)          expected 3, observed', hours)
console.log('rows with stars = 0   expected 1, observed', zero)
const rows = alasql('SELECT * FROM CSV(?)', [csv]).filter((row) => row.stars !== '')
const filtered = alasql('SELECT AVG(stars) AS mean FROM ?', [rows])[0].mean
console.log("AVG where stars != '' expected 13.33, observed", observed)
console.log('AVG of filtered rows  expected 13.33, observed', filtered)
const same = mean === 8 && hours === 5 && most === 30 && zero === 1 && observed === 20 && Math.abs(filtered - 40 / 3) < 1e-9
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.cjs
