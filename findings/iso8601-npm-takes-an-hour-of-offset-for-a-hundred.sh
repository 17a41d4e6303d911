#!/usr/bin/env bash
# The npm package iso8601 takes an offset of +01:00 for one of 100 hours: 05:00+01:00 on 1 January becomes 01:00 on 28 December,
# and the same hour with -08:00 is in February.
#
# What it is: iso8601 parses and prints instants; it has the plainest name for it in the registry.
# Versions: iso8601 1.1.1 (npm); the language's own Date for comparison.
# What the spec says: RFC 3339, 4.2 and 5.6: the offset is the difference of local time to UTC in hours and minutes, +hh:mm.
# Guess: the instants that Date gives, as the pattern of the package has a place for the offset.
# Seen: Z, +00:00 and -00:30 are right. With +01:00 the instant is 99 hours too early, with +05:45 by 20 days, with -03:30 12 days too late
#   and with -08:00 33 days; +0100 and +01 are left out, though ISO 8601 allows them. No error.
# Why: the hours times 60 are a number, the minutes a text, and "+" joins them: 60 and "00" become "6000" minutes.
# Wrong number for a user: posts and hours written by clients with an offset move by days or weeks; those with Z are right, so
#   that a test in UTC passes, and the outliers look like clocks that are wrong.
# Instead: new Date(text), which reads all of RFC 3339 that has a T and a colon in the offset.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json && npm install --silent --no-audit --no-fund iso8601@1.1.1 >/dev/null
cat > run.cjs <<'JS'
const { toDate } = require('iso8601')
for (const offset of ['Z', '+00:00', '-00:30', '+01:00', '+05:45', '-03:30', '-08:00']) {
  const text = `2026-01-01T05:00:00${offset}`
  const [expected, observed] = [new Date(text), toDate(text)]
  console.log(`${text} | ${expected.toISOString()} | ${observed.toISOString()} | ${(observed - expected) / 3600000} h`)
}
JS
TZ=UTC node run.cjs > seen.txt
TZ=America/New_York node run.cjs > elsewhere.txt
echo 'text | expected (Date) | observed (iso8601 1.1.1) | difference'; cat seen.txt
cat > stated.txt <<'STATED'
2026-01-01T05:00:00Z | 2026-01-01T05:00:00.000Z | 2026-01-01T05:00:00.000Z | 0 h
2026-01-01T05:00:00+00:00 | 2026-01-01T05:00:00.000Z | 2026-01-01T05:00:00.000Z | 0 h
2026-01-01T05:00:00-00:30 | 2026-01-01T05:30:00.000Z | 2026-01-01T05:30:00.000Z | 0 h
2026-01-01T05:00:00+01:00 | 2026-01-01T04:00:00.000Z | 2025-12-28T01:00:00.000Z | -99 h
2026-01-01T05:00:00+05:45 | 2025-12-31T23:15:00.000Z | 2025-12-11T08:15:00.000Z | -495 h
2026-01-01T05:00:00-03:30 | 2026-01-01T08:30:00.000Z | 2026-01-13T17:30:00.000Z | 297 h
2026-01-01T05:00:00-08:00 | 2026-01-01T13:00:00.000Z | 2026-02-03T13:00:00.000Z | 792 h
STATED
if diff seen.txt stated.txt && diff seen.txt elsewhere.txt; then echo 'still as stated'; else echo 'changed'; exit 1; fi
