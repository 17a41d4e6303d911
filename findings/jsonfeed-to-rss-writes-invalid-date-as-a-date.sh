#!/usr/bin/env bash
# jsonfeed-to-rss writes <pubDate>Invalid Date</pubDate> for each item that has a time of change but none of publication, and gives a
# channel the time of an older entry when times are written with the offset of a place.
#
# What it is: turns a JSON Feed into RSS 2.0; jsonfeed-to-atom, by the same author, into Atom.
# Versions: jsonfeed-to-rss 3.0.8, jsonfeed-to-atom 1.2.5, rss-parser 3.13.0 as a reader (npm).
# What the spec says: JSON Feed 1: date_published and date_modified are both optional and in RFC 3339, with -05:00 in the example. RSS
#   2.0.11: pubDate is an optional element of an item, and dates are as in RFC 822. RFC 3339, 5.1: times compare as text only with
#   the same offset and the same number of digits. RFC 4287, 4.2.15: updated is the most recent instant of a significant change.
# Guess: no pubDate, or the time of the change; and 06:10 UTC, the newest entry's time, for the channel and the Atom feed.
# Seen: the words Invalid Date, with exit code 0; rss-parser then has no date of its own for the item. Of 01:30-04:00 and 01:10-05:00
#   in the night the clocks go back, both take 01:30-04:00 (05:30 UTC) for the later one, 40 minutes too early; and so for 12:00:00Z
#   against 12:00:00.500Z. An item with date_published is right, and so are the times of one offset.
# Why: new Date(undefined).toUTCString() is the text "Invalid Date"; the most recent time is found with > on the texts.
# Wrong for a user: readers sort such items first, last or by the hour of arrival; a reader that asks only whether the feed's
#   time moved on misses the newest entry.
# Instead: give every item a date_published, and write times in UTC with the same digits.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts jsonfeed-to-rss@3.0.8 jsonfeed-to-atom@1.2.5 rss-parser@3.13.0 >/dev/null
cat > run.cjs <<'JS'
const toRss = require('jsonfeed-to-rss'), toAtom = require('jsonfeed-to-atom'), Reader = require('rss-parser')
console.log(['jsonfeed-to-rss', 'jsonfeed-to-atom', 'rss-parser'].map(p => p + ' ' + require(p + '/package.json').version).join(', '))
const feed = (...items) => ({
  version: 'https://jsonfeed.org/version/1', title: 'Hours', home_page_url: 'https://example.org/', feed_url: 'https://example.org/feed.json',
  items: items.map((times, i) => ({ id: String(i), title: 'Hour ' + i, content_text: 'calm', ...times }))
})
const dates = rss => [...rss.matchAll(/<pubDate>(.*?)<\/pubDate>/g)].map(m => m[1])
const updated = atom => atom.match(/<updated>(.*?)<\/updated>/)[1]
;(async () => {
  const rss = toRss(feed({ date_modified: '2026-11-01T06:00:00Z' }, { date_published: '2026-11-01T05:00:00Z' }, {}))
  console.log('changed only, published only, neither:', dates(rss).slice(1).join(' | '))
  const read = (await new Reader().parseString(rss)).items.map(i => i.isoDate ?? 'no date'); console.log('the reader has:', read.join(' | '))
  const night = feed({ date_published: '2026-11-01T01:10:00-05:00' }, { date_published: '2026-11-01T01:30:00-04:00' })
  const half = feed({ date_published: '2026-11-01T12:00:00.500Z' }, { date_published: '2026-11-01T12:00:00Z' })
  const newest = f => f.items.map(i => new Date(i.date_published)).sort((a, b) => b - a)[0]
  for (const f of [night, half]) console.log('newest', newest(f).toISOString(), ' RSS channel', dates(toRss(f))[0], ' Atom', updated(toAtom(f)))
  const same = dates(rss).slice(1).join() === 'Invalid Date,Sun, 01 Nov 2026 05:00:00 GMT,Invalid Date' && read[0] === 'no date'
    && newest(night).toISOString() === '2026-11-01T06:10:00.000Z' && dates(toRss(night))[0] === 'Sun, 01 Nov 2026 05:30:00 GMT'
    && updated(toAtom(night)) === '2026-11-01T01:30:00-04:00' && updated(toAtom(half)) === '2026-11-01T12:00:00Z'
  console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
})()
JS
node run.cjs
