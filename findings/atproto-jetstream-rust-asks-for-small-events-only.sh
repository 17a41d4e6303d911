#!/usr/bin/env bash
# WHAT: atproto-jetstream (Rust), told to accept events of any size, asks the server to leave out every event of more than
#       56,000 bytes.
# VERSIONS: atproto-jetstream 0.14.5 (crates.io), ws 8.23.0 (npm, plays Jetstream on loopback, with TLS, as the client insists).
# WHAT THE DOCS SAY: max_message_size_bytes is documented as "None for unlimited", and the crate's example has None with
#       the comment "No limit". Jetstream's first README: maxMessageSizeBytes is the largest payload that the client wants, 0 is no
#       limit, and an options_update message changes the options of an open connection.
# GUESS: with None three events of 1, 60 and 100 kB arrive.
# SEEN: only the first. The address carries no limit, but right after connecting the client sends an options_update with
#       maxMessageSizeBytes 56000. Some(0), which the server takes for no limit, brings all three.
# WHY IT HURTS: large records (long articles, drawings, datasets in records; a record may have about a megabyte) never reach the
#       consumer, their collections look quiet or empty, and as the server is the one that skips them, no log has a line.
# INSTEAD: Some(0), and without compression: with it this client discards what unpacks to more than 168,000 bytes.
set -euo pipefail
command -v cargo >/dev/null; command -v node >/dev/null; command -v openssl >/dev/null
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
cd "$T"; mkdir src
cat > Cargo.toml <<'TOML'
[package]
name = "probe"
version = "0.0.0"
edition = "2024"
[dependencies]
anyhow = "1"
async-trait = "0.1"
atproto-jetstream = { version = "=0.14.5", default-features = false }
tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
[profile.dev]
debug = false
TOML
cat > src/main.rs <<'RUST'
use async_trait::async_trait;
use atproto_jetstream::{CancellationToken, Consumer, ConsumerTaskConfig, EventHandler, JetstreamEvent};
use std::sync::Arc;

struct Printer;

#[async_trait]
impl EventHandler for Printer {
    async fn handle_event(&self, event: Arc<JetstreamEvent>) -> anyhow::Result<()> {
        if let JetstreamEvent::Commit { commit, .. } = event.as_ref() {
            println!("{}", commit.rkey);
        }
        Ok(())
    }
    fn handler_id(&self) -> &str {
        "printer"
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let consumer = Consumer::new(ConsumerTaskConfig {
        user_agent: "probe/1.0".to_string(),
        compression: false,
        zstd_dictionary_location: String::new(),
        jetstream_hostname: args.next().expect("host:port"),
        collections: vec![],
        dids: vec![],
        max_message_size_bytes: args.next().map(|size| size.parse().expect("a number")),
        cursor: None,
        require_hello: false,
    });
    consumer.register_handler(Arc::new(Printer)).await?;
    consumer.run_background(CancellationToken::new()).await
}
RUST
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
  -addext basicConstraints=critical,CA:FALSE -keyout key.pem -out cert.pem 2>/dev/null
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund ws@8.23.0 >/dev/null
cat > probe.js <<'JS'
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { promisify } from 'node:util';
import { WebSocketServer } from 'ws';

const https = createServer({ key: readFileSync('key.pem'), cert: readFileSync('cert.pem') });
const server = new WebSocketServer({ server: https });
https.listen(0, 'localhost');
await once(https, 'listening');
const sizes = { small: 1_000, medium: 60_000, large: 100_000 };
const asked = [];
server.on('connection', (socket, request) => {
	let limit = Number(new URL(request.url, 'https://localhost').searchParams.get('maxMessageSizeBytes') ?? 0);
	const atConnecting = limit;
	socket.once('message', (m) => {
		limit = JSON.parse(m).payload.maxMessageSizeBytes;
		asked.push({ atConnecting, afterwards: limit });
		for (const [rkey, size] of Object.entries(sizes)) {
			const event = JSON.stringify({
				did: 'did:plc:aaaabbbbccccddddeeeeffff', time_us: 1767225600000000, kind: 'commit',
				commit: {
					rev: '3mbcdefghij2k', operation: 'create', collection: 'com.example.article', rkey, cid: 'bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy',
					record: { $type: 'com.example.article', text: 'x'.repeat(size) },
				},
			});
			if (limit === 0 || Buffer.byteLength(event) <= limit) socket.send(event);
		}
		socket.close(1000);
	});
});
async function run(...size) {
	const env = { ...process.env, SSL_CERT_FILE: `${process.cwd()}/cert.pem` };
	const { stdout } = await promisify(execFile)('cargo', ['run', '-q', '--', `localhost:${https.address().port}`, ...size], { env });
	return `${stdout.trim().split('\n').join()} (limit asked for: ${JSON.stringify(asked.pop())})`;
}
const none = await run();
const zero = await run('0');
console.log('atproto-jetstream 0.14.5');
console.log('None    expected small,medium,large, observed', none);
console.log('Some(0) expected small,medium,large, observed', zero);
process.exit(none === 'small (limit asked for: {"atConnecting":0,"afterwards":56000})' && zero.startsWith('small,medium,large (') ? 0 : 1);
JS
nice -n 10 cargo build -q
if timeout 60 node probe.js; then echo 'STILL SO: "unlimited" leaves out what is larger than 56,000 bytes'; else echo 'CHANGED'; exit 1; fi
