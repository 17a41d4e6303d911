#!/usr/bin/env bash
# In rsky-syntax set_rkey() on a parsed AT URI replaces the collection and leaves the record key, and set_collection() puts a third part in
# front, after which get_collection() still gives the old one.
#
# What it is: rsky-syntax has the identifiers of the AT Protocol for Rust, among them AtUri, after the model of @atproto/syntax.
# Versions: rsky-syntax 0.1.1 (crates.io), @atproto/syntax 0.7.7 (npm), the model, as the second opinion.
# What the spec says: atproto.com, AT URI: "at://" AUTHORITY [ "/" COLLECTION [ "/" RKEY ] ]; no slash at the end, nothing behind the record key.
# Guess: at://DID/app.bsky.feed.post/self, at://DID/app.bsky.feed.like/3jzfcijpj2z2a, and a URI of an account that is written as it was read.
# Seen: at://DID/self/3jzfcijpj2z2a; at://DID/app.bsky.feed.like/app.bsky.feed.post/3jzfcijpj2z2a, with get_collection() = app.bsky.feed.post;
#   a URI of an account gets a slash at its end, which the crate's own ensure_valid_at_uri() refuses. The path is kept with its
#   slash in front, the getters count from the part behind it, the setters from the empty part before it.
# Wrong for a user: a program that goes from a post to its threadgate, or from a list to its items, by set_collection or set_rkey reads and writes at
#   other addresses; nothing is raised, and an address with a record key in the place of the collection passes for one that does not exist.
# Instead: AtUri::make(uri.host, Some(collection), Some(rkey)).
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; mkdir src; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @atproto/syntax@0.7.7 2>/dev/null
cat > Cargo.toml <<'TOML'
[package]
name = "probe"
version = "0.1.0"
edition = "2021"
[dependencies]
rsky-syntax = "=0.1.1"
[profile.dev]
debug = false
TOML
cat > src/main.rs <<'RS'
use rsky_syntax::{aturi::AtUri, aturi_validation::ensure_valid_at_uri};
fn main() {
    println!("rsky-syntax 0.1.1");
    let did = "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz";
    let read = || AtUri::new(format!("{did}/app.bsky.feed.post/3jzfcijpj2z2a"), None).unwrap();
    let (mut a, mut b, c) = (read(), read(), AtUri::new(did.to_string(), None).unwrap());
    println!("read      {a} collection {} rkey {}", a.get_collection(), a.get_rkey());
    a.set_rkey("self".to_string());
    println!("set_rkey  {a} collection {} rkey {}", a.get_collection(), a.get_rkey());
    b.set_collection("app.bsky.feed.like".to_string());
    println!("set_coll. {b} collection {} rkey {}", b.get_collection(), b.get_rkey());
    let valid = |uri: &AtUri| ensure_valid_at_uri(uri.to_string()).is_ok();
    println!("account   {c} valid {} (as read: {})", valid(&c), ensure_valid_at_uri(did).is_ok());
    let same = a.to_string() == format!("{did}/self/3jzfcijpj2z2a") && b.to_string() == format!("{did}/app.bsky.feed.like/app.bsky.feed.post/3jzfcijpj2z2a")
        && b.get_collection() == "app.bsky.feed.post" && !valid(&c) && ensure_valid_at_uri(did).is_ok();
    println!("{}", if same { "still as stated" } else { "changed" });
    std::process::exit(!same as i32)
}
RS
cat > second.mjs <<'JS'
import { AtUri } from '@atproto/syntax';
const read = () => new AtUri('at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3jzfcijpj2z2a'), a = read(), b = read();
a.rkey = 'self'; b.collection = 'app.bsky.feed.like'; console.log('second opinion', String(a), String(b));
JS
node second.mjs; cargo run -q 2> err.txt || { rc=$?; cat err.txt; exit $rc; }
