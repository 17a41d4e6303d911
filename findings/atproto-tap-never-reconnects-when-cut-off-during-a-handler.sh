#!/usr/bin/env bash
# WHAT: when the connection breaks while a handler of @atproto/tap is busy with an event, the client never connects again:
#       no error, no second connection, and start() does not return either.
# VERSIONS: @atproto/tap 0.3.12, @atproto/ws-client 0.1.8, ws 8.23.0 (plays the Tap server on loopback).
# WHAT THE DOCS SAY: the README says that the channel takes care of reconnecting and keepalive, and that an event may come a
#       second time if the connection drops before its ack has arrived.
# GUESS: event 1 is handled; the connection, cut meanwhile, is opened again, events 1 and 2 come (again) and are acked.
# SEEN: event 1 is handled, and then nothing more. Its ack waits for the next connection, the loop that would open that
#       connection waits for the ack. If the same cut comes between two events, the client is back within seconds (control).
# WHY IT HURTS: a Tap restart takes each consumer down that happens to be writing to its database at that moment, which under
#       load is every one of them. Processes stay up, health checks stay green, counts stay where they were.
# INSTEAD: give the channel a TapHandler of your own that does not await ack() (catch its rejection), or watch the age of the
#       last event and restart the process.
set -euo pipefail
command -v node >/dev/null; command -v npm >/dev/null
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
cd "$T"
cat > package.json <<'JSON'
{ "private": true, "type": "module", "dependencies": { "@atproto/tap": "0.3.12", "ws": "8.23.0" }, "overrides": { "@atproto/ws-client": "0.1.8" } }
JSON
npm install --silent --no-audit --no-fund >/dev/null
cat > probe.js <<'JS'
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { SimpleIndexer, Tap } from '@atproto/tap';
import { WebSocketServer } from 'ws';

for (const name of ['@atproto/tap', '@atproto/ws-client', 'ws']) {
	console.log(name, JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')).version);
}
const event = (id) => JSON.stringify({
	id, type: 'record',
	record: {
		did: 'did:plc:aaaabbbbccccddddeeeeffff', rev: '3mbcdefghij2k', collection: 'app.bsky.feed.post', rkey: `3mbcdefghij2${id}`.replace('1', 'k').replace('2', 'l'),
		action: 'delete', live: true,
	},
});

/** Serves events until they are acked, cuts the first connection at a chosen moment, and returns what happened within 12 s. */
async function run(cut) {
	const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
	await once(server, 'listening');
	const seen = { connections: 0, handled: [], acked: [], errors: [], ended: false };
	let first;
	server.on('connection', (socket) => {
		first ??= socket;
		seen.connections += 1;
		socket.on('message', (m) => {
			seen.acked.push(JSON.parse(m).id);
			if (cut === 'between two events' && seen.connections === 1) socket.terminate();
			else if (!seen.acked.includes(2)) socket.send(event(2));
		});
		socket.send(event(seen.acked.includes(1) ? 2 : 1));
	});
	const indexer = new SimpleIndexer();
	indexer.record(async ({ id }) => {
		if (cut === 'in a handler' && first.readyState === first.OPEN) {
			first.terminate();
			await delay(300);
		}
		seen.handled.push(id);
	});
	indexer.error((e) => seen.errors.push(e.message));
	const channel = new Tap(`http://127.0.0.1:${server.address().port}`).channel(indexer);
	channel.start().then(() => { seen.ended = true; }, () => { seen.ended = true; });
	for (let i = 0; i < 120 && !seen.acked.includes(2); i++) await delay(100);
	return JSON.stringify(seen);
}
const busy = await run('in a handler');
const idle = await run('between two events');
console.log('cut between two events, observed', idle);
console.log('cut in a handler, expected      ', '{"connections":2,"handled":[1,1,2],"acked":[1,1,2],"errors":[],"ended":false}');
console.log('cut in a handler, observed      ', busy);
const dead = '{"connections":1,"handled":[1],"acked":[],"errors":[],"ended":false}';
const well = '{"connections":2,"handled":[1,2],"acked":[1,2],"errors":[],"ended":false}';
process.exit(busy === dead && idle === well ? 0 : 1);
JS
if timeout 60 node probe.js; then echo 'STILL SO: a cut during a handler ends the stream for good, unsaid'; else echo 'CHANGED'; exit 1; fi
