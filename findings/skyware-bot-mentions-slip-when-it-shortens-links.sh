#!/usr/bin/env bash
# @skyware/bot, told to shorten links, leaves each mention behind a shortened link where it was before, so that it covers other
# letters, and marks an address without https:// eight letters too short: of "example.com" only "exa" is the link.
#
# What it is: @skyware/bot is a framework for Bluesky bots; bot.post(..., { shortenLinks: true }) writes links in short form.
# Versions: @skyware/bot 0.3.12 (npm); its posts are read by a small server on loopback that plays the host.
# What the spec says: lexicon app.bsky.richtext.facet#byteSlice: byteStart and byteEnd count bytes of the UTF-8 text of the record;
#   the docs of the option: "Whether to shorten inline links".
# Guess: every facet covers its own word in the text that is posted: the short link, the mention, the tag.
# Seen: "see https://example.com/a/very/long/path/to/a/page by @alice.example.com" is posted with a mention facet that lies behind the
#   end of the text (or over the words that follow, as in the second post); "example.com" is a link on "exa" only. Without the option
#   all three are right. The mentions are located before the text is shortened, and the eight characters of the "https://" that the
#   text never had are counted as removed.
# Wrong for a user: alice is notified of a post in which her name is plain text and other words lead to her profile, or the facet is
#   dropped as invalid; readers tap on "mple.com" and nothing happens.
# Instead: do not use shortenLinks with mentions or bare addresses; build the text with RichText (the builder) and short link texts.
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
const bytes = (text, { index }) => Buffer.from(text).subarray(index.byteStart, index.byteEnd).toString();
const post = async (text, shortenLinks) => {
  await bot.post({ text }, { shortenLinks }); const r = records.pop();
  console.log('posted', JSON.stringify(r.text), '->', r.facets.map((f) => `${f.features[0].$type.split('#')[1]}: ${JSON.stringify(bytes(r.text, f))}`).join(', '));
  return r.facets.map((f) => bytes(r.text, f));
};
const long = 'https://example.com/a/very/long/path/to/a/page';
const [end] = await post(`see ${long} by @alice.example.com`, true);
const [other] = await post(`see ${long} by @alice.example.com and what the others say of it #rain`, true);
const [bare] = await post('more on example.com today', true);
const plain = [await post(`see ${long} by @alice.example.com`, false), await post('more on example.com today', false)].flat();
host.close(); host.closeAllConnections();
const same = end === '' && other !== '@alice.example.com' && bare === 'exa' && plain.join() === `@alice.example.com,${long},example.com`;
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1);
JS
node run.mjs
