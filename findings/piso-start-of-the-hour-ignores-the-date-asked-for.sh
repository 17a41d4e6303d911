#!/usr/bin/env bash
# Asked for the start of the repetition that holds a given date, @0dep/piso takes the present clock in the
# place of that date: for a day that is over, every date gets the start of the last hour.
#
# What it is: @0dep/piso reads ISO 8601 dates, durations and (repeating) intervals; workflow engines use it.
# Versions: @0dep/piso 5.1.2 (npm).
# What the docs say: README, interval.getStartAt([compareDate ...]): compareDate is the date that repetitions
#   are compared against; a repeating interval returns the start of the repetition that expires first
#   after compareDate. ISO 8601: R24/2025-11-29T00:00Z/PT1H is the 24 hours of that day.
# Guess: 00:30 lies in the hour that starts at 00:00, 01:30 in the one of 01:00, 12:59 in the one of 12:00.
# Seen: 23:00 for all of them. getExpireAt with the same interval and dates is right (01:00, 02:00, 13:00).
#   The same with the end date written instead of the start. A series without an end (R-1) gives the
#   present month: the README's own example prints 2024-03-01.
# Why: getStartAt hands its compareDate to getExpireAt as the second argument (the start date, for bare
#   durations) and undefined as the first, which then means now.
# Wrong time for a user: all records of a finished day are put into its last hour, or into the hour in
#   which the program runs. No error.
# Instead: take getExpireAt(date) and subtract the duration.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund @0dep/piso@5.1.2 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { parseInterval, getStartAt } from '@0dep/piso'
console.log('@0dep/piso', JSON.parse(readFileSync('node_modules/@0dep/piso/package.json')).version)
const iso = (date) => date.toISOString().slice(0, 16) + 'Z'
const at = (clock) => new Date(`2025-11-29T${clock}:00Z`)
let same = true
for (const series of ['R24/2025-11-29T00:00Z/PT1H', 'R24/PT1H/2025-11-30T00:00Z']) {
  for (const [clock, hour] of [['00:30', 0], ['01:30', 1], ['12:59', 12], ['23:10', 23]]) {
    const want = iso(new Date(Date.UTC(2025, 10, 29, hour)))
    const end = parseInterval(series).getExpireAt(at(clock))
    const start = iso(parseInterval(series).getStartAt(at(clock)))
    console.log(series, clock, 'expected', want, 'observed', start, '| end', iso(end))
    same &&= start === '2025-11-29T23:00Z' && iso(getStartAt(series, at(clock))) === start
    same &&= iso(new Date(end - 3600e3)) === want // the control: the end less one hour
  }
}
// The example of the README, whose answer should not depend on the day of the run.
const month = parseInterval('R-1/2024-01-01T00:00Z/P1M').getStartAt(new Date(Date.UTC(2024, 2, 15)))
console.log('R-1/2024-01-01T00:00Z/P1M at 2024-03-15: expected 2024-03-01T00:00Z, observed', iso(month))
same &&= Math.abs(Date.now() - month) < 63 * 86400e3
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
