#!/usr/bin/env bash
# get-sitemap-links hands out addresses with "&amp;" in them, and takes a sitemap whose first page
# ends in .xml for an index: the pages are gone, links out of that page take their place.
#
# What it is: an npm function that lists all addresses of a sitemap or sitemap index.
# Versions: get-sitemap-links 1.1.0; sitemapper 4.1.6 (npm) to compare with.
# What the spec says: sitemaps.org, "Entity escaping": every address has its "&" written as
#   &amp;, as in any XML; an index is a <sitemapindex>, a list of pages a <urlset>, and what the
#   addresses end in says nothing.
# Guess: the addresses that were put into the sitemap, four of them.
# Seen: the text between <loc> and </loc> is not read as XML: ?from=1&amp;to=2 has a parameter
#   "amp;to" when fetched. With a feed as the first of the pages it fetches all of them as if they
#   were sitemaps and returns what it finds in <loc> there: here nothing, [], like an empty site.
# Wrong claim for a user: a crawler or link checker reports broken pages (or the default range of
#   hours under another name), or "0 pages" for a site with four.
# Instead: sitemapper.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null && npm i -s --no-audit --no-fund --ignore-scripts get-sitemap-links@1.1.0 sitemapper@4.1.6
cat > run.mjs <<'JS'
import fs from 'node:fs'
import http from 'node:http'
import getLinksModule from 'get-sitemap-links'
import Sitemapper from 'sitemapper'
const getLinks = getLinksModule.default ?? getLinksModule
console.log(['get-sitemap-links', 'sitemapper'].map(p => p + ' ' + JSON.parse(fs.readFileSync(`node_modules/${p}/package.json`)).version).join(', '))
const paths = { '/a.xml': ['/', '/stars?from=1&to=2', '/about', '/feed.xml'], '/b.xml': ['/feed.xml', '/', '/stars?from=1&to=2', '/about'] }
let asked = []
const server = http.createServer((q, s) => {
  asked.push(q.url)
  const base = 'http://' + q.headers.host, list = paths[q.url]
  s.setHeader('Content-Type', 'application/xml')
  if (!list) return s.end('<feed xmlns="http://www.w3.org/2005/Atom"/>')
  s.end('<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n' +
    list.map(p => `<url><loc>${(base + p).replaceAll('&', '&amp;')}</loc></url>`).join('\n') + '\n</urlset>\n')
}).listen(0, '127.0.0.1', async () => {
  const base = `http://127.0.0.1:${server.address().port}`, got = {}
  for (const map of ['/a.xml', '/b.xml']) {
    const strip = a => JSON.stringify(a.map(u => u.replace(base, '')))
    const other = strip((await new Sitemapper({ url: base + map }).fetch()).sites)
    asked = []
    got[map] = [strip(await getLinks(base + map)), other, asked.length]
    console.log(map, 'expected  ', JSON.stringify(paths[map]), '\n       observed  ', got[map][0], ' requests', got[map][2], '\n       sitemapper', other)
  }
  const same = got['/a.xml'][0] === '["/","/stars?from=1&amp;to=2","/about","/feed.xml"]' && got['/b.xml'][0] === '[]' && got['/b.xml'][2] === 5 &&
    Object.keys(paths).every(m => got[m][1] === JSON.stringify(paths[m]))
  console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
})
JS
node run.mjs
