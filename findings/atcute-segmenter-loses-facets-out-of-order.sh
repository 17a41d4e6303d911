#!/usr/bin/env bash
# WHAT: @atcute/bluesky-richtext-segmenter takes the facets of a post in the order of the list, and leaves out each one that
#       starts before one that was listed earlier.
# VERSIONS: @atcute/bluesky-richtext-segmenter 3.0.2, @atproto/api 0.21.0 (RichText) as the second opinion.
# WHAT THE SPEC SAYS: app.bsky.feed.post calls facets annotations of text, app.bsky.richtext.facet gives each a byte range, and no
#       order of the list is laid down. Bluesky's guide to rich text advises renderers to sort facets by byteStart. The package's
#       README says nothing on order.
# GUESS: a mention, a link and a tag come out as three segments with features, whatever their order in the list.
# SEEN: in text order three; listed as tag, link, mention only the tag is left, and the mention and the link are plain text.
# WHY IT HURTS: clients that collect mentions, links and tags one kind after the other write such lists. Counted by segments they
#       have fewer mentions and links than were sent, and a page shows them as plain text.
# INSTEAD: sort a copy first: facets.toSorted((a, b) => a.index.byteStart - b.index.byteStart). Count from the facets of the
#       record, never from segments.
set -euo pipefail
command -v node >/dev/null; command -v npm >/dev/null
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
cd "$T"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund @atcute/bluesky-richtext-segmenter@3.0.2 @atproto/api@0.21.0 >/dev/null
cat > probe.js <<'JS'
import { readFileSync } from 'node:fs';
import { segmentize } from '@atcute/bluesky-richtext-segmenter';
import { RichText } from '@atproto/api';

const packages = ['@atcute/bluesky-richtext-segmenter', '@atproto/api'];
console.log(packages.map((name) => `${name} ${JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')).version}`).join(' | '));
const facet = (byteStart, byteEnd, kind, value) => ({ index: { byteStart, byteEnd }, features: [{ $type: `app.bsky.richtext.facet#${kind}`, ...value }] });
const text = '@alice see example.com #news';
const mention = facet(0, 6, 'mention', { did: 'did:plc:aaaabbbbccccddddeeeeffff' });
const link = facet(11, 22, 'link', { uri: 'https://example.com' });
const tag = facet(23, 28, 'tag', { tag: 'news' });

/** Returns the annotated pieces of text as the two packages give them. */
function pieces(facets) {
	const atcute = segmentize(text, facets).filter((s) => s.features).map((s) => s.text);
	const official = [...new RichText({ text, facets: structuredClone(facets) }).segments()].filter((s) => s.facet).map((s) => s.text);
	return { atcute: atcute.join('|'), official: official.join('|') };
}
const cases = [
	['in text order', pieces([mention, link, tag]), '@alice|example.com|#news', '@alice|example.com|#news'],
	['tag, link, mention', pieces([tag, link, mention]), '@alice|example.com|#news', '#news'],
];
for (const [name, seen, expected] of cases) console.log(`${name.padEnd(18)} expected ${expected} (RichText: ${seen.official}), observed ${seen.atcute}`);
process.exit(cases.every(([, seen, expected, stated]) => seen.official === expected && seen.atcute === stated) ? 0 : 1);
JS
if timeout 60 node probe.js; then echo 'STILL SO: facets out of order are lost'; else echo 'CHANGED'; exit 1; fi
