#!/usr/bin/env bash
# jsonfeed-to-atom writes the next page of a feed at json.example.org as a page of xml.example.org: in next_url it replaces the first
# "json" wherever it stands, in the name of the host, a folder or a cursor, and the option for addresses does not reach it.
#
# What it is: turns a JSON Feed into an Atom feed; used by sites that write JSON Feed and offer Atom beside it.
# Versions: jsonfeed-to-atom 1.2.5; feedsmith 3.0.1 for comparison, which is given the same addresses (npm).
# What the spec says: JSON Feed 1: next_url is the address of a feed with the next items. RFC 5005, 3: the link "next" of an Atom feed
#   refers to the next document of the series. The README shows .json becoming .xml in its example and names the option feedURLFn, a
#   function that gives the address of the Atom feed.
# Guess: the ending .json of the path becomes .xml, as for the feed itself (there the pattern is \.json\b), or what feedURLFn says.
# Seen: the host becomes xml.example.org, /json/feed becomes /xml/feed, and in ?after=xjsonz the cursor becomes xxmlz, while the
#   ending .json stays as it is. feedURLFn changes the link "self" and the id, not "next". Without "json" before it, .json is right.
# Why: next_url.replace('json', 'xml') takes the first match of the bare word, and does not call feedURLFn.
# Wrong for a user: an archive that follows the pages of the feed ends after the first one with an error of another server, or
#   reads on from a foreign host or from another place of the list, without an error.
# Instead: leave next_url out of what is converted and add the link to the result.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null; npm i --silent --no-audit --no-fund --ignore-scripts jsonfeed-to-atom@1.2.5 feedsmith@3.0.1 >/dev/null
cat > run.cjs <<'JS'
const toAtom = require('jsonfeed-to-atom'), { generateAtomFeed, parseAtomFeed } = require('feedsmith')
console.log('jsonfeed-to-atom', require('jsonfeed-to-atom/package.json').version)
const link = (xml, rel) => parseAtomFeed(xml).links.find(l => l.rel === rel).href
const convert = (next_url, opts) => toAtom({
  version: 'https://jsonfeed.org/version/1', title: 'Hours', feed_url: 'https://feeds.example.org/hours.json', next_url,
  items: [{ id: '1', content_text: 'calm', date_published: '2026-11-01T12:00:00Z' }]
}, opts)
const plain = href => generateAtomFeed({ id: 'urn:x:1', title: { value: 'Hours' }, updated: new Date(0), links: [{ rel: 'next', href }], entries: [] })
const cases = {
  'https://feeds.example.org/hours-2.json': 'https://feeds.example.org/hours-2.xml',
  'https://json.example.org/hours-2.json': 'https://xml.example.org/hours-2.json',
  'https://feeds.example.org/json/hours?page=2': 'https://feeds.example.org/xml/hours?page=2',
  'https://feeds.example.org/hours?after=xjsonz': 'https://feeds.example.org/hours?after=xxmlz'
}
let same = true
for (const [next, stated] of Object.entries(cases)) {
  const got = link(convert(next), 'next')
  console.log(next, '\n  ->', got, got === stated ? '' : 'CHANGED')
  same &&= got === stated && link(plain(next), 'next') === next
}
const option = convert('https://json.example.org/hours-2.json', { feedURLFn: url => url + '?form=atom' })
console.log('with feedURLFn: self', link(option, 'self'), 'next', link(option, 'next'))
same &&= link(option, 'self') === 'https://feeds.example.org/hours.json?form=atom' && link(option, 'next') === 'https://xml.example.org/hours-2.json'
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.cjs
