#!/usr/bin/env bash
# WHAT: when a server ends a stream with an error frame, @skyware/firehose reports "Invalid header received" and drops the
#       server's error name and message.
# VERSIONS: @skyware/firehose 0.5.2, ws 8.23.0 (plays the server on loopback), @atcute/cbor 2.3.6 (writes the frame).
# WHAT THE SPEC SAYS: AT Protocol event stream spec, "Framing": a header with op -1 is an error frame; the field t belongs to
#       message frames only, and the body of an error frame holds "error" and, optionally, "message".
# GUESS: the "error" event names FutureCursor.
# SEEN: the header check demands a t before it looks at op, so the branch that reads the error frame is never reached for
#       a frame of the specified form.
# WHY IT HURTS: FutureCursor (the saved cursor belongs to another server: start over) and ConsumerTooSlow (events were
#       lost: mark a gap) look like line noise, so a reader that skips undecodable frames goes on as if nothing was.
# INSTEAD: look at the raw frames yourself: header op -1 means stop, and the body's error says what to do.
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
const errorFrame = Buffer.concat([encode({ op: -1 }), encode({ error: 'FutureCursor', message: 'cursor is ahead of the stream' })]);
const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
server.on('connection', (s) => { s.send(errorFrame); s.close(1008); });
await new Promise((r) => server.once('listening', r));
const f = new Firehose({ relay: `ws://127.0.0.1:${server.address().port}`, ws: WebSocket, cursor: '999999', autoReconnect: false });
const said = [];
f.on('error', ({ error }) => said.push(error.message));
f.on('websocketError', () => {});
f.start();
await new Promise((r) => setTimeout(r, 1500));
console.log('@skyware/firehose 0.5.2');
console.log('frame sent: header {op: -1}, body {error: "FutureCursor", ...}');
console.log('expected: an error that names FutureCursor');
console.log('observed:', JSON.stringify(said));
process.exit(said.length === 1 && !said[0].includes('FutureCursor') && /header/i.test(said[0]) ? 0 : 1);
JS
if timeout 40 node probe.js; then echo 'STILL SO: the error name is lost'; else echo 'CHANGED'; exit 1; fi
