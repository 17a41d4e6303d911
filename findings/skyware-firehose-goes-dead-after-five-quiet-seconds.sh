#!/usr/bin/env bash
# WHAT: with autoReconnect (on by default) @skyware/firehose closes a healthy connection after five seconds without a
#       message, says "reconnect", and never opens another.
# VERSIONS: @skyware/firehose 0.5.2, ws 8.23.0 (plays the server on loopback).
# WHAT THE DOCS SAY: the type docs say autoReconnect makes a new connection after a time without messages (how long is
#       not told), and that "reconnect" is emitted when that happened. The AT Protocol event stream spec lets either side
#       drop an idle connection, and has the client come back with the last sequence number it processed.
# GUESS: after the pause a second connection is made, with ?cursor=1, and event 2 arrives.
# SEEN: one connection in all. The reconnect step closes the socket and adds the listeners again to the same closed one.
#       The "reconnect" event is emitted all the same. Only firehoses that never pause (a busy relay) look healthy; the
#       first real interruption ends those too.
# WHY IT HURTS: reading a single PDS, a test network or a quiet relay stops for good a few seconds after the last event
#       while the process stays up: counts simply stay flat, which looks like a calm network.
# INSTEAD: set autoReconnect: false, listen to "close" and make a new Firehose object with the last cursor, or use another
#       client.
set -euo pipefail
command -v node >/dev/null; command -v npm >/dev/null
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
cd "$T"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund @skyware/firehose@0.5.2 ws@8.23.0 @atcute/cbor@2.3.6
cat > probe.js <<'JS'
import { Firehose } from '@skyware/firehose';
import { encode } from '@atcute/cbor';
import WebSocket, { WebSocketServer } from 'ws';
const frame = (seq) => Buffer.concat([
	encode({ op: 1, t: '#identity' }),
	encode({ seq, did: 'did:plc:aaaabbbbccccddddeeeeffff', time: '2026-07-04T14:38:07.877Z' }),
]);
const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
const urls = [];
let closedByClientAfter;
server.on('connection', (s, req) => {
	urls.push(req.url.replace(/^.*subscribeRepos/, ''));
	const t0 = Date.now();
	s.send(frame(1));
	const later = setTimeout(() => s.send(frame(2)), 8000); // a pause of eight seconds, then the next event
	s.on('close', () => { clearTimeout(later); closedByClientAfter = Date.now() - t0; });
});
await new Promise((r) => server.once('listening', r));
const f = new Firehose({ relay: `ws://127.0.0.1:${server.address().port}`, ws: WebSocket });
const seqs = [];
let said = 0;
f.on('identity', (e) => seqs.push(e.seq));
f.on('reconnect', () => said++);
f.on('error', () => {});
f.on('websocketError', () => {});
f.start();
await new Promise((r) => setTimeout(r, 20000));
console.log('@skyware/firehose 0.5.2');
console.log('connections: expected 1 (or 2 with ?cursor=1), observed', urls.length, JSON.stringify(urls));
console.log('closed by the client after', closedByClientAfter === undefined ? 'never' : Math.round(closedByClientAfter / 1000) + ' s');
console.log('"reconnect" events:', said);
console.log('events: expected [1,2], observed', JSON.stringify(seqs));
process.exit(urls.length === 1 && said >= 1 && seqs.join() === '1' ? 0 : 1);
JS
if timeout 50 node probe.js; then echo 'STILL SO: no second connection is ever made'; else echo 'CHANGED'; exit 1; fi
