#!/usr/bin/env bash
# One post with a facet feature other than mention, link and tag, which the open union allows, makes @skyware/bot refuse the whole
# page of posts that it is on.
#
# What it is: @skyware/bot is a framework for Bluesky bots; getPosts, getUserPosts and getPost turn what the service returns into Post.
# Versions: @skyware/bot 0.3.12 (npm); the service is a small server on loopback.
# What the spec says: atproto.com, Lexicon, "union": unions are open unless they say closed, types may be added later, and readers should be
#   permissive with those that they do not know; "features" of app.bsky.richtext.facet is an open union of the three.
# Guess: three posts, the second with its unknown feature left as it is or left out.
# Seen: "Unknown facet feature type com.example.richtext.facet#highlight." is thrown for the page; the two plain posts are lost with it.
# Wrong for a user: other clients write features of their own (styles, polls) into ordinary posts; a bot that reads an account with
#   one of them reads none of the account's posts, as long as that one is on the page.
# Instead: call bot.agent.get("app.bsky.feed.getPosts", ...) and build Post.fromView(view, bot) one by one within try.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @skyware/bot@0.3.12
cat > run.mjs <<'JS'
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { Bot } from '@skyware/bot';
console.log('@skyware/bot', JSON.parse(readFileSync('node_modules/@skyware/bot/package.json')).version);
const did = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz', time = '2026-01-01T00:00:00.000Z', author = { did, handle: 'weather.example.com' };
const view = (rkey, feature) => ({
  uri: `at://${did}/app.bsky.feed.post/${rkey}`, cid: 'bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a', author, indexedAt: time,
  record: { $type: 'app.bsky.feed.post', text: `hour ${rkey}`, createdAt: time, ...(feature && { facets: [{ index: { byteStart: 0, byteEnd: 4 }, features: [feature] }] }) },
});
let second;
const service = createServer((req, res) => {
  const posts = [view('1'), view('2', second), view('3')];
  res.setHeader('content-type', 'application/json');
  res.end(JSON.stringify(req.url.includes('getAuthorFeed') ? { feed: posts.map((post) => ({ post })) } : { posts }));
});
await new Promise((ok) => service.listen(0, '127.0.0.1', ok));
const bot = new Bot({ service: `http://127.0.0.1:${service.address().port}`, emitEvents: false });
const uris = ['1', '2', '3'].map((rkey) => view(rkey).uri), seen = [];
const read = async (name, call) => {
  const result = await call().then((posts) => posts.length + ' posts', (error) => error.message);
  console.log(name, '->', result); seen.push(result);
};
for (const feature of [{ $type: 'app.bsky.richtext.facet#tag', tag: 'hour' }, { $type: 'com.example.richtext.facet#highlight' }]) {
  second = feature; console.log('second post has', feature.$type);
  await read('getPosts', () => bot.getPosts(uris, { skipCache: true }));
  await read('getUserPosts', () => bot.getUserPosts(did, { skipCache: true }).then((page) => page.posts));
}
service.close(); service.closeAllConnections();
const refused = 'Unknown facet feature type com.example.richtext.facet#highlight.';
const same = JSON.stringify(seen) === JSON.stringify(['3 posts', '3 posts', refused, refused]);
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1);
JS
node run.mjs
