#!/usr/bin/env bash
# When one reply cannot be fetched, because it is deleted or its author has blocked the bot, @skyware/bot drops all older notifications
# of the same poll: replies, follows and likes that would have been handed out after it never are.
#
# What it is: @skyware/bot is a framework for Bluesky bots; by default it polls the notifications and emits "reply", "follow" and so on.
# Versions: @skyware/bot 0.3.12 (npm); the service is a small server on loopback.
# What the docs say: EventStrategy.Polling, the default: "the bot will poll the notifications endpoint every pollingInterval seconds ...
#   it may take up to pollingInterval seconds for the bot to receive new events". app.bsky.feed.getPostThread has the answers
#   #notFoundPost and #blockedPost, so that a post that a notification names may well not be there any more.
# Guess: of a poll with a reply, a lost reply, a reply and a follow (newest first) the error is told and the other three are emitted, at
#   once or at the next poll.
# Seen: the first reply and one error; never the second reply and the follow, though the service lists all four at each later poll. The
#   time of the newest notification is noted as seen before any is worked on, and the error ends the loop.
# Wrong for a user: a bot that answers everyone skips, for good, whoever wrote in the same five seconds (or while the bot was offline, with
#   processFrom: up to 100 notifications) as somebody who deleted his reply or who blocks the bot; the error names that post only.
# Instead: on "error" call app.bsky.notification.listNotifications yourself and compare with what was emitted.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @skyware/bot@0.3.12
cat > run.mjs <<'JS'
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { Bot } from '@skyware/bot';
console.log('@skyware/bot', JSON.parse(readFileSync('node_modules/@skyware/bot/package.json')).version);
const did = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz', other = 'did:plc:z72i7hdynmk6r22z27h6tvur', author = { did: other, handle: 'alice.example.com' };
const cid = 'bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a', ref = { uri: `at://${did}/app.bsky.feed.post/1`, cid };
const time = (n) => `2026-01-01T00:00:0${n}.000Z`;
const view = (n) => ({ uri: `at://${other}/app.bsky.feed.post/${n}`, cid, author, indexedAt: time(n),
  record: { $type: 'app.bsky.feed.post', text: `reply ${n}`, createdAt: time(n), reply: { root: ref, parent: ref } } });
const reply = (n) => ({ ...view(n), reason: 'reply', isRead: false });
const follow = { uri: `at://${other}/app.bsky.graph.follow/2`, cid, author, indexedAt: time(2), reason: 'follow', isRead: false,
  record: { $type: 'app.bsky.graph.follow', subject: did, createdAt: time(2) } };
const watch = async (lost) => {
  let polls = 0; const seen = [];
  const service = createServer((req, res) => {
    const url = new URL(req.url, 'http://x'), method = url.pathname.split('/').pop(), uri = url.searchParams.get('uri'); let answer = { did, handle: 'bot.example.com' };
    if (method.endsWith('createSession')) answer = { ...answer, accessJwt: 'a.b.c', refreshJwt: 'a.b.c', active: true };
    if (method.endsWith('listNotifications')) { polls += 1; answer = { notifications: [reply(5), reply(4), reply(3), follow] }; }
    if (method.endsWith('getPostThread')) answer = { thread: uri.endsWith(lost) ? { $type: 'app.bsky.feed.defs#notFoundPost', uri, notFound: true }
      : { $type: 'app.bsky.feed.defs#threadViewPost', post: view(uri.slice(-1)) } };
    res.setHeader('content-type', 'application/json'); res.end(JSON.stringify(answer));
  });
  await new Promise((ok) => service.listen(0, '127.0.0.1', ok));
  const bot = new Bot({ service: `http://127.0.0.1:${service.address().port}`, eventEmitterOptions: { pollingInterval: 1, processFrom: new Date(time(0)) } });
  bot.on('reply', (post) => seen.push(post.text)); bot.on('follow', () => seen.push('follow')); bot.on('error', (error) => seen.push('error: ' + error.message));
  await bot.login({ identifier: 'bot.example.com', password: 'secret' });
  while (polls < 4) await new Promise((ok) => setTimeout(ok, 100));
  console.log(`polls: ${polls}, lost: ${lost} ->`, seen); return seen;
};
const all = await watch('/none'), some = await watch('/4');
const same = all.length === 4 && some.length === 2 && some[0] === 'reply 5' && some[1].endsWith('was not found.');
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1);
JS
node run.mjs
