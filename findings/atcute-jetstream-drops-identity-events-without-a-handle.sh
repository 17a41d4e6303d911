#!/usr/bin/env bash
# WHAT: the client @atcute/jetstream, with its default settings, throws away every identity event that carries no
#       handle. Without an onError callback nothing tells the user.
# VERSIONS: @atcute/jetstream 2.0.0, ws 8.23.0 (plays the server on loopback).
# WHAT THE SPEC SAYS: in com.atproto.sync.subscribeRepos#identity only seq, did and time are required; the lexicon calls
#       handle optional. Jetstream passes the event through, and recorded events of 2026 come without it. The
#       package's README lists identity as one of the three kinds it delivers.
# GUESS: three valid events in (account, identity without handle, identity with handle), three out.
# SEEN: two out. Its schema makes handle mandatory, and an event that fails the schema is skipped; the cursor is not
#       moved by it either.
# WHY IT HURTS: identity events are the prod to refresh a DID document (new signing key, new host, new labeler key). A
#       consumer built on this client never sees them, keeps stale keys, and its count of identity events reads zero.
# INSTEAD: pass validateEvents: false and check the fields yourself, or set onError and count what it gets.
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
const time = '2026-07-04T14:38:07.877Z';
const events = [
	{ did, time_us: 1783175888000001, kind: 'account', account: { did, active: true, seq: 41, time } },
	{ did, time_us: 1783175888000002, kind: 'identity', identity: { did, seq: 42, time } },
	{ did, time_us: 1783175888000003, kind: 'identity', identity: { did, seq: 43, time, handle: 'alice.example.com' } },
];
const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
server.on('connection', (s) => { for (const e of events) s.send(JSON.stringify(e)); });
await new Promise((r) => server.once('listening', r));
async function run(extra) {
	const sub = new JetstreamSubscription({ url: `ws://127.0.0.1:${server.address().port}`, cursor: 1, ws: { WebSocket }, ...extra });
	const seqs = [];
	for await (const e of sub) {
		seqs.push((e.identity ?? e.account).seq);
		if (seqs.at(-1) === 43) break;
	}
	return seqs;
}
const plain = await run({});
const raw = await run({ validateEvents: false });
console.log('@atcute/jetstream 2.0.0');
console.log('sent seq            [41,42,43] (42 is an identity event without a handle)');
console.log('expected            [41,42,43]');
console.log('observed, default  ', JSON.stringify(plain));
console.log('observed, no checks', JSON.stringify(raw));
process.exit(plain.join() === '41,43' && raw.join() === '41,42,43' ? 0 : 1);
JS
if timeout 40 node probe.js; then echo 'STILL SO: the identity event without a handle is lost'; else echo 'CHANGED'; exit 1; fi
