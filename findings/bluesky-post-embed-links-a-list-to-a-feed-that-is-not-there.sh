#!/usr/bin/env bash
# A post that shows a list, embedded with bluesky-post-embed, leads to the address of a feed with the list's key, which does not exist; and the link of the tag
# "C#dev" leads to the tag "C", that of "50%off" to an address that is none.
#
# What it is: bluesky-post-embed is a custom element and a renderer for servers that shows a Bluesky post on a web page.
# Versions: bluesky-post-embed 1.0.6; react-bluesky-embed 0.5.0, react 18.3.1 (npm) as the second opinion on the list, loopback server.
# What the spec says: lexicon app.bsky.graph.list and app.bsky.feed.generator are two collections, the web app has /profile/DID/lists/KEY for the one and
#   /profile/DID/feed/KEY for the other. facet#tag: tag is any text of up to 64 graphemes. RFC 3986: "#", "?" and "%" in a segment of a path
#   are written with escapes.
# Guess: /profile/DID/lists/KEY, /hashtag/C%23dev and /hashtag/50%25off.
# Seen: /profile/DID/feed/KEY, /hashtag/C#dev, of which "#dev" is a fragment, and /hashtag/50%off, which decodeURIComponent refuses.
# Why: the list uses the function of the feed; the tag is put into the address as it is.
# Wrong for a user: readers of a page find "feed not found" where a list was recommended, and another topic behind a tag.
# Instead: rewrite these links in the output of renderPost(); the view of the list has its at:// address.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts bluesky-post-embed@1.0.6 react-bluesky-embed@0.5.0 react@18.3.1 react-dom@18.3.1 2>/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fetchPost, renderPost } from 'bluesky-post-embed/core';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { Embed } from './node_modules/react-bluesky-embed/dist/bluesky-theme/embed.js';
for (const name of ['bluesky-post-embed', 'react-bluesky-embed']) console.log(name, JSON.parse(readFileSync(`node_modules/${name}/package.json`)).version);
const did = 'did:plc:' + 'a'.repeat(24), at = '2026-01-01T00:00:00.000Z', cid = 'bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy';
const author = { did, handle: 'alice.example.com', displayName: 'Alice', labels: [] }, list = `at://${did}/app.bsky.graph.list/3mbcdefghij2l`, uri = `at://${did}/app.bsky.feed.post/3mbcdefghij2k`;
const text = '#C#dev #50%off', tag = (byteStart, byteEnd, tag) => ({ index: { byteStart, byteEnd }, features: [{ $type: 'app.bsky.richtext.facet#tag', tag }] });
const thread = { $type: 'app.bsky.feed.defs#threadViewPost', replies: [], post: {
  $type: 'app.bsky.feed.defs#postView', uri, cid, author, labels: [], indexedAt: at, likeCount: 0, replyCount: 0, repostCount: 0, quoteCount: 0,
  record: { $type: 'app.bsky.feed.post', text, createdAt: at, facets: [tag(0, 6, 'C#dev'), tag(7, 14, '50%off')], embed: { $type: 'app.bsky.embed.record', record: { uri: list, cid } } },
  embed: { $type: 'app.bsky.embed.record#view', record: { $type: 'app.bsky.graph.defs#listView', uri: list, cid, name: 'Readers', purpose: 'app.bsky.graph.defs#curatelist', creator: author, indexedAt: at } } } };
const srv = createServer((q, s) => s.setHeader('content-type', 'application/json').end(JSON.stringify({ thread }))).listen(0, '127.0.0.1', async () => {
  const html = renderPost(await fetchPost({ uri, serviceUri: `http://127.0.0.1:${srv.address().port}` })); srv.close();
  const links = (h) => [...h.matchAll(/href="([^"]*3mbcdefghij2l[^"]*|[^"]*tag\/[^"]*)"/g)].map((m) => m[1]);
  const second = links(renderToStaticMarkup(createElement(Embed, { content: thread.post.embed, labels: [] })));
  const web = 'https://bsky.app', expected = ['C#dev', '50%off'].map((t) => `${web}/hashtag/${encodeURIComponent(t)}`).concat(`${web}/profile/${did}/lists/3mbcdefghij2l`);
  console.log('expected', expected); console.log('observed', links(html)); console.log('react-bluesky-embed on the list', second.filter((l) => l.includes('2l')));
  console.log('a browser asks for', links(html).map((l) => new URL(l).pathname));
  const same = links(html).join() === [`${web}/hashtag/C#dev`, `${web}/hashtag/50%off`, `${web}/profile/${did}/feed/3mbcdefghij2l`].join() && second.some((l) => l.includes('/lists/'));
  console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1);
});
JS
timeout 60 node run.mjs
