#!/usr/bin/env bash
# feedsmith writes an id that has an ampersand in it with a line break and blanks before and after it, which Atom forbids; a reader
# that compares ids as they are sees another entry. The same happens to a table of CSV: it begins with an empty line and blanks.
#
# What it is: reads and writes RSS, Atom and JSON Feed.
# Versions: feedsmith 3.0.1; feed 5.1.0 writes the same feed for comparison, rss-parser 3.13.0 and htmlparser2 10.0.0 read (npm).
# What the spec says: RFC 4287, 2: there must not be any white space in a date or in any IRI; it warns that some programs insert white
#   space around values and so emit invalid documents. 4.2.6.1: ids are compared character by character, as if they were no IRIs.
# Guess: <id>https://example.org/hours?kind=stars&amp;hour=12</id>, as for the link beside it; and the CSV as it was given.
# Seen: the id stands alone between two lines, as CDATA: line break, six blanks, the address, line break, four blanks. So do texts
#   with & or < in titles and contents, and link and guid in RSS. An id without & and the attribute href are right. rss-parser
#   gives the id and the CSV with the blanks; htmlparser2 takes them off, and feedsmith reads its own file back trimmed.
# Why: what needs escaping becomes a CDATA node, and the formatting of the output sets each child node on a line of its own. The last
#   line break of the CSV is trimmed off.
# Wrong for a user: all entries appear as new on the day a site moves to or from another writer, or an id gets its first &. The
#   first row of the table is empty, so a parser of CSV takes a blank line for the header.
# Instead: ids without & (tag: or urn:uuid:), or remove the blanks around <![CDATA[ from the result.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts feedsmith@3.0.1 feed@5.1.0 rss-parser@3.13.0 htmlparser2@10.0.0 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { generateAtomFeed, generateRssFeed, parseAtomFeed } from 'feedsmith'; import { Feed } from 'feed'
import Reader from 'rss-parser'; import { parseFeed } from 'htmlparser2'
console.log(['feedsmith', 'feed', 'rss-parser', 'htmlparser2'].map(p => p + ' ' + JSON.parse(readFileSync(`node_modules/${p}/package.json`)).version).join(', '))
const id = 'https://example.org/hours?kind=stars&hour=12', plain = 'https://example.org/hours/11', csv = 'hour,note\n12,"R & D"\n'
const date = new Date('2026-11-01T12:00:00Z'), title = { value: 'Hour' }
const atom = generateAtomFeed({ id: plain, title, updated: date, entries: [id, plain].map(id => (
  { id, title, updated: date, links: [{ href: id }], content: { type: 'text/csv', value: csv } })) })
console.log(atom.slice(atom.indexOf('<entry>'), atom.indexOf('</entry>')))
const rss = generateRssFeed({ title: 'Hours', link: plain, description: 'd', items: [{ title: 'Hour', link: id, guid: { value: id } }] })
const other = new Feed({ id: plain, title: 'Hours', updated: date }); other.addItem({ title: 'Hour', id, link: id, date, content: csv })
const blank = '\n      ' + id + '\n    '
const ids = async xml => (await new Reader().parseString(xml)).items.map(i => i.id ?? i.guid)
const seen = await ids(atom); console.log('rss-parser has the ids', JSON.stringify(seen))
const table = (await new Reader().parseString(atom)).items[0].content; console.log('rss-parser has the table', JSON.stringify(table))
const fromOther = await ids(other.atom1()); console.log('ids of the feed written by feed', JSON.stringify(fromOther))
const fromRss = rss.match(/<guid>([^]*?)<\/guid>/)[1]; console.log('guid in RSS', JSON.stringify(fromRss))
const same = seen[0] === blank && seen[1] === plain && fromOther[0] === id && parseFeed(atom, { xmlMode: true }).items[0].id === id
  && parseAtomFeed(atom).entries[0].id === id && table.startsWith('\n      hour,note') && /^\s+<!\[CDATA\[https.*\s+$/.test(fromRss)
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
