#!/usr/bin/env bash
# @skyware/bot, told to split a long post, publishes a link of more than 300 characters as a thread of posts of one letter each,
# and tears apart a tag or link that starts at the 300th character; neither keeps its facet.
#
# What it is: @skyware/bot is a framework for Bluesky bots; bot.post(..., { splitLongPost: true }) makes a thread of a long text.
# Versions: @skyware/bot 0.3.12 (npm); its posts are read by a small server on loopback that plays the host.
# What the docs say: facetAwareSegment, the exported function behind it: "Segment a string into substrings of a given grapheme
#   length, without breaking facets"; splitLongPost: the post is split "if it exceeds the character limit".
# Guess: a text of 315 characters with a tag at the 300th becomes two posts and the tag stands whole, with its facet, in the second; a
#   link of 343 characters does not fit in a post, so it is cut in two pieces, or refused.
# Seen: the first thread is "... #" and "weather is nice", without any facet: a facet counts as torn only if it starts before the
#   last character of the piece. The other thread has 46 posts: "see ", then 44 posts of one letter, then the remaining 299
#   characters: within a facet longer than a post the search for a place to cut goes back to a single character, each time.
# Wrong for a user: followers get dozens of posts of one letter for one long link (links with tracking are that long), in
#   a row; a torn tag is found by nobody, a torn link leads nowhere, and no error is raised.
# Instead: shorten links before posting (with a facet of your own for the full address); split at blanks yourself.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @skyware/bot@0.3.12
cat > run.mjs <<'JS'
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { Bot } from '@skyware/bot';
console.log('@skyware/bot', JSON.parse(readFileSync('node_modules/@skyware/bot/package.json')).version);
const did = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz', records = [];
const host = createServer(async (req, res) => {
  let body = ''; for await (const part of req) body += part;
  const method = req.url.split('/xrpc/')[1].split('?')[0]; let answer = { did, handle: 'bot.example.com' };
  if (method.endsWith('createSession')) answer = { ...answer, accessJwt: 'a.b.c', refreshJwt: 'a.b.c', active: true };
  if (method.endsWith('createRecord')) {
    records.push(JSON.parse(body).record);
    answer = { uri: `at://${did}/app.bsky.feed.post/${records.length}`, cid: 'bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a' };
  }
  res.setHeader('content-type', 'application/json'); res.end(JSON.stringify(answer));
});
await new Promise((ok) => host.listen(0, '127.0.0.1', ok));
const bot = new Bot({ service: `http://127.0.0.1:${host.address().port}`, emitEvents: false });
await bot.login({ identifier: 'bot.example.com', password: 'secret' });
const thread = async (text) => { records.length = 0; await bot.post({ text }, { splitLongPost: true }); return [...records]; };
const tag = await thread('word '.repeat(59) + 'abc #weather is nice');
console.log('tag at the 300th character:', tag.map((r) => [r.text.slice(-15), r.facets.length]));
const link = await thread('see https://example.com/?q=' + 'a'.repeat(320));
console.log('long link, lengths of the posts:', link.map((r) => r.text.length).join(' '));
console.log('posts:', link.map((r) => r.text.slice(0, 12)).slice(0, 8), 'facets:', link.reduce((n, r) => n + r.facets.length, 0));
const earlier = await thread('word '.repeat(59) + 'ab #weather is nice');
console.log('control, tag one place earlier:', earlier.map((r) => [r.text.slice(-15), r.facets.length]));
host.close(); host.closeAllConnections();
const same = tag.length === 2 && tag[0].text.endsWith(' #') && tag[1].text === 'weather is nice' && tag.every((r) => !r.facets.length)
  && link.length === 46 && link.filter((r) => r.text.length === 1).length === 44 && earlier[1].facets.length === 1;
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1);
JS
node run.mjs
