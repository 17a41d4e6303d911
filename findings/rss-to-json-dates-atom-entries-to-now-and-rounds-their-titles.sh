#!/usr/bin/env bash
# rss-to-json dates every entry of an Atom feed to the moment at which it is read, makes numbers of titles ("1.10" is 1.1, "0042" is
# 42), gives a list in the place of the link where an entry has two, and no id for a guid without attributes.
#
# What it is: an npm module that reads Atom and RSS and "normalizes" them to one form of JSON.
# Versions: rss-to-json 2.1.1, rss-parser 3.13.0 for comparison (npm).
# What the spec says: RFC 4287, 4.2.9: published is the time of an early event in the life of the entry; 4.2.14: a title is text;
#   4.2.7: an entry may have several links. RSS 2.0: title and guid are strings, and a guid needs no attribute.
# Guess: published is 2026-01-02 and 2026-01-03 and created beside it; the titles are 1.1 and 1.10; the link is the page.
# Seen: published is the time of the call, another one at the next; created is updated. Both titles are the number 1.1, and those
#   of the RSS feed, 0042 and 42, both the number 42; its items have no id. The link of the entry with an enclosure is a list of
#   objects. The dates of RSS are right.
# Why: for published it looks for <created>, which is of Atom 0.3, and pubDate, then takes Date.now(); the XML reader beneath makes
#   numbers of text that looks like one. An issue of 2022 (46) shows the dates.
# Wrong for a user: all posts of all time are of today and sort above the real ones of today, at every visit; the release 1.10 is 1.1,
#   and a reader that keeps items by their id keeps one.
# Instead: rss-parser.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json && npm install --silent --no-audit --no-fund --ignore-scripts rss-to-json@2.1.1 rss-parser@3.13.0 >/dev/null
cat > run.cjs <<'JS'
const http = require('node:http'), { parse } = require('rss-to-json'), Parser = require('rss-parser')
for (const p of ['rss-to-json', 'rss-parser']) console.log(p, require(`./node_modules/${p}/package.json`).version)
const entry = (n, title, more) => `<entry><id>urn:x:${n}</id><title>${title}</title><link href="https://example.com/${n}"/>${more}<published>2026-01-0${n}T00:00:00Z</published><updated>2026-02-01T00:00:00Z</updated></entry>`
const pages = {
  '/atom': `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><id>urn:x</id><title>Releases</title><updated>2026-02-01T00:00:00Z</updated>${entry(2, '1.1', '')}${entry(3, '1.10', '<link rel="enclosure" href="https://example.com/3.zip"/>')}</feed>`,
  '/rss': `<?xml version="1.0"?><rss version="2.0"><channel><title>Hours</title><link>https://example.com</link><description>d</description>${['0042', '42'].map((n) => `<item><title>${n}</title><guid>${n}</guid><pubDate>Fri, 02 Jan 2026 00:00:00 GMT</pubDate></item>`).join('')}</channel></rss>`,
}
const server = http.createServer((request, response) => response.setHeader('Content-Type', 'application/xml').end(pages[request.url])).listen(0, '127.0.0.1', async () => {
  const base = `http://127.0.0.1:${server.address().port}`, before = Date.now(), day = (t) => t >= before && t <= Date.now() ? 'the time of the call' : new Date(t).toISOString().slice(0, 10)
  const atom = (await parse(base + '/atom')).items, rss = (await parse(base + '/rss')).items
  const good = (await new Parser().parseURL(base + '/atom')).items, goodRss = (await new Parser().parseURL(base + '/rss')).items
  const rows = [
    ['published', atom.map((i) => day(i.published)), good.map((i) => day(Date.parse(i.pubDate))), '["the time of the call","the time of the call"]'],
    ['titles', atom.map((i) => i.title), good.map((i) => i.title), '[1.1,1.1]'],
    ['link of the second', Array.isArray(atom[1].link) ? 'a list' : atom[1].link, good[1].link, '"a list"'],
    ['titles in RSS', rss.map((i) => i.title), goodRss.map((i) => i.title), '[42,42]'],
    ['ids in RSS', rss.map((i) => i.id), goodRss.map((i) => i.guid), '[null,null]'],
    ['RSS pubDate', rss.map((i) => day(i.published)), goodRss.map((i) => day(Date.parse(i.pubDate))), '["2026-01-02","2026-01-02"]']]
  for (const [name, seen, other] of rows) console.log(`${name}: expected (rss-parser) ${JSON.stringify(other)}; observed ${JSON.stringify(seen)}`)
  const same = rows.every(([, seen, , stated]) => JSON.stringify(seen) === stated) && JSON.stringify(good.map((i) => i.title)) === '["1.1","1.10"]'
  console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
})
JS
node run.cjs
