#!/usr/bin/env bash
# WHAT: @atcute/firehose, a client for any XRPC subscription, sends a parameter that is an array as one value joined with
#       commas instead of repeating the parameter.
# VERSIONS: @atcute/firehose 1.0.0, ws 8.23.0 (plays the server on loopback).
# WHAT THE SPEC SAYS: XRPC spec, "Lexicon HTTP Endpoints": an array is written as several query parameters of the same name
#       (collections=a&collections=b); event streams take query parameters too (event stream spec, "Connection"). Jetstream's subscribeEvents has
#       three array parameters (kinds, collections, dids).
# GUESS: params {collections: ['a.b.c', 'd.e.f']} arrives as two values.
# SEEN: one value, "a.b.c,d.e.f". With a single-element array the bug cannot be seen.
# WHY IT HURTS: the server looks for one collection or one account of that odd name. A lenient one matches nothing and streams
#       nothing (a silent zero), a strict one refuses the whole subscription, and only once the second element is added.
# INSTEAD: put the parameters into the URL yourself, or use one subscription per value.
set -euo pipefail
command -v node >/dev/null; command -v npm >/dev/null
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
cd "$T"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund @atcute/firehose@1.0.0 ws@8.23.0
cat > probe.js <<'JS'
import { FirehoseSubscription } from '@atcute/firehose';
import WebSocket, { WebSocketServer } from 'ws';
const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
const asked = new Promise((r) => server.on('connection', (s, req) => r(new URL(req.url, 'http://x').searchParams)));
await new Promise((r) => server.once('listening', r));
const sub = new FirehoseSubscription({
	service: `ws://127.0.0.1:${server.address().port}`,
	nsid: { nsid: 'com.example.subscribeThings', message: null },
	params: { collections: ['com.example.note', 'com.example.like'], kinds: ['commit'], cursor: 7 },
	ws: { WebSocket },
});
void sub[Symbol.asyncIterator]().next();
const q = await Promise.race([asked, new Promise((_, no) => setTimeout(() => no(new Error('no connection')), 10000))]);
console.log('@atcute/firehose 1.0.0');
console.log('collections: expected', JSON.stringify(['com.example.note', 'com.example.like']), 'observed', JSON.stringify(q.getAll('collections')));
console.log('kinds:       expected', JSON.stringify(['commit']), 'observed', JSON.stringify(q.getAll('kinds')));
const c = q.getAll('collections');
process.exit(c.length === 1 && c[0] === 'com.example.note,com.example.like' && q.getAll('kinds').join() === 'commit' ? 0 : 1);
JS
if timeout 40 node probe.js; then echo 'STILL SO: two values arrive as one'; else echo 'CHANGED'; exit 1; fi
