#!/usr/bin/env bash
# Three feed readers take the wrong link of an Atom entry for its page: htmlparser2 and brutefeedparser whichever comes
# first, rss-parser too unless the right one says rel="alternate". They hand out the address for editing or of a data file.
#
# What it is: rss-parser and htmlparser2 (its parseFeed, from domutils) for npm and brutefeedparser for Python read feeds.
# Versions: rss-parser 3.13.0, htmlparser2 12.0.0 with domutils 4.0.2 (npm); brutefeedparser 1.0.0, feedparser 6.0.14 for
#   comparison (PyPI).
# What the spec says: RFC 4287, 4.2.7.2: a link without rel is one of relation "alternate", which is the page of the entry;
#   "self" is the feed's own address. RFC 5023, 11.1: "edit" is the address at which a member is changed and deleted.
#   The order of the links has no meaning (RFC 4287, 4.1.2).
# Guess: https://hours.example/page in all cases.
# Seen: with an edit link, an enclosure or a self link before it, the page is not found: all three return the first
#   address. With rel="alternate" written out rss-parser is right; the other two are not. For the feed as a whole
#   htmlparser2 returns the address of the XML itself as its site. With the page first all are right.
# Why: rss-parser looks for the word "alternate" and falls back on the first link; the others do not read rel.
# Wrong for a user: a list of news whose entries open a form that asks for a password, or load a whole data file,
#   in feeds of servers that write the edit link first. The feed looks well formed everywhere else.
# Instead: feedparser; a feed for such readers has the page first and writes rel="alternate".
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund rss-parser@3.13.0 htmlparser2@12.0.0 domutils@4.0.2 >/dev/null
python3 -m venv v
v/bin/pip -q --disable-pip-version-check install --no-compile brutefeedparser==1.0.0 feedparser==6.0.14 >/dev/null
cat > make.mjs <<'JS'
import { writeFileSync } from 'node:fs'
const page = '<link href="https://hours.example/page"/>'
const cases = {
  'page, edit': `${page}<link rel="edit" href="https://hours.example/edit"/>`,
  'edit, page': `<link rel="edit" href="https://hours.example/edit"/>${page}`,
  'enclosure, page': `<link rel="enclosure" type="text/csv" length="9" href="https://hours.example/data.csv"/>${page}`,
  'edit, alternate': '<link rel="edit" href="https://hours.example/edit"/><link rel="alternate" href="https://hours.example/page"/>',
}
const feed = (links) => `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:example:feed</id><title>Hours</title><updated>2026-11-29T12:00:00Z</updated>
<author><name>A</name></author><link rel="self" href="https://hours.example/feed.atom"/><link href="https://hours.example/"/>
<entry><id>urn:example:1</id><title>One</title><updated>2026-11-29T12:00:00Z</updated>${links}<content>x</content></entry></feed>`
writeFileSync('feeds.json', JSON.stringify(Object.entries(cases).map(([name, links]) => [name, feed(links)])))
JS
node make.mjs
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { parseFeed } from 'htmlparser2'
import RSSParser from 'rss-parser'
for (const [name, text] of JSON.parse(readFileSync('feeds.json', 'utf8'))) {
  const [a, b] = [await new RSSParser().parseString(text), parseFeed(text)]
  console.log(`rss-parser | ${name} | ${a.items[0].link} | ${a.link}`)
  console.log(`htmlparser2 | ${name} | ${b.items[0].link} | ${b.link}`)
}
JS
cat > run.py <<'PY'
import json
import feedparser
from brutefeedparser import BruteFeedParser
for name, text in json.load(open('feeds.json')):
    for reader, read in (('brutefeedparser', BruteFeedParser.parse), ('feedparser', feedparser.parse)):
        feed = read(text)
        print(f'{reader} | {name} | {feed.entries[0].link} | {feed.feed.link}')
PY
node run.mjs > all.txt
v/bin/python -W ignore run.py >> all.txt
sort all.txt | sed 's#https://hours.example/##g' > seen.txt
cat > stated.txt <<'STATED'
brutefeedparser | edit, alternate | edit | feed.atom
brutefeedparser | edit, page | edit | feed.atom
brutefeedparser | enclosure, page | data.csv | feed.atom
brutefeedparser | page, edit | page | feed.atom
feedparser | edit, alternate | page | 
feedparser | edit, page | page | 
feedparser | enclosure, page | page | 
feedparser | page, edit | page | 
htmlparser2 | edit, alternate | edit | feed.atom
htmlparser2 | edit, page | edit | feed.atom
htmlparser2 | enclosure, page | data.csv | feed.atom
htmlparser2 | page, edit | page | feed.atom
rss-parser | edit, alternate | page | feed.atom
rss-parser | edit, page | edit | feed.atom
rss-parser | enclosure, page | data.csv | feed.atom
rss-parser | page, edit | page | feed.atom
STATED
echo 'reader | links of the entry in their order | link of the entry: expected "page" | link of the feed: expected "" (the site)'
cat seen.txt
if diff <(LC_ALL=C sort seen.txt) <(LC_ALL=C sort stated.txt); then echo 'still as stated'; else echo 'changed'; exit 1; fi
