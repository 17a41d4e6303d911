#!/usr/bin/env bash
# WHAT: the Tap client atproto-tap (Rust) acknowledges an event when it has read it from the socket. The consumer may still be
#       busy with an event many places earlier; what then lies in between is lost with the process.
# VERSIONS: atproto-tap 0.14.5 (crates.io), ws 8.23.0 (npm, plays the Tap server on loopback).
# WHAT THE DOCS SAY: the crate promises at-least-once delivery through acknowledgments, so that no event is lost across
#       reconnects, and knows send_acks only as on or off. Tap's README: a client acks an event once it has processed or stored it.
# GUESS: 100 events of a backfill wait at the server; a consumer that is stopped while it works on the second has acked one,
#       perhaps two.
# SEEN: by then more than 30 are acked: those that fill the channel (32 by default), the one in the consumer's hands and the
#       one on its way in. After a restart the server has no reason to send any of them again.
# WHY IT HURTS: every deployment or crash of an indexer silently drops up to a channel of events, per restart; its
#       totals fall behind the network's, and only a repository by repository comparison shows it.
# INSTEAD: let Tap deliver by webhook (TAP_WEBHOOK_URL), where an event is acked when you answer 200, or use a client that acks
#       after its handler; channel_buffer_size(1) narrows the gap without closing it.
set -euo pipefail
command -v cargo >/dev/null; command -v node >/dev/null
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
cd "$T"; mkdir src
cat > Cargo.toml <<'TOML'
[package]
name = "probe"
version = "0.0.0"
edition = "2024"
[dependencies]
atproto-tap = "=0.14.5"
tokio = { version = "1", features = ["macros", "rt-multi-thread", "time"] }
tokio-stream = "0.1"
[profile.dev]
debug = false
TOML
cat > src/main.rs <<'RUST'
use atproto_tap::{TapConfig, connect};
use std::time::Duration;
use tokio_stream::StreamExt;

#[tokio::main]
async fn main() {
    let mut stream = connect(TapConfig::new(std::env::args().nth(1).expect("host:port")));
    let first = stream.next().await.expect("an event").expect("a valid event");
    println!("done with event {}", first.id());
    let second = stream.next().await.expect("an event").expect("a valid event");
    // The second event is being written to a slow database, and then the process is stopped.
    tokio::time::sleep(Duration::from_secs(3)).await;
    println!("stopped in event {}", second.id());
    std::process::exit(0);
}
RUST
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund ws@8.23.0 >/dev/null
cat > probe.js <<'JS'
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { WebSocketServer } from 'ws';

const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
await once(server, 'listening');
const acked = new Set();
const cid = 'bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy';
server.on('connection', (socket) => {
	socket.on('message', (m) => acked.add(JSON.parse(m).id));
	for (let id = 1; id <= 100; id++) {
		socket.send(JSON.stringify({
			id, type: 'record',
			record: { live: false, rev: '3mbcdefghij2k', did: 'did:plc:aaaabbbbccccddddeeeeffff', collection: 'com.example.flag', rkey: `r${id}`, action: 'create', record: {}, cid },
		}));
	}
});
const { stdout } = await promisify(execFile)('cargo', ['run', '-q', '--', `127.0.0.1:${server.address().port}`]);
console.log('atproto-tap 0.14.5');
console.log(stdout.trim());
console.log('acked by then: expected 1 or 2 of 100, observed', acked.size);
process.exit(/stopped in event 2$/.test(stdout.trim()) && acked.size > 30 && acked.size < 100 ? 0 : 1);
JS
nice -n 10 cargo build -q
if timeout 60 node probe.js; then echo 'STILL SO: events are acked that nobody has handled'; else echo 'CHANGED'; exit 1; fi
