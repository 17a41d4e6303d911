#!/usr/bin/env bash
# fromnow says "1 year, 5 days" of 365 days, "2 years, 10 days" of 730 and "1 year, 12 months, 9 days" of 729: the parts of its answers do
# not add up.
#
# What it is: a tiny function for the time between now and a date in words, down to minutes (npm).
# Versions: fromnow 3.0.1 (npm); 30 days are taken for a month and 365 for a year, as it does itself, for comparison.
# What the docs say: "human-readable time differences between now and past or future dates"; example "14 years, 6 months, 21 days, 5
#   hours, 43 minutes"; the README does not say how long a month is.
# Guess: years, then the months of what is left, then the days of what is left of that: 365 days are "1 year", 729 "1 year, 12 months, 4
#   days", and the parts add up to the difference again.
# Seen: right up to 364 days; from then on five days too many for each year that has gone by, up to a month: 365 days are "1 year, 5
#   days", 730 are "2 years, 10 days", ten years of 365 days are "10 years, 20 days".
# Why: the days are taken of the whole difference modulo 30 days, not of what years and months have left over.
# Wrong number for a user: a label or a certificate that ends in exactly one year ends "in 1 year, 5 days"; an account made ten years ago
#   is 20 days older; an anniversary is never on its day.
# Instead: Intl.RelativeTimeFormat with one unit, or Temporal's until() with largestUnit 'year'.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json && npm i --silent --no-audit --no-fund --ignore-scripts fromnow@3.0.1 >/dev/null
cat > run.cjs <<'JS'
const fromNow = require('fromnow'), at = Date.UTC(2026, 10, 1, 12)
console.log('fromnow', JSON.parse(require('fs').readFileSync('node_modules/fromnow/package.json')).version)
Date.now = () => at
const size = { year: 365, month: 30, day: 1, hour: 1 / 24 }
const words = (days) => {
  const parts = []
  for (const unit of ['year', 'month', 'day']) { const n = Math.floor(days / size[unit]); days -= n * size[unit]; if (n) parts.push(`${n} ${unit}${n === 1 ? '' : 's'}`) }
  return parts.join(', ')
}
const sum = (text) => text.split(', ').reduce((total, part) => total + parseInt(part) * size[part.split(' ')[1].replace(/s$/, '')], 0)
const seen = {}
for (const days of [1, 45, 359, 364, 365, 366, 395, 729, 730, 3650]) {
  seen[days] = fromNow(new Date(at - days * 864e5).toISOString())
  console.log(String(days).padStart(4), 'days: expected', words(days).padEnd(28), 'observed', seen[days].padEnd(28), 'adds up to', sum(seen[days]), seen[days] === words(days) ? '' : ' <-')
}
const ok = Array.from({ length: 364 }, (_, i) => i + 1).every(d => sum(fromNow(new Date(at - d * 864e5).toISOString())) === d)
console.log('all of 1 to 364 days add up:', ok)
const same = ok && seen[365] === '1 year, 5 days' && seen[730] === '2 years, 10 days' && seen[729] === '1 year, 12 months, 9 days' && seen[3650] === '10 years, 20 days' && sum(seen[729]) === 734
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.cjs
