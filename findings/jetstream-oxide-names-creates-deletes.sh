#!/usr/bin/env bash
# WHAT: jetstream-oxide (Rust) gives commits to the wrong variant: every update arrives as Create, and the creation of a
#       record that its built-in lexicons do not know arrives as Delete, without its record.
# VERSIONS: jetstream-oxide 0.1.2 (crates.io).
# GUESS: create, update and delete arrive as Create, Update and Delete, and an unknown record as an error or as plain JSON.
# SEEN: the enum is matched by shape, in order. Creates and updates have the same shape, so Update is never used; a record
#       that does not fit a known lexicon (another app's collection, a younger app.bsky type, one odd field) fits only the
#       last shape, Delete. The field `operation` inside still says what happened.
# WHY IT HURTS: a counter of deletions counts every record of other apps as one, and an index removes what it should add.
# INSTEAD: read `operation` in the commit's info, never the variant; expect no record for collections outside app.bsky.
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
jetstream-oxide = "=0.1.2"
serde_json = "1"
TOML
cat > src/main.rs <<'RUST'
use jetstream_oxide::events::{commit::CommitEvent, JetstreamEvent};

fn variant(operation: &str, collection: &str, record: Option<&str>) -> &'static str {
    let content = record.map_or(String::new(), |record| {
        format!(r#","record":{record},"cid":"bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy""#)
    });
    let text = format!(
        r#"{{"did":"did:plc:aaaabbbbccccddddeeeeffff","time_us":1767225600000000,"kind":"commit","commit":{{"rev":"3mbcdefghij2k","operation":"{operation}","collection":"{collection}","rkey":"3mbcdefghij2k"{content}}}}}"#
    );
    match serde_json::from_str::<JetstreamEvent>(&text) {
        Ok(JetstreamEvent::Commit(CommitEvent::Create { .. })) => "Create",
        Ok(JetstreamEvent::Commit(CommitEvent::Update { .. })) => "Update",
        Ok(JetstreamEvent::Commit(CommitEvent::Delete { .. })) => "Delete",
        Ok(_) => "another kind of event",
        Err(_) => "an error",
    }
}

fn main() {
    let post = r#"{"$type":"app.bsky.feed.post","text":"hello","createdAt":"2026-01-01T00:00:00.000Z"}"#;
    let note = r#"{"$type":"com.example.note","text":"hello"}"#;
    println!("create of a post: expected Create, observed {}", variant("create", "app.bsky.feed.post", Some(post)));
    println!("update of a post: expected Update, observed {}", variant("update", "app.bsky.feed.post", Some(post)));
    println!("delete of a post: expected Delete, observed {}", variant("delete", "app.bsky.feed.post", None));
    println!("create of a note: expected Create or an error, observed {}", variant("create", "com.example.note", Some(note)));
}
RUST
nice cargo run -q > seen.txt
echo 'jetstream-oxide 0.1.2'; cat seen.txt
if diff <(sed 's/.* //' seen.txt) <(printf '%s\n' Create Create Delete Delete) >/dev/null; then
  echo 'STILL SO: updates are called Create, and creations of unknown records Delete'
else echo 'CHANGED'; exit 1; fi
