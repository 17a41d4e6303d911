#!/usr/bin/env bash
# time-ago's timefriendly() reads "24 hours" as four hours and "10 minutes" as none: it looks at
# the last digit only.
#
# What it is: an npm module for "3 hours ago"; timefriendly() turns a text such as "5 minutes"
#   into milliseconds.
# Versions: time-ago 0.2.1; ms 2.1.3 (npm) to compare with.
# What the docs say: ta.timefriendly('x period') converts seconds, minutes, hours, days, weeks,
#   months and years to milliseconds; the example is '1 hour', no limit of one digit is named.
# Guess: 24 hours are 86,400,000 ms.
# Seen: the pattern takes one digit, any character, the letters: in "24 hours" the 4, in "10
#   minutes" the 0, which is 0 ms. Without an error; 1 to 9 are right.
# Wrong number for a user: a window of the last 24 hours has the last four, a poll every 10 minutes
#   becomes one without pause, and what is kept for "30 days" is kept for none.
# Instead: ms('24 hours').
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null && npm i -s --no-audit --no-fund --ignore-scripts time-ago@0.2.1 ms@2.1.3
cat > run.js <<'JS'
const fs = require('fs'), ms = require('ms'), mod = require('time-ago'), ta = typeof mod === 'function' ? mod() : mod
console.log('time-ago', JSON.parse(fs.readFileSync('node_modules/time-ago/package.json')).version)
const seen = ['1 hour', '9 minutes', '10 minutes', '24 hours', '30 days', '48 hours'].map(t => {
  const got = ta.timefriendly(t)
  console.log(t.padEnd(11), 'expected', String(ms(t)).padStart(10), 'observed', String(got).padStart(10))
  return got === ms(t)
})
const same = seen.join() === 'true,true,false,false,false,false' && ta.timefriendly('24 hours') === 4 * 3600000 && ta.timefriendly('10 minutes') === 0
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.js
