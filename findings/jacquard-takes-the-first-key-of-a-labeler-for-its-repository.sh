#!/usr/bin/env bash
# jacquard-common takes the first Multikey of a DID document for the key of the repository, so for a labeler whose label key stands first it is the
# wrong one; and a document that is made owned (into_static) or read without @context has another @context than it was written with.
#
# What it is: jacquard is a family of Rust crates for the AT Protocol; DidDocument gives handle, key and host of an account.
# Versions: jacquard-common 0.12.2 (crates.io), @atproto/common-web 0.5.17 (npm) as the second opinion. The first run compiles for minutes.
# What the spec says: atproto.com, DID: the signing key is in an object "with id ending #atproto, the controller matching the DID itself"; the first
#   such key is used. Label spec: the key of a labeler has the id #atproto_label. W3C DID Core: no order among different ids.
# Guess: the key with the id #atproto for both orders; @context as it was read.
# Seen: the key of #atproto_label where that stands first; after into_static() the three default contexts, though one other was read.
# Why: atproto_multikey() and atproto_public_key() look at the type alone; into_static() sets default_context().
# Wrong for a user: valid commits of that account fail their signature check, and the labeler seems to be broken; a stored copy of the document
#   is another document.
# Instead: look through verification_method for the id; keep the JSON text if the document is to be stored.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; mkdir src; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @atproto/common-web@0.5.17 2>/dev/null
cat > Cargo.toml <<'TOML'
[package]
name = "probe"
version = "0.1.0"
edition = "2024"
[dependencies]
jacquard-common = { version = "=0.12.2", default-features = false, features = ["std"] }
serde_json = "1"
[profile.dev]
debug = false
TOML
cat > src/main.rs <<'RS'
use jacquard_common::{IntoStatic, types::did_doc::DidDocument};
fn main() {
    println!("jacquard-common 0.12.2");
    let key = |id: &str, key: &str| format!(r#"{{"id":"did:web:labels.example.com#{id}","type":"Multikey","controller":"did:web:labels.example.com","publicKeyMultibase":"{key}"}}"#);
    let (repo, label) = (key("atproto", "zQ3shXjHeiBuRCKmM36cuYnm7YEMzhGnCmCyW92sRJ9pribSF"), key("atproto_label", "zQ3shZc2QzApp2oymGvQbzP8eKheVshBHbU4ZYjeXqwSKEn6N"));
    let text = |keys: String| format!(r#"{{"@context":["https://www.w3.org/ns/did/v1"],"id":"did:web:labels.example.com","verificationMethod":[{keys}]}}"#);
    let orders = [text(format!("{repo},{label}")), text(format!("{label},{repo}"))];
    for order in &orders { std::fs::write(format!("doc{}.json", order.find("_label").unwrap() % 1000), order).unwrap() }
    let keys: Vec<String> = orders.iter().map(|t| serde_json::from_str::<DidDocument>(t).unwrap().atproto_multikey().unwrap().to_string()).collect();
    println!("#atproto first: {}\n#atproto_label first: {}", keys[0], keys[1]);
    let read: DidDocument = serde_json::from_str(&orders[0]).unwrap();
    let (before, after) = (read.context.len(), read.into_static().context.len());
    println!("contexts read: {before}, after into_static: {after}");
    let same = repo.contains(&keys[0]) && label.contains(&keys[1]) && before == 1 && after == 3;
    println!("{}", if same { "still as stated" } else { "changed" });
    std::process::exit(!same as i32)
}
RS
cat > second.mjs <<'JS'
import { readFileSync, readdirSync } from 'node:fs';
import { getSigningKey } from '@atproto/common-web';
for (const name of readdirSync('.').filter((n) => n.startsWith('doc'))) console.log('second opinion', getSigningKey(JSON.parse(readFileSync(name))).publicKeyMultibase);
JS
cargo run -q 2> err.txt || { rc=$?; cat err.txt; exit $rc; }
node second.mjs
