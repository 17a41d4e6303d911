#!/usr/bin/env bash
# @datasert/cronjs-matcher leaves Sunday out of each range that ends on it: "1-7", "5-7" and "fri-sun" never match a Sunday, and
# 3-7/2 matches no day at all. "7" and "5,6,7" are right.
#
# What it is: cronjs parses cron expressions for JavaScript and tells which times match.
# Versions: @datasert/cronjs-matcher 1.4.0 with @datasert/cronjs-parser 1.4.0; cronosjs 1.7.1 (npm) to compare with.
# What the docs say: the parser "validates the expressions and throws errors with meaningful messages". It takes 0 to 7 and the
#   names; a remark in its source says that sun stands for 0 or 7 by its place in a range. crontab(5): day of week 0-7,
#   0 or 7 is Sunday; ranges are inclusive; a range may have a step.
# Guess: Friday, Saturday, Sunday; or an error.
# Seen: no error. The range is kept as 5 to 7 and compared with days that are counted from 0 to 6. Only a single 7 is turned
#   into 0.
# Wrong claim for a user: a job of each day of the week does not run on Sundays; a series that it writes has a hole of a day in
#   each week, which looks like an outage of what was observed.
# Instead: write "5,6,0" or "*".
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund @datasert/cronjs-matcher@1.4.0 @datasert/cronjs-parser@1.4.0 cronosjs@1.7.1 >/dev/null
cat > run.cjs <<'JS'
const { getFutureMatches, isTimeMatches } = require('@datasert/cronjs-matcher')
const { CronosExpression } = require('cronosjs')
console.log('@datasert/cronjs-matcher', require('@datasert/cronjs-matcher/package.json').version)
const names = (dates) => [...new Set(dates.map((d) => new Date(d).toUTCString().slice(0, 3)))].join(' ') || 'none'
let same = true
for (const [day, stated] of [
  ['1-7', 'Tue Wed Thu Fri Sat Mon'], ['5-7', 'Fri Sat'], ['fri-sun', 'Fri Sat'], ['3-7/2', 'none'],
  ['7', 'Sun'], ['5,6,7', 'Fri Sat Sun'], ['0-6', 'Tue Wed Thu Fri Sat Sun Mon'],
]) {
  const exp = `0 6 * * ${day}`
  const seen = names(getFutureMatches(exp, { startAt: '2026-01-12T12:00:00Z', matchCount: 14, timezone: 'UTC' }))
  const want = names(CronosExpression.parse(exp, { timezone: 'UTC' }).nextNDates(new Date('2026-01-12T12:00:00Z'), 14))
  console.log(exp.padEnd(16), 'expected', want.padEnd(28), 'observed', seen)
  same &&= seen === stated && (['7', '5,6,7', '0-6'].includes(day) ? want === seen : want !== seen && want.includes('Sun'))
}
const sunday = isTimeMatches('0 6 * * 1-7', '2026-01-18T06:00:00Z', 'UTC')
console.log('Sunday 18 January, 06:00 matches "0 6 * * 1-7": expected true, observed', sunday)
same &&= sunday === false
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
TZ=UTC node run.cjs
