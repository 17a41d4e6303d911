#!/usr/bin/env bash
# crontzconvert, asked for "Mondays at 8:30 and 20:30 UTC" in Tokyo time, answers "Mondays at 5:30 and 17:30": of each list of hours
# all go to the day of one of them. Lists of minutes lose an hour where the offset has a half, and the 30th becomes the 31st.
#
# What it is: a JavaScript library that, given a cron expression and two time zones, "transforms the cron expression for that timezone".
# Versions: crontzconvert 1.1.1; cronosjs 1.7.1 (npm) tells when each expression runs.
# What the docs say: the README has lists of hours and days (8-10, 2,6) and the last day of a month (L). No limits are named.
# Guess: the same instants; or an error where no single expression has them.
# Seen: whether the day moves is decided once for a whole list. 20:30 UTC on Monday is Tuesday, 5:30, in Tokyo. With 0,45 9 and
#   India (5:30) 9:00 is 14:30, and 9:45 is 15:15; "15,30 14" is 14:15 and 14:30. The 30th of each month, 20:00 UTC,
#   becomes the 31st, so that the months of 30 days are left out.
# Wrong claim for a user: half of the runs are on another day or in another hour than asked for, and none of it is said.
# Instead: give the scheduler the expression and its zone (cronosjs, croner); or convert one hour and one minute at a time.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund crontzconvert@1.1.1 cronosjs@1.7.1 >/dev/null
cat > run.cjs <<'JS'
const { convert } = require('crontzconvert')
const { CronosExpression } = require('cronosjs')
console.log('crontzconvert', require('./node_modules/crontzconvert/package.json').version)
const from = new Date('2026-01-02T00:00:00Z'), to = new Date('2026-12-20T00:00:00Z')
function runs(exp, timezone) {
  const out = [], cron = CronosExpression.parse(exp, { timezone })
  for (let d = cron.nextDate(from); d && d < to; d = cron.nextDate(d)) out.push(d.toISOString().slice(0, 16))
  return out
}
let same = true
for (const [exp, zone, stated] of [
  ['0 30 20 * * 1', 'Asia/Tokyo', '0 30 5 * * 2'], ['0 30 8,20 * * 1', 'Asia/Tokyo', '0 30 5,17 * * 1'],
  ['0 0,45 9 * * *', 'Asia/Kolkata', '0 15,30 14 * * *'], ['0 */15 9 * * *', 'Asia/Kolkata', '0 */15 14 * * *'],
  ['0 0 20 30 * *', 'Asia/Tokyo', '0 0 5 31 * *'],
]) {
  const got = convert(exp, 'UTC', zone)
  const want = new Set(runs(exp, 'UTC')), seen = new Set(runs(got, zone))
  const missed = [...want].filter((t) => !seen.has(t)), added = [...seen].filter((t) => !want.has(t))
  console.log(`"${exp}" UTC becomes "${got}" ${zone}: of ${want.size} runs ${missed.length} are missed, ${added.length} are added;`,
    missed.length ? `first missed ${missed[0]}Z` : 'right')
  same &&= got === stated && (exp === '0 30 20 * * 1' ? missed.length + added.length === 0 : missed.length >= want.size * 0.35)
}
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
TZ=UTC node run.cjs
