#!/usr/bin/env bash
# @extractus/feed-extractor gives the time of the last change of an Atom entry as "published", although the
# entry says when it was published, and the first link of the entry as its address, whatever its rel.
#
# What it is: @extractus/feed-extractor turns RSS, Atom and JSON feeds into one plain form.
# Versions: @extractus/feed-extractor 8.0.3, @rowanmanning/feed-parser 2.1.5 for comparison (npm).
# What the spec says: RFC 4287, 4.2.9 and 4.2.15: published is an instant early in the life of an entry,
#   updated the most recent significant change. 4.2.7.2: a link without rel, or with rel="alternate", is the
#   entry itself; "enclosure" is a related resource that may be large, "edit" (RFC 5023) the member to change.
# Guess: published 21:00 for an entry published at 21:00 and put right at 23:40; link = the alternate link.
# Seen: published 23:40; the address is that of the CSV enclosure, or of the edit link, where these come
#   before the alternate link. A JSON Feed item with the same dates is right (21:00). Where the alternate link
#   comes first, the address is right and the time is not. @rowanmanning/feed-parser reads each of the Atom
#   entries right.
# Why: for Atom the date is the first of updated, modified, published, issued that is there; of several
#   links the first is taken and rel is not looked at.
# Wrong time and address for a user: an hour corrected later moves to the hour of its correction, a feed read
#   again reorders itself, and a click on a headline downloads a table. No error.
# Instead: fetch the raw fields with getExtraEntryFields, or use another parser.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund @extractus/feed-extractor@8.0.3 @rowanmanning/feed-parser@2.1.5 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { extractFromXml, extractFromJson } from '@extractus/feed-extractor'
import { parseFeed } from '@rowanmanning/feed-parser'
for (const n of ['@extractus/feed-extractor', '@rowanmanning/feed-parser']) console.log(n, JSON.parse(readFileSync(`node_modules/${n}/package.json`)).version)
const site = 'https://facts.example'
const PUBLISHED = '2026-11-29T21:00:00.000Z', UPDATED = '2026-11-29T23:40:00.000Z', PAGE = site + '/hour/21'
const page = `<link rel="alternate" type="text/html" href="${PAGE}"/>`, bare = `<link href="${PAGE}"/>`
const csv = `<link rel="enclosure" type="text/csv" length="90" href="${site}/21.csv"/>`
const edit = `<link rel="edit" href="${site}/edit/21"/>`
const atom = (links) => `<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom">
  <id>tag:facts.example,2026:feed</id><title>Hours</title><updated>2026-11-29T23:40:00Z</updated><author><name>Facts</name></author>
  <entry><id>tag:facts.example,2026:21</id><title>21:00</title><published>2026-11-29T21:00:00Z</published>
  <updated>2026-11-29T23:40:00Z</updated>${links}<summary>40 events</summary></entry></feed>`
let same = true
for (const [name, links, seen] of [['alternate first', page + csv, PAGE], ['enclosure first', csv + page, site + '/21.csv'],
  ['edit first, then no rel', edit + bare, site + '/edit/21']]) {
  const [got] = extractFromXml(atom(links)).entries
  const [other] = parseFeed(atom(links)).items
  console.log(name + ':\n  expected', PUBLISHED, PAGE, '\n  observed', got.published, got.link)
  same &&= got.published === UPDATED && got.link === seen
  same &&= other.published.toISOString() === PUBLISHED && other.url === PAGE
}
const json = extractFromJson({ version: 'https://jsonfeed.org/version/1.1', title: 'Hours', items: [
  { id: '21', url: PAGE, content_text: '40 events', date_published: PUBLISHED, date_modified: UPDATED }] }).entries[0]
console.log('JSON Feed:\n  expected', PUBLISHED, PAGE, '\n  observed', json.published, json.link)
same &&= json.published === PUBLISHED && json.link === PAGE
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
