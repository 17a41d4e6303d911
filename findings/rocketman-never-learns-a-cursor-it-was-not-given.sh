#!/usr/bin/env bash
# WHAT: rocketman (Rust), a Jetstream client that reconnects by itself, ignores the option `cursor`, and a reader that starts at
#       the live end reconnects at the live end: what was sent meanwhile is lost without a word.
# VERSIONS: rocketman 0.4.0 (crates.io).
# GUESS: `cursor` in the options sets the first position; after a reconnect the client resumes at the last handled event.
# SEEN: the option never reaches the URL. The position is the mutex that connect() and handle_message() share, and events
#       advance it only if it already holds a number. The examples of the crate start it with None.
# WHY IT HURTS: every restart of the server or the network makes a hole of seconds, and the counts look complete.
# INSTEAD: put a number into the shared mutex before connect(), for example the time in microseconds: the server
#       then replays what it has.
set -euo pipefail
command -v cargo >/dev/null
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
cd "$T"; mkdir src
cat > Cargo.toml <<'TOML'
[package]
name = "probe"
version = "0.0.0"
edition = "2021"
[dependencies]
rocketman = "=0.4.0"
futures-util = "0.3"
tokio = { version = "1", features = ["full"] }
tokio-tungstenite = "0.27"
TOML
cat > src/main.rs <<'RUST'
use futures_util::{SinkExt, StreamExt};
use rocketman::{connection::JetstreamConnection, endpoints::JetstreamEndpoints, handler, options::JetstreamOptions};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio_tungstenite::{accept_hdr_async, tungstenite::handshake::server::{Request, Response}, tungstenite::Message};

const FIRST: u64 = 1_767_225_600_000_000;

/// Serves two connections. The first one gets ten events and is then closed. Returns the query of each connection.
async fn queries(option: Option<&str>, shared: Option<u64>) -> (Vec<String>, Option<u64>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = tokio::spawn(async move {
        let mut seen = Vec::new();
        for number in 0..2 {
            let (stream, _) = listener.accept().await.unwrap();
            let mut query = String::new();
            let note = |request: &Request, response: Response| {
                query = request.uri().query().unwrap_or("").to_string();
                Ok(response)
            };
            let mut socket = accept_hdr_async(stream, note).await.unwrap();
            if number == 0 {
                for index in 0..10 {
                    let text = format!(
                        r#"{{"did":"did:plc:aaaabbbbccccddddeeeeffff","time_us":{},"kind":"commit","commit":{{"rev":"3mbcdefghij2k","operation":"delete","collection":"app.bsky.feed.like","rkey":"3mbcdefghij2k"}}}}"#,
                        FIRST + index
                    );
                    socket.send(Message::text(text)).await.unwrap();
                }
                let _ = socket.close(None).await;
                while let Some(Ok(_)) = socket.next().await {}
            }
            seen.push(query);
        }
        seen
    });
    let options = JetstreamOptions {
        ws_url: JetstreamEndpoints::Custom(format!("ws://127.0.0.1:{port}/subscribe")),
        cursor: option.map(String::from),
        ..Default::default()
    };
    let connection = JetstreamConnection::new(options);
    let cursor = Arc::new(Mutex::new(shared));
    let (messages, reconnect, kept) = (connection.get_msg_rx(), connection.get_reconnect_tx(), cursor.clone());
    let handling = tokio::spawn(async move {
        let ingestors = handler::Ingestors::new();
        while let Ok(message) = messages.recv().await {
            let _ = handler::handle_message(message, &ingestors, reconnect.clone(), kept.clone()).await;
        }
    });
    let shared_cursor = cursor.clone();
    let queries = tokio::select! {
        seen = server => seen.unwrap(),
        _ = connection.connect(shared_cursor) => panic!("connect returned"),
    };
    handling.abort();
    let last = *cursor.lock().unwrap();
    (queries, last)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    for (what, option, shared) in [
        ("shared cursor None", None, None),
        ("option cursor set, shared cursor None", Some("1767225000000000"), None),
        ("shared cursor 1767225000000000", None, Some(1_767_225_000_000_000)),
    ] {
        let (queries, last) = queries(option, shared).await;
        println!("{what}: first [{}] second [{}] kept {last:?}", queries[0], queries[1]);
    }
}
RUST
nice cargo run -q > seen.txt
echo 'rocketman 0.4.0; a server sends ten events, closes, and is connected to again; queries of both connections'; cat seen.txt
cat > known.txt <<'SEEN'
shared cursor None: first [compress=true] second [compress=true] kept None
option cursor set, shared cursor None: first [compress=true] second [compress=true] kept None
shared cursor 1767225000000000: first [cursor=1767225000000000&compress=true] second [cursor=1767225600000009&compress=true] kept Some(1767225600000009)
SEEN
if cmp -s seen.txt known.txt; then echo 'STILL SO: no cursor unless the shared mutex held a number'; else echo 'CHANGED'; exit 1; fi
