#!/usr/bin/env bash
# duration-pretty, asked for minutes and seconds, shows a day, an hour, a minute and a second as
# "85:01" instead of "1501:01": of the larger units it multiplies the last step only.
#
# What it is: an npm module that formats a duration with tokens: Y M D H m s SSS.
# Versions: duration-pretty 0.1.1 (npm).
# What the docs say: the tokens are "replaced with the duration's value for each unit type"; the
#   tests and the README show that a unit that is left out goes into the next smaller one
#   (7380 seconds as "H:mm" is 2:03).
# Guess: days go into hours and hours into minutes, however many units are left out.
# Seen: one unit left out is right (25 hours as "H:mm" is 25:00). With two in a row the first is
#   added to the second's sum without the second's factor: 25 hours are 24 + 60 = 84 minutes, a
#   year is 12 days, a day is 24 seconds, three hours are 180 seconds. Nothing is said.
# Wrong number for a user: "last event 85 minutes ago" for one of yesterday; a gap of a year shown
#   as 12 days.
# Instead: divide: Math.floor(ms / 60000).
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null && npm i -s --no-audit --no-fund --ignore-scripts duration-pretty@0.1.1
cat > run.js <<'JS'
const { duration } = require('duration-pretty')
console.log('duration-pretty', require('duration-pretty/package.json').version)
const H = 3600, D = 86400, cases = [
  [D + H + 61, 'D H:mm:ss', '1 1:01:01'], [25 * H, 'H:mm', '25:00'],
  [D + H + 61, 'mm:ss', '1501:01'], [25 * H, 'm', '1500'], [D, 's', '86400'], [365 * D, 'D', '365'], [3 * H, 's', '10800']]
const seen = cases.map(([s, f, want]) => {
  const got = duration(s, 'seconds').format(f)
  console.log(String(s).padStart(9), 'seconds as', f.padEnd(10), 'expected', want.padEnd(10), 'observed', got)
  return got
})
const same = seen.join('|') === '1 1:01:01|25:00|85:01|84|24|12|180'
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.js
