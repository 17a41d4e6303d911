#!/usr/bin/env bash
# Two npm packages for ISO 8601, iso8601 and iso8601-convert, lose one hour of UTC a year where the machine has summer time: in
# Berlin 02:00Z to 02:59Z on 29 March are read as 03:00Z to 03:59Z, so that two hours fall into one.
#
# What it is: both turn text into a Date (toDate); the second is a fork of the first.
# Versions: iso8601 1.1.1, iso8601-convert 1.0.0 (npm); the language's own Date for comparison.
# What the spec says: RFC 3339, 4 and 5.6: a time with Z is in UTC, in which every hour of every day exists; where the reader
#   stands has no part in it.
# Guess: 24 instants for the 24 hours of a day in UTC, whatever TZ says; both take care to remove the local offset.
# Seen: 23. With TZ=Europe/Berlin 2026-03-29T02:30:00Z comes out as 03:30Z, with TZ=America/New_York it is 2026-03-08T02:30:00Z;
#   with TZ=UTC or Asia/Tokyo nothing is lost, and in autumn nothing either. No error.
# Why: the numbers are put into a Date in local time, where that hour does not exist and is moved to the next; the offset that is
#   then subtracted is the one after the move.
# Wrong number for a user: one hour of the year is empty and the next has twice its posts, for machines in one zone only; a
#   counter that is kept by hour has one value overwritten by another. Servers and CI mostly run in UTC and never show it.
# Instead: new Date(text) or Date.UTC; or run with TZ=UTC.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json && npm install --silent --no-audit --no-fund --ignore-scripts iso8601@1.1.1 iso8601-convert@1.0.0 >/dev/null
cat > run.cjs <<'JS'
const readers = { iso8601: require('iso8601').toDate, 'iso8601-convert': require('iso8601-convert').toDate, Date: (text) => new Date(text) }
const day = process.argv[2]
const texts = Array.from({ length: 24 }, (_, hour) => `${day}T${String(hour).padStart(2, '0')}:30:00Z`)
for (const [name, read] of Object.entries(readers)) {
  const seen = texts.map((text) => read(text).toISOString().replace('.000Z', 'Z'))
  const moved = texts.flatMap((text, i) => text === seen[i] ? [] : [`${text} read as ${seen[i]}`])
  console.log(`${process.env.TZ} ${day} ${name}: ${new Set(seen).size} hours of 24; ${moved.join(', ') || 'all as written'}`)
}
JS
for p in iso8601 iso8601-convert; do echo "$p $(node -p "require('./node_modules/$p/package.json').version")"; done
for c in Europe/Berlin:2026-03-29 America/New_York:2026-03-08 Europe/Berlin:2026-10-25 Asia/Tokyo:2026-03-29 UTC:2026-03-29; do TZ=${c%:*} node run.cjs "${c#*:}"; done > seen.txt
echo 'expected: 24 hours of 24, all as written, in every line; observed:'; cat seen.txt
{
  for c in 'Europe/Berlin 2026-03-29' 'America/New_York 2026-03-08'; do d=${c#* }
    for p in iso8601 iso8601-convert; do echo "$c $p: 23 hours of 24; ${d}T02:30:00Z read as ${d}T03:30:00Z"; done
    echo "$c Date: 24 hours of 24; all as written"
  done
  for c in 'Europe/Berlin 2026-10-25' 'Asia/Tokyo 2026-03-29' 'UTC 2026-03-29'; do for p in iso8601 iso8601-convert Date; do echo "$c $p: 24 hours of 24; all as written"; done; done
} > stated.txt
if cmp -s seen.txt stated.txt; then echo 'still as stated'; else diff seen.txt stated.txt || true; echo 'changed'; exit 1; fi
