#!/usr/bin/env bash
# Asked in the last minute of a day (UTC) for the next date, @sapphire/cron gives one of the day that is ending: "every minute"
# goes from 23:59 back to 00:00 of the same day, and a daily job asked at 23:59:30 was due 24 hours ago.
#
# What it is: a reader of cron expressions for JavaScript, one of the utilities of a framework for chat bots.
# Versions: @sapphire/cron 1.2.1; cronosjs 1.7.1 (npm) to compare with.
# What the docs say: next(): "Get the next date that matches with the current pattern", from "the Date instance to compare with".
# Guess: a date later than the one that it was given.
# Seen: it adds a minute before it compares the hours, and takes the day from before that. At 23:59 the hour to compare with is
#   0, so the first hour of the expression is still to come, and the day is the old one. A list of the minutes of a day
#   never leaves the day. Until 23:58:59 all is right. "59 23 31 12 *" is next due when it is due.
#   Where both days are restricted, it wants both ("0 0 13 * 5": Fridays that are a 13th); crontab(5) says either.
# Wrong claim for a user: who sets a timer for "next minus now" gets a negative time, and the job runs at once, again and
#   again, for the last minute of the day; who lists the next runs shows runs of the past.
# Instead: another library (cronosjs, croner); or, where next(d) is not after d, ask again from a minute later.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund @sapphire/cron@1.2.1 cronosjs@1.7.1 >/dev/null
cat > run.cjs <<'JS'
const { Cron } = require('@sapphire/cron')
const { CronosExpression } = require('cronosjs')
console.log('@sapphire/cron', require('./node_modules/@sapphire/cron/package.json').version)
const short = (d) => d.toISOString().slice(0, 16)
let same = true
for (const [exp, at, stated] of [
  ['* * * * *', '2026-11-24T23:58:10Z', '2026-11-24T23:59'],
  ['* * * * *', '2026-11-24T23:59:10Z', '2026-11-24T00:00'],
  ['0 0 * * *', '2026-11-24T23:58:30Z', '2026-11-25T00:00'],
  ['0 0 * * *', '2026-11-24T23:59:30Z', '2026-11-24T00:00'],
  ['15 * * * *', '2026-11-24T23:59:30Z', '2026-11-24T00:15'],
  ['30 6 * * *', '2026-11-24T23:59:30Z', '2026-11-24T06:30'],
  ['59 23 31 12 *', '2026-12-31T23:59:30Z', '2026-12-31T23:59'],
  ['0 0 13 * 5', '2026-01-15T10:00:00Z', '2026-02-13T00:00'],
]) {
  const seen = short(new Cron(exp).next(new Date(at)))
  const want = short(CronosExpression.parse(exp, { timezone: 'UTC' }).nextDate(new Date(at)))
  console.log(exp.padEnd(14), 'after', at, 'expected', want, 'observed', seen)
  same &&= seen === stated && (at.includes('23:58') ? want === seen : want !== seen)
}
const all = new Cron('*/20 * * * *'); let d = new Date('2026-11-24T23:50:00Z'); const days = new Set()
for (let i = 0; i < 5; i++) days.add((d = all.next(d)).toISOString().slice(0, 10))
console.log('every 20 minutes, asked at 23:50, where no run is at 23:59: days', [...days])
const each = new Cron('* * * * *'); d = new Date('2026-11-24T12:00:00Z'); const seen = new Set()
for (let i = 0; i < 3000; i++) seen.add((d = each.next(d)).toISOString().slice(0, 10))
console.log('3,000 minutes on from noon of 24 November: expected 3 days, observed', [...seen])
same &&= seen.size === 1 && [...days].join() === '2026-11-25'
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
TZ=UTC node run.cjs
