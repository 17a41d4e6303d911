#!/usr/bin/env bash
# jacquard's Tid, the type of every "rev" of the AT Protocol, is read from a text in memory, but from a stream or from a JSON value that was
# parsed before a valid one is refused: "invalid type: string, expected a borrowed string". Its other identifiers are read everywhere.
#
# What it is: jacquard is a family of Rust crates for the AT Protocol; generated types such as getLatestCommit's output hold a Tid.
# Versions: jacquard-common 0.12.2, serde_json 1, serde_ipld_dagcbor 0.6.4 (crates.io). The first run compiles for minutes.
# What the docs say: docs.rs: "Timestamp Identifier (TID) for record keys and commit revisions"; a type that owns its text (SmolStr) and implements
#   Deserialize; serde's book: a type that owns its data should be readable without borrowing (DeserializeOwned).
# Guess: {"rev": "3jzfcijpj2z2a"} is read by from_str, from_value, from_reader and from CBOR, for Tid as for Did, Nsid and Handle.
# Seen: Tid: from_str and from_slice of CBOR only; Did: all. The bound DeserializeOwned is fulfilled, so the compiler says nothing.
# Wrong for a user: a reader that looks at the JSON first (to choose a type by $type, as one does for unions) or reads a file through a
#   BufReader gets errors for valid commits, and takes the host for broken; tests with from_str pass.
# Instead: take a String in your own struct and call Tid::new(); or serialize the value again and use from_str.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; mkdir src
cat > Cargo.toml <<'TOML'
[package]
name = "probe"
version = "0.1.0"
edition = "2024"
[dependencies]
jacquard-common = { version = "=0.12.2", default-features = false, features = ["std"] }
serde = { version = "1", features = ["derive"] }
serde_json = "1"
serde_ipld_dagcbor = "=0.6.4"
[profile.dev]
debug = false
TOML
cat > src/main.rs <<'RS'
use jacquard_common::types::string::{Did, Tid};
use serde::{Serialize, de::DeserializeOwned};
use std::io::Cursor;
#[derive(Serialize, serde::Deserialize)]
struct Rev { rev: Tid }
#[derive(Serialize, serde::Deserialize)]
struct Repo { did: Did }

fn read<T: DeserializeOwned + Serialize>(name: &str, text: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(text).unwrap();
    let cbor = serde_ipld_dagcbor::to_vec(&serde_json::from_str::<T>(text).unwrap()).unwrap();
    let results = [("from_str", serde_json::from_str::<T>(text).err().map(|e| e.to_string())),
        ("from_value", serde_json::from_value::<T>(value).err().map(|e| e.to_string())),
        ("from_reader", serde_json::from_reader::<_, T>(Cursor::new(text)).err().map(|e| e.to_string())),
        ("cbor from_slice", serde_ipld_dagcbor::from_slice::<T>(&cbor).err().map(|e| e.to_string())),
        ("cbor from_reader", serde_ipld_dagcbor::from_reader::<T, _>(Cursor::new(&cbor)).err().map(|e| e.to_string()))];
    for (way, error) in &results { println!("{name} {way}: {}", error.as_deref().unwrap_or("read")) }
    results.iter().map(|(_, e)| if e.is_none() { '1' } else { '0' }).collect()
}

fn main() { println!("jacquard-common 0.12.2");
    let (tid, did) = (read::<Rev>("Tid", r#"{"rev":"3jzfcijpj2z2a"}"#), read::<Repo>("Did", r#"{"did":"did:plc:ewvi7nxzyoun6zhxrhs64oiz"}"#));
    println!("{tid} {did}");
    let same = tid.starts_with("100") && did == "11111";
    println!("{}", if same { "still as stated" } else { "changed" });
    std::process::exit(!same as i32)
}
RS
cargo run -q 2> err.txt || { rc=$?; cat err.txt; exit $rc; }
