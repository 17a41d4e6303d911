#!/usr/bin/env bash
# atproto-identity (Rust) gives the first alias of a DID document as the handle of the account, be it the address of a home page: "https://example.org/about".
#
# What it is: atproto-identity resolves handles and DIDs of the AT Protocol; Document is its DID document.
# Versions: atproto-identity 0.14.5 (crates.io), @atproto/common-web 0.5.17 (npm) as the second opinion. The first run compiles for minutes.
# What the spec says: atproto.com, DID: handles in alsoKnownAs "will have the URI scheme at://"; "The current primary handle is the first valid
#   handle URI found in the ordered list. Any other handle URIs should be ignored." W3C DID Core: alsoKnownAs is a set of URIs of any kind.
# Guess: alice.example.com for all three lists.
# Seen: alice.example.com where the at:// alias comes first; "https://example.org/about" and "mailto:alice@example.org" where such a one does. The
#   function is called handles() and says "primary handle"; it takes the first entry and only strips at:// "if present".
# Wrong for a user: an account of a did:web that lists its home page first has no valid handle for these programs, though it resolves both ways; who
#   shows the result shows an address that the person chose in the place of a verified name.
# Instead: document.also_known_as.iter().find_map(|alias| alias.strip_prefix("at://")), then verify it.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; mkdir src; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @atproto/common-web@0.5.17 2>/dev/null
cat > Cargo.toml <<'TOML'
[package]
name = "probe"
version = "0.1.0"
edition = "2024"
[dependencies]
atproto-identity = { version = "=0.14.5", default-features = false }
serde_json = "1"
[profile.dev]
debug = false
TOML
cat > src/main.rs <<'RS'
use atproto_identity::model::Document;
fn main() {
    println!("atproto-identity 0.14.5");
    let lists = [["at://alice.example.com", "https://example.org/about"], ["https://example.org/about", "at://alice.example.com"], ["mailto:alice@example.org", "at://alice.example.com"]];
    let mut seen = vec![];
    for (i, list) in lists.iter().enumerate() {
        let text = format!(r#"{{"@context":["https://www.w3.org/ns/did/v1"],"id":"did:web:alice.example.com","alsoKnownAs":{},"verificationMethod":[],"service":[]}}"#, serde_json::to_string(list).unwrap());
        std::fs::write(format!("doc{i}.json"), &text).unwrap();
        let handle = serde_json::from_str::<Document>(&text).unwrap().handles().unwrap().to_string();
        println!("{list:?} -> {handle}"); seen.push(handle);
    }
    let same = seen == ["alice.example.com", "https://example.org/about", "mailto:alice@example.org"];
    println!("{}", if same { "still as stated" } else { "changed" });
    std::process::exit(!same as i32)
}
RS
cat > second.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { getHandle } from '@atproto/common-web';
for (const i of [0, 1, 2]) console.log('second opinion', getHandle(JSON.parse(readFileSync(`doc${i}.json`))));
JS
cargo run -q 2> err.txt || { rc=$?; cat err.txt; exit $rc; }
node second.mjs
