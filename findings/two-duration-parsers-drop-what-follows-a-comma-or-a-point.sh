#!/usr/bin/env bash
# Two npm packages for ISO 8601 durations lose fractions without an error: @musement/iso-duration reads PT36,5S as 36 s and
# PT0,5H as nothing, date-duration reads PT1H1.5M as one hour and P1DT0.5H as one day.
#
# What it is: both parse durations; the second adds them to dates.
# Versions: @musement/iso-duration 1.0.0, date-duration 2.0.0, tinyduration 3.4.1 for comparison (npm).
# What the spec says: ISO 8601-1:2019, 5.5.2.3 (and 2004, 4.4.3.2): the last component of a duration may have a decimal
#   fraction, after a comma or a point; of the two signs 2004 prefers the comma.
# Guess: 36.5 s, half an hour, 3,690 s and 88,200 s, or an error where fractions are not supported, as date-duration
#   raises for PT1.5H.
# Seen: the first is right with a point; with a comma it gives 36 s, 0 s (as P0D) and, for PT1H1,5M, 3,660 s. The second raises for
#   a fraction alone, but gives 3,600 s for PT1H1.5M and 86,400 s for P1DT0.5H.
# Why: the pattern of the first allows a comma, but the number is read with parseFloat, which stops there; the pattern of the second
#   has no end, so that it takes the components up to the fraction and leaves the rest of the text.
# Wrong number for a user: a window of "PT0,5H" is empty and prints as P0D; a time limit of an hour and a half a minute ends
#   early; toString gives a duration that differs from the one that was read.
# Instead: tinyduration or Temporal.Duration; or write whole units (PT30M).
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true,"type":"module"}' > package.json && npm install --silent --no-audit --no-fund @musement/iso-duration@1.0.0 date-duration@2.0.0 tinyduration@3.4.1 >/dev/null
cat > run.mjs <<'JS'
import { isoDuration } from '@musement/iso-duration'
import Duration from 'date-duration'
import { parse } from 'tinyduration'
const seconds = (d) => (d.weeks || 0) * 604800 + (d.days || 0) * 86400 + (d.hours || 0) * 3600 + (d.minutes || 0) * 60 + (d.seconds || 0)
const attempt = (f) => { try { return f() } catch (e) { return `error (${e.message.split(':')[0]})` } }
const zero = new Date(0)
for (const text of ['PT36.5S', 'PT36,5S', 'PT0,5H', 'PT1H30M', 'PT1.5H', 'PT1H1.5M', 'PT1H1,5M', 'P1DT0.5H']) {
  const a = attempt(() => { const d = isoDuration(text); return `${seconds(d.parse())} s, ${d}` })
  const b = attempt(() => { const d = Duration(text); return `${(d.addTo(zero) - zero) / 1000} s, ${d}` })
  console.log(`${text} | ${attempt(() => seconds(parse(text.replace(',', '.'))))} s | ${a} | ${b}`)
}
JS
TZ=UTC node run.mjs > seen.txt
echo 'duration | expected (tinyduration) | @musement/iso-duration 1.0.0 | date-duration 2.0.0'; cat seen.txt
cat > stated.txt <<'STATED'
PT36.5S | 36.5 s | 36.5 s, PT36.5S | error (Invalid duration)
PT36,5S | 36.5 s | 36 s, PT36S | error (Invalid duration)
PT0,5H | 1800 s | 0 s, P0D | error (Invalid duration)
PT1H30M | 5400 s | 5400 s, PT1H30M | 5400 s, PT1H30M
PT1.5H | 5400 s | 5400 s, PT1.5H | error (Invalid duration)
PT1H1.5M | 3690 s | 3690 s, PT1H1.5M | 3600 s, PT1H
PT1H1,5M | 3690 s | 3660 s, PT1H1M | 3600 s, PT1H
P1DT0.5H | 88200 s | 88200 s, P1DT0.5H | 86400 s, P1D
STATED
if diff seen.txt stated.txt; then echo 'still as stated'; else echo 'changed'; exit 1; fi
