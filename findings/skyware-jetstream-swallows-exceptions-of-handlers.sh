#!/usr/bin/env bash
# WHAT: an exception thrown by a listener of @skyware/jetstream vanishes: nothing is printed, the process goes on, the other
#       listeners of that event are not called, and the cursor is already past the event.
# VERSIONS: @skyware/jetstream 0.2.5, ws 8.23.0 (plays the server on loopback).
# WHAT THE DOCS SAY: "error" is described as emitted on a network error; nothing says that exceptions of one's own listeners go
#       there. In Node an "error" event that nobody listens to is thrown (Node docs, "Events", "Error events").
# GUESS: an exception in my listener surfaces (as uncaught), as with Node's own emitter.
# SEEN: the emitter used is not Node's and drops "error" without a listener. The catch block is around the whole emit, so the
#       collection listener, which would have run after the failing one, misses the event as well.
# WHY IT HURTS: a database hiccup in one handler (or a record of unusual shape) leaves a hole in every later handler's counts, with
#       a clean log and a cursor that will never come back to it.
# INSTEAD: always listen to "error", wrap every listener in its own try and catch, and store the cursor yourself after the work.
set -euo pipefail
command -v node >/dev/null; command -v npm >/dev/null
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
cd "$T"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund @skyware/jetstream@0.2.5 ws@8.23.0
cat > probe.js <<'JS'
import { Jetstream } from '@skyware/jetstream';
import WebSocket, { WebSocketServer } from 'ws';
const base = 1783175888000000;
const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
server.on('connection', (s) => {
	for (let n = 1; n <= 3; n++) {
		s.send(JSON.stringify({
			did: 'did:plc:aaaabbbbccccddddeeeeffff', time_us: base + n, kind: 'commit',
			commit: { rev: '3l3qo2vutsw2b', operation: 'create', collection: 'com.example.note', rkey: `note${n}`,
				cid: 'bafyreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku', record: { $type: 'com.example.note', n } },
		}));
	}
});
await new Promise((r) => server.once('listening', r));
let loud = 0;
process.on('uncaughtException', () => loud++);
process.on('unhandledRejection', () => loud++);
const j = new Jetstream({ endpoint: `ws://127.0.0.1:${server.address().port}/subscribe`, ws: WebSocket });
const first = [], second = [];
j.on('commit', (e) => {
	if (e.commit.record.n === 2) throw new Error('disk full');
	first.push(e.commit.record.n);
});
j.onCreate('com.example.note', (e) => second.push(e.commit.record.n));
j.start();
await new Promise((r) => setTimeout(r, 2000));
console.log('@skyware/jetstream 0.2.5; three events sent, the first listener throws on event 2');
console.log('exceptions that surfaced: expected 1, observed', loud);
console.log('second listener got:      expected [1,2,3], observed', JSON.stringify(second));
console.log('cursor is at event       ', j.cursor - base);
process.exit(loud === 0 && second.join() === '1,3' && j.cursor === base + 3 ? 0 : 1);
JS
if timeout 40 node probe.js; then echo 'STILL SO: the exception is swallowed and the event lost'; else echo 'CHANGED'; exit 1; fi
