#!/usr/bin/env bash
# astro-embed-bluesky shows "#" and the tag in the place of the words that its author marked as a tag, so the text of the post is another one; and a
# link that is not the first feature of its facet is not a link.
#
# What it is: a component for the site generator Astro that shows Bluesky posts as static HTML.
# Versions: @astro-community/astro-embed-bluesky 0.2.3 (its function renderPostAsHtml), esbuild 0.25.12, @atproto/api 0.21.0 as the second opinion (npm).
# What the spec says: lexicon app.bsky.richtext.facet: "Annotation of a sub-string within rich text"; #tag: "The text is usually a hashtag, including a
#   '#' prefix, but the facet reference should not"; features is a list, of an open union. An annotation does not replace its text.
# Guess: the text of the HTML, without its elements, is the text of the post; the marked words lead to the tag or the address.
# Seen: "Berlin weather today" becomes "#berlinweather today", "＃Bonn" with a full-width sign becomes "#Bonn", "$AAPL" (marked as the tag $AAPL)
#   "#$AAPL", and "Köln" with the tag koeln "#koeln". With a feature of another kind in front the link is plain text.
# Wrong for a user: a page that quotes a post gives words that its author did not write, under his name and picture.
# Instead: pass the post's text through a segmenter of your own and show segment.text for tags.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @astro-community/astro-embed-bluesky@0.2.3 esbuild@0.25.12 @atproto/api@0.21.0 2>/dev/null
npx esbuild --log-level=error --bundle --platform=node --format=esm --outfile=embed.mjs node_modules/@astro-community/astro-embed-bluesky/src/utils.ts
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { RichText } from '@atproto/api';
import { renderPostAsHtml } from './embed.mjs';
console.log('astro-embed-bluesky', JSON.parse(readFileSync('node_modules/@astro-community/astro-embed-bluesky/package.json')).version);
const tag = (tag) => ({ $type: 'app.bsky.richtext.facet#tag', tag }), link = (uri) => ({ $type: 'app.bsky.richtext.facet#link', uri });
const seen = [['Berlin weather today', 'Berlin weather', [tag('berlinweather')]], ['rain in ＃Bonn', '＃Bonn', [tag('Bonn')]], ['$AAPL is up', '$AAPL', [tag('$AAPL')]],
  ['sun in Köln', 'Köln', [tag('koeln')]], ['sun in #Köln', '#Köln', [tag('Köln')]], ['see the map', 'the map', [{ $type: 'com.example.facet#bold' }, link('https://example.com/map')]],
].map(([text, words, features]) => {
  const byteStart = Buffer.from(text.slice(0, text.indexOf(words))).length, facets = [{ index: { byteStart, byteEnd: byteStart + Buffer.from(words).length }, features }];
  const html = renderPostAsHtml({ record: { $type: 'app.bsky.feed.post', text, createdAt: '2026-01-01T00:00:00.000Z', facets } }), shown = html.replace(/<[^>]*>/g, '');
  const second = [...new RichText({ text, facets }).segments()], mark = second.find((s) => s.facet);
  console.log(JSON.stringify(text), '->', html, '| second opinion', JSON.stringify(second.map((s) => s.text).join('')), mark.tag ? 'tag ' + mark.tag.tag : 'link ' + mark.link?.uri);
  return `${shown === text ? 'same' : 'other'} ${html.includes('<a ') ? 'marked' : 'plain'}`;
});
const same = seen.join() === 'other marked,other marked,other marked,other marked,same marked,same plain';
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1);
JS
node run.mjs
