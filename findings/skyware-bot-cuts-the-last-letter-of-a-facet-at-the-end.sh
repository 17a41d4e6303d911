#!/usr/bin/env bash
# In @skyware/bot a facet that ends with the text of its post loses its last letter: the span of the tag #Solingen at the end of a
# post is "#Solinge", and a post that is one linked letter has an empty one.
#
# What it is: @skyware/bot is a framework for Bluesky bots; post.facets[n].span and .index tell which words a facet covers.
# Versions: @skyware/bot 0.3.12, @atcute/bluesky-richtext-segmenter 3.0.2 as the second opinion (npm).
# What the docs say: span: "The span of text this facet applies to"; index.end: "The index of the first character excluded from the
#   facet". Lexicon app.bsky.richtext.facet#byteSlice: byteEnd is exclusive, so it is the length of the text for a facet at its end.
# Guess: "#Solingen" for both posts, and end = 22, the length of the first text.
# Seen: "#Solinge" and end = 21 where the tag is last; right where anything follows it, be it a full stop. To find the place of byte n
#   the text is decoded up to byte n + 1 and one character is taken off; at the end of the text there is no byte n + 1.
# Wrong for a user: tags and links mostly stand at the end of a post. A bot that counts or answers by span knows the towns Solinge
#   and Bon; a bot that replaces facet by facet (index.start to index.end) leaves a letter behind.
# Instead: use features[0].tag or .uri, or slice the UTF-8 bytes by facet.byteIndex.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @skyware/bot@0.3.12 @atcute/bluesky-richtext-segmenter@3.0.2
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { Bot, Post } from '@skyware/bot';
import { segmentize } from '@atcute/bluesky-richtext-segmenter';
for (const name of ['@skyware/bot', '@atcute/bluesky-richtext-segmenter']) console.log(name, JSON.parse(readFileSync(`node_modules/${name}/package.json`)).version);
const did = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz', bot = new Bot({ emitEvents: false }); // makes no connection
const read = (text, word) => {
  const byteStart = Buffer.from(text.slice(0, text.indexOf(word))).length, byteEnd = byteStart + Buffer.from(word).length;
  const facets = [{ index: { byteStart, byteEnd }, features: [{ $type: 'app.bsky.richtext.facet#tag', tag: word.slice(1) }] }];
  const post = Post.fromView({
    uri: `at://${did}/app.bsky.feed.post/3jzfcijpj2z2a`, cid: 'bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a',
    author: { did, handle: 'weather.example.com' }, indexedAt: '2026-01-01T00:00:00.000Z',
    record: { $type: 'app.bsky.feed.post', text, facets, createdAt: '2026-01-01T00:00:00.000Z' },
  }, bot);
  const { span, index } = post.facets[0], second = segmentize(text, facets).find((s) => s.features).text;
  console.log(JSON.stringify(text), 'bytes', byteStart, 'to', byteEnd, '-> span', JSON.stringify(span), 'end', index.end, '| second opinion', JSON.stringify(second));
  return [span, second];
};
const seen = [read('rain all day #Solingen', '#Solingen'), read('rain all day #Solingen.', '#Solingen'), read('from Zürich to #Bonn', '#Bonn'), read('x', 'x')];
const same = JSON.stringify(seen) === JSON.stringify([['#Solinge', '#Solingen'], ['#Solingen', '#Solingen'], ['#Bon', '#Bonn'], ['', 'x']]);
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1);
JS
node run.mjs
