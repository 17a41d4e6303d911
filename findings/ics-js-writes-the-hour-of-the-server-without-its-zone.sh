#!/usr/bin/env bash
# ics-js writes a moment as the local time of the server and names no zone: 12:00 UTC from a server in Tokyo is 21:00 in Berlin, too; and
# it joins the lines of a text and splits a category at its comma.
#
# What it is: makes iCalendar files of calendar components (npm); "Only valid properties can be added according to the RFC 5545 spec".
# Versions: ics-js 0.10.2, ical.js 2.2.1 reads what it writes (npm).
# What the spec says: RFC 5545, 3.8.7.2: DTSTAMP must be in the UTC format. 3.3.5: UTC ends with Z; a time without Z and TZID is floating,
#   the same hour of the clock wherever it is read. 3.3.11: a line break in a text is \n, and a comma \, . README: a Date is "Formatted
#   date to spec", an array is "separated by ,".
# Guess: DTSTART:20261101T120000Z whatever TZ is, two lines in DESCRIPTION, two categories.
# Seen: 20261101T120000 with TZ=UTC, 20261101T210000 with TZ=Asia/Tokyo, without Z. The line break becomes a folded line, so that "from
#   10" and "20 of them" are read as "from 1020 of them". "stars, forks" is two categories.
# Why: the date is formatted with local methods, and no transformer escapes text.
# Wrong for a user: an outage or a maintenance at noon UTC is nine hours off for all readers outside Tokyo; the same feed made on
#   another machine says another hour. 10 in one line and 20 in the next are 1020.
# Instead: addProp('DTSTART', '20261101T120000Z', {}, true), with text escaped by hand; or ical-generator.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json && npm i --silent --no-audit --no-fund --ignore-scripts ics-js@0.10.2 ical.js@2.2.1 >/dev/null
cat > write.cjs <<'JS'
const { VCALENDAR, VEVENT } = require('ics-js')
const calendar = new VCALENDAR(), event = new VEVENT(), noon = new Date('2026-11-01T12:00:00Z')
calendar.addProp('VERSION', 2); calendar.addProp('PRODID', 'x')
for (const [name, value] of [['UID', '1'], ['DTSTAMP', noon], ['DTSTART', noon], ['DESCRIPTION', 'from 10\n20 of them'], ['CATEGORIES', ['outage', 'stars, forks']]]) event.addProp(name, value)
calendar.addComponent(event); process.stdout.write(calendar.toString())
JS
TZ=UTC node write.cjs > utc.ics; TZ=Asia/Tokyo node write.cjs > tokyo.ics
cat > read.mjs <<'JS'
import fs from 'node:fs'
import ICAL from 'ical.js'
for (const n of ['ics-js', 'ical.js']) console.log(n, JSON.parse(fs.readFileSync(`node_modules/${n}/package.json`)).version)
const seen = {}
for (const place of ['utc', 'tokyo']) {
  const event = new ICAL.Component(ICAL.parse(fs.readFileSync(place + '.ics', 'utf8'))).getFirstSubcomponent('vevent'), start = event.getFirstPropertyValue('dtstart')
  seen[place] = { dtstamp: String(event.getFirstPropertyValue('dtstamp')), dtstart: String(start), zone: start.zone.tzid, description: event.getFirstPropertyValue('description'), categories: event.getFirstProperty('categories').getValues() }
  console.log(place.padEnd(5), JSON.stringify(seen[place]))
}
console.log('expected 2026-11-01T12:00:00Z, UTC, "from 10\\n20 of them", ["outage","stars, forks"] from both')
const { utc, tokyo } = seen
const same = utc.dtstart === '2026-11-01T12:00:00' && tokyo.dtstart === '2026-11-01T21:00:00' && tokyo.dtstamp === tokyo.dtstart && tokyo.zone === 'floating'
  && utc.description === 'from 1020 of them' && utc.categories.join('|') === 'outage|stars| forks'
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node read.mjs
