#!/usr/bin/env bash
# bsky-react-post puts "?ref_src=embed" behind each link that leads to Bluesky, also where there is a query or a fragment already: a post's link to the
# search for "rain" searches for "rain?ref_src=embed". Tags go into addresses unencoded: C# leads to the tag C, AC/DC to a page that is no tag's.
#
# What it is: React components that show a Bluesky post in any page.
# Versions: bsky-react-post 0.1.7, react and react-dom 18.3.1, swr 2.3.6 (npm).
# What the spec says: RFC 3986 sections 3.3 to 3.5: the first "?" begins the query, "#" the fragment, "/" divides the path; in data they are
#   percent-encoded. Lexicon app.bsky.richtext.facet#link: uri is the address that the words lead to; #tag: any text of up to 64 graphemes.
# Guess: the address of the link is kept, or ref_src is added as one more parameter; the last part of each tag's address, decoded, is the tag.
# Seen: q is "rain?ref_src=embed"; a link to a part of a page has the fragment "part?ref_src=embed"; the tags' addresses have the last parts
#   "C" and "DC". Links to other sites are left as they are.
# Wrong for a user: readers of the page are sent to an empty search or to another tag than the author of the post named; nothing in the page tells.
# Instead: use your own component with PostContent's segments, or rewrite the href of <a> before it is shown.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts bsky-react-post@0.1.7 react@18.3.1 react-dom@18.3.1 swr@2.3.6
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { PostContent } from 'bsky-react-post';
console.log('bsky-react-post', JSON.parse(readFileSync('node_modules/bsky-react-post/package.json')).version);
const link = (uri) => ({ $type: 'app.bsky.richtext.facet#link', uri }), tag = (tag) => ({ $type: 'app.bsky.richtext.facet#tag', tag });
const hrefs = [['search', link('https://bsky.app/search?q=rain')], ['part', link('https://bsky.app/about/support/tos#part')], ['#C#', tag('C#')], ['#AC/DC', tag('AC/DC')],
  ['#rain', tag('rain')], ['other', link('https://example.com/search?q=rain')]].map(([text, feature]) => {
  const record = { $type: 'app.bsky.feed.post', text, createdAt: '2026-01-01T00:00:00.000Z', facets: [{ index: { byteStart: 0, byteEnd: text.length }, features: [feature] }] };
  const url = new URL(renderToStaticMarkup(createElement(PostContent, { record })).match(/href="([^"]*)"/)[1].replaceAll('&amp;', '&'));
  const seen = { q: url.searchParams.get('q'), fragment: url.hash, last: decodeURIComponent(url.pathname.split('/').pop()) };
  console.log((feature.uri ?? 'tag ' + feature.tag).padEnd(40), '->', url.href, JSON.stringify(seen)); return seen;
});
const [search, part, c, acdc, rain, other] = hrefs;
const same = search.q === 'rain?ref_src=embed' && part.fragment === '#part?ref_src=embed' && c.last === 'C' && acdc.last === 'DC' && rain.last === 'rain' && other.q === 'rain';
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1);
JS
node run.mjs
