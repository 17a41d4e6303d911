#!/usr/bin/env bash
# For @cheap-glitch/mi-cron the next 31st after January is the 3rd of March and the next 29th of February the 1st of March of
# this year: it hands out days that the expression does not name, and its own schedule says so.
#
# What it is: a small parser of cron expressions for JavaScript that computes the next date of a schedule.
# Versions: @cheap-glitch/mi-cron 1.0.1; cronosjs 1.7.1 (npm) to compare with.
# What the docs say: "a parser for standard cron expressions"; nextDate "returns the next date that matches the schedule"; the
#   README links to the manual page crontab(5): a command runs when the minute, hour and month match and at least one
#   of the two day fields, if both are restricted (not "*"), matches.
# Guess: months without the day are left out, and "13th or Friday" is both.
# Seen: where the month has no such day, the date runs over into the next month: 31 February is given as 3 March, 31 April as
#   1 May, 29 February 2026 as 1 March 2026. "0 0 13 * 5" is given for Fridays that are a 13th only.
# Wrong claim for a user: a monthly report made "on the 31st" is made on the 1st and the 3rd as well; what is due on a 13th and
#   on each Friday is done once in half a year.
# Instead: another library (cronosjs, croner); or look whether the date's day is one of schedule.days before using it.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund @cheap-glitch/mi-cron@1.0.1 cronosjs@1.7.1 >/dev/null
cat > run.cjs <<'JS'
const { parseCron } = require('@cheap-glitch/mi-cron')
const { CronosExpression } = require('cronosjs')
console.log('@cheap-glitch/mi-cron', require('@cheap-glitch/mi-cron/package.json').version)
const from = new Date('2026-01-15T10:00:00Z'), day = (d) => d.toISOString().slice(0, 10)
let same = true
for (const [exp, stated] of [
  ['0 0 31 * *', '2026-01-31 2026-03-03 2026-03-31 2026-05-01'],
  ['0 0 29 2 *', '2026-03-01 2027-03-01 2028-02-29 2029-03-01'],
  ['0 0 13 * 5', '2026-02-13 2026-03-13 2026-11-13 2027-08-13'],
  ['0 0 28 * *', '2026-01-28 2026-02-28 2026-03-28 2026-04-28'],
]) {
  const seen = []; let d = from
  for (let i = 0; i < 4; i++) seen.push(day(d = parseCron.nextDate(exp, d)))
  const want = CronosExpression.parse(exp, { timezone: 'UTC' }).nextNDates(from, 4).map(day).join(' ')
  console.log(exp, '\n   expected', want, '\n   observed', seen.join(' '))
  same &&= seen.join(' ') === stated && (exp === '0 0 28 * *' ? want === stated : want !== stated)
}
const s = parseCron('0 0 31 * *'), d = parseCron.nextDate(s, new Date('2026-02-01T00:00:00Z'))
console.log('days of its own schedule', s.days, '; day of the date that it gives', d.getUTCDate())
same &&= s.days.join() === '31' && d.getUTCDate() === 3
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
TZ=UTC node run.cjs
