#!/usr/bin/env bash
# ical-js-parser keeps the last of several CATEGORIES lines, drops the language of a text and makes a property E of it, and leaves the
# escapes in: what it writes back is another event.
#
# What it is: turns iCalendar into JSON (toJSON) and back (toString), with an interface made for programs of calendars (npm).
# Versions: ical-js-parser 0.7.4, ical.js 2.2.1 for comparison (npm).
# What the spec says: RFC 5545, 3.6.1: categories, comment, contact and others may occur more than once in an event; 3.2.10: LANGUAGE is
#   a parameter of SUMMARY and other texts; 3.3.11: "\," stands for a comma and "\n" for a line break; 3.1: a content line begins with a name.
# Guess: both categories, the summary "Stars, down" in English, and after toString() the same event.
# Seen: categories is "forks" alone; SUMMARY;LANGUAGE=en gives a property "e" with the value "EN", and toString() writes a line "E:EN".
#   summary is "Stars\, down", with the backslash. A comment before another is lost in the same way. No error, no warning.
# Why: a property is put under its name in an object, and only ATTENDEE, ATTACH and EXDATE are kept as lists.
# Wrong for a user: of an incident in two categories one is gone after a program has read and saved the feed, filters for it find
#   nothing, and readers show the backslash.
# Instead: ical.js.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json && npm i --silent --no-audit --no-fund --ignore-scripts ical-js-parser@0.7.4 ical.js@2.2.1 >/dev/null
cat > run.mjs <<'JS'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import ICAL from 'ical.js'
const parser = createRequire(import.meta.url)('ical-js-parser').default
for (const n of ['ical-js-parser', 'ical.js']) console.log(n, JSON.parse(fs.readFileSync(`node_modules/${n}/package.json`)).version)
const text = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//x//y//EN', 'BEGIN:VEVENT', 'UID:1@example.org', 'DTSTAMP:20261101T000000Z', 'DTSTART:20261101T120000Z', 'DTEND:20261101T130000Z',
  'SUMMARY;LANGUAGE=en:Stars\\, down', 'CATEGORIES:stars', 'CATEGORIES:forks', 'COMMENT:first', 'COMMENT:second', 'END:VEVENT', 'END:VCALENDAR', ''].join('\r\n')
const of = (ics) => {
  const event = new ICAL.Component(ICAL.parse(ics)).getFirstSubcomponent('vevent'), all = (name) => event.getAllProperties(name).flatMap(p => p.getValues())
  return { summary: event.getFirstPropertyValue('summary'), language: event.getFirstProperty('summary').getParameter('language'), categories: all('categories'), comment: all('comment') }
}
const json = parser.toJSON(text), event = json.events[0], back = parser.toString(json)
console.log('expected ', JSON.stringify(of(text)))
console.log('observed ', JSON.stringify({ summary: event.summary, categories: event.categories, comment: event.comment, e: event.e }), 'errors', json.errors.length, 'warnings', json.warnings?.length)
console.log('written back:', back.split(/\r?\n/).filter(l => /^(SUMMARY|CATEGORIES|COMMENT|E:|:)/.test(l)).join(' / '))
const same = of(text).categories.join() === 'stars,forks' && event.categories === 'forks' && event.comment === 'second' && event.e === 'EN' && event.summary === 'Stars\\, down'
  && json.errors.length === 0 && /^E:EN\r?$/m.test(back) && !/LANGUAGE/.test(back) && !/CATEGORIES:stars/.test(back)
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
