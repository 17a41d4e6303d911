#!/usr/bin/env bash
# WHAT: the cursor property of @atcute/jetstream tells what has been received, not what the for-await loop has been
#       given. Events wait in an unbounded queue in between, and the cursor is already past them.
# VERSIONS: @atcute/jetstream 2.0.0, ws 8.23.0 (plays the server on loopback).
# WHAT THE DOCS SAY: the README ("resuming from a cursor") tells to save subscription.cursor every few seconds and to
#       pass the saved value as cursor after a restart.
# GUESS: saving the cursor while event n is being worked on, and resuming from it, goes on at event n or n+1.
# SEEN: with a loop slower than the stream the saved cursor is that of the last event received. After a "crash" the
#       new subscription, given a server that replays faithfully, never delivers the queued events.
# WHY IT HURTS: at every restart the whole backlog, up to minutes of events behind a slow database, is skipped, no gap is
#       shown, and the queue itself hides that the reader is behind.
# INSTEAD: save time_us of the event your loop has finished, after it is stored; never the property.
set -euo pipefail
command -v node >/dev/null; command -v npm >/dev/null
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
cd "$T"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund @atcute/jetstream@2.0.0 ws@8.23.0
cat > probe.js <<'JS'
import { JetstreamSubscription } from '@atcute/jetstream';
import WebSocket, { WebSocketServer } from 'ws';
const did = 'did:plc:aaaabbbbccccddddeeeeffff';
const base = 1783175888000000;
const log = Array.from({ length: 100 }, (_, i) => ({
	did, time_us: base + i + 1, kind: 'account',
	account: { did, active: true, seq: i + 1, time: '2026-07-04T14:38:07.877Z' },
}));
// a server that replays, inclusively, everything from the asked cursor on
const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
server.on('connection', (s, req) => {
	const from = Number(new URL(req.url, 'http://x').searchParams.get('cursor'));
	for (const e of log) if (e.time_us >= from) s.send(JSON.stringify(e));
});
await new Promise((r) => server.once('listening', r));
const sub = (cursor) => new JetstreamSubscription({ url: `ws://127.0.0.1:${server.address().port}`, cursor, ws: { WebSocket } });
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const done = [];
let saved;
const first = sub(base);
for await (const e of first) {
	await sleep(50); // slow work
	done.push(e.account.seq);
	if (done.length === 10) { saved = first.cursor; break; } // saved as the README does, then the process dies
}
const second = sub(saved);
const stop = sleep(1500).then(() => 'quiet');
const it = second[Symbol.asyncIterator]();
for (;;) {
	const r = await Promise.race([it.next(), stop]);
	if (r === 'quiet') break;
	done.push(r.value.account.seq);
}
const lost = log.filter((e) => !done.includes(e.account.seq)).length;
console.log('@atcute/jetstream 2.0.0');
console.log('worked on before the stop: 10 of 100; cursor expected at event 10 or before, observed at event', saved - base);
console.log('lost over the restart: expected 0, observed', lost);
process.exit(saved - base === 100 && lost === 89 ? 0 : 1);
JS
if timeout 40 node probe.js; then echo 'STILL SO: the saved cursor skips the queued events'; else echo 'CHANGED'; exit 1; fi
