#!/usr/bin/env bash
# The avg, median and stdDev of a field in LokiJS leave out each value that is 0: of 0, 0, 0 and 40 stars the average is 40. The min
# and max of the same field keep them.
#
# What it is: lokijs (npm), a database in memory for JavaScript; here hourly counts, all of them observed.
# Versions: lokijs 1.5.12 (npm); simple-statistics 7.8.8 (npm) as the control.
# What the docs say: Collection.avg: calculates the average numerical value of the field over all documents; median and
#   standardDeviation the same way. Nought is a number (ECMAScript, RFC 8259).
# Guess: average 10, median 0 and standard deviation 17.3.
# Seen: 40, 40 and 0. The values are passed through a filter that is meant to throw out what is no number, but as a test of
#   truth it throws out nought as well, also the text "0"; 0.001 it keeps. min gives 0, so that the results of one
#   collection come of different rows. An issue of 2018 in its tracker, number 665, names the filter; it was closed unmended.
# Wrong number for a user: the average of a night's hours is that of the hours in which something happened, here four
#   times too high.
# Instead: take the column, coll.extract('stars'), and compute over it.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund lokijs@1.5.12 simple-statistics@7.8.8 >/dev/null
cat > run.js <<'JS'
const Loki = require('lokijs'), ss = require('simple-statistics')
console.log('lokijs', require('./node_modules/lokijs/package.json').version)
const ask = values => {
  const hours = new Loki('hours.db').addCollection('hours')
  hours.insert(values.map((stars, h) => ({ hour: new Date(Date.UTC(2026, 0, 1, h)).toISOString(), stars })))
  return { avg: hours.avg('stars'), median: hours.median('stars'), stdDev: hours.stdDev('stars'), min: hours.min('stars'), rows: hours.count(), column: hours.extract('stars') }
}
const four = ask([0, 0, 0, 40]), near = ask([0.001, 0.001, 0.001, 40]), text = ask(['0', '0', '0', 40])
const round = x => Math.round(x * 10) / 10
console.log('average   expected', ss.mean(four.column), 'observed', four.avg)
console.log('median    expected', ss.median(four.column), 'observed', four.median)
console.log('deviation expected', round(ss.standardDeviation(four.column)), 'observed', round(four.stdDev))
console.log('min', four.min, 'rows', four.rows, 'column', JSON.stringify(four.column))
console.log('average of 0.001 0.001 0.001 40:', round(near.avg), ' of "0" "0" "0" 40:', text.avg)
const same = four.avg === 40 && four.median === 40 && four.stdDev === 0 && four.min === 0 && four.rows === 4 && ss.mean(four.column) === 10 &&
  round(near.avg) === 10 && text.avg === 40
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.js
