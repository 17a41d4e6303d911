#!/usr/bin/env bash
# The rich text of bsky-sdk (Rust) finds the tags and links of a text and then leaves out of segments() each tag, link or mention that stands in
# front of one of an earlier kind; and tags of more than 64 bytes, 22 letters of Japanese, are not found at all.
#
# What it is: bsky-sdk is the Rust SDK of the atrium family for Bluesky; RichText is made after the model of @atproto/api.
# Versions: bsky-sdk 0.2.0 (crates.io), @atproto/api 0.21.0 (npm), the model, as the second opinion. The first run compiles for minutes.
# What the docs say: detect_facets: "Detect facets in the text and set them"; segments: "Get segments of the rich text". Lexicon
#   app.bsky.richtext.facet#tag: maxGraphemes 64, maxLength 640 (bytes).
# Guess: for "#rain in Bonn, see https://example.com/a" four segments, the tag and the link among them; the Japanese tag is found.
# Seen: two segments; the tag is plain text, although it is in facets. Facets are listed mentions first, then links, then tags, and never sorted;
#   segments() passes over one that lies behind its place. The limit of 64 is compared with bytes.
# Wrong for a user: a client that shows its own posts by segments() shows a tag before a link as plain text, and posts in Russian, Greek or Japanese
#   have fewer tags than they were written with.
# Instead: sort facets by index.byte_start before segments(); find long tags yourself.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; mkdir src; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @atproto/api@0.21.0 2>/dev/null
cat > Cargo.toml <<'TOML'
[package]
name = "probe"
version = "0.1.0"
edition = "2024"
[dependencies]
bsky-sdk = { version = "=0.2.0", default-features = false, features = ["rich-text"] }
atrium-api = { version = "=0.26.0", default-features = false, features = ["agent"] }
tokio = { version = "1", features = ["macros", "rt"] }
[profile.dev]
debug = false
TOML
cat > src/main.rs <<'RS'
use atrium_api::xrpc::{HttpClient, XrpcClient, http::{Request, Response}};
use bsky_sdk::rich_text::RichText;
struct Nobody; // no mentions, so no requests
impl HttpClient for Nobody {
    async fn send_http(&self, _: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, Box<dyn std::error::Error + Send + Sync + 'static>> { Err("no requests".into()) }
}
impl XrpcClient for Nobody { fn base_uri(&self) -> String { "http://127.0.0.1:9".into() } }
#[tokio::main(flavor = "current_thread")]
async fn main() { println!("bsky-sdk 0.2.0");
    let mut seen = vec![];
    for text in ["#rain in Bonn, see https://example.com/a", "see https://example.com/a on #rain", "今日 #あいうえおかきくけこさしすせそたちつてとなに"] {
        let rich = RichText::new_with_detect_facets(text, Nobody).await.unwrap();
        let marked: Vec<_> = rich.segments().into_iter().filter(|s| s.facet.is_some()).map(|s| s.text).collect();
        println!("{text:?} facets {} marked {marked:?}", rich.facets.as_ref().map_or(0, |f| f.len()));
        seen.push((rich.facets.map_or(0, |f| f.len()), marked.len()));
    }
    let same = seen == [(2, 1), (2, 2), (0, 0)]; println!("{}", if same { "still as stated" } else { "changed" });
    std::process::exit(!same as i32)
}
RS
cat > second.mjs <<'JS'
import { RichText } from '@atproto/api';
for (const text of ['#rain in Bonn, see https://example.com/a', 'see https://example.com/a on #rain', '今日 #あいうえおかきくけこさしすせそたちつてとなに']) {
  const rich = new RichText({ text }); rich.detectFacetsWithoutResolution();
  console.log('second opinion', JSON.stringify([...rich.segments()].filter((s) => s.facet).map((s) => s.text)));
}
JS
node second.mjs; cargo run -q 2> err.txt || { rc=$?; cat err.txt; exit $rc; }
