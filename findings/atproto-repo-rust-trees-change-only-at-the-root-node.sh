#!/usr/bin/env bash
# WHAT: the Merkle Search Tree of atproto-repo (Rust) writes to the root node only: a tree that it builds has another root CID
#       than everybody else's, and in a tree that it has read, delete() of most records does nothing and says Ok.
# VERSIONS: atproto-repo 0.14.5 (crates.io), @atproto/repo 0.10.14 and multiformats 13.4.2 (npm) as the second opinion.
# WHAT THE DOCS SAY: the README lists a deterministic tree for AT Protocol repositories with insert, get, delete and list; delete()
#       returns the new root. Repository spec: the layer of a path follows from the SHA-256 of the path, so that the same paths and
#       CIDs always make the same tree, whatever the order and the software.
# GUESS: twelve inserts give the reference implementation's root; a deleted record is gone and an updated one is there once.
# SEEN: the twelve are put into one node (which the crate reads back well, so that a test with it alone passes). Of
#       the reference tree, a record below the root stays after delete(), with the same root; insert() of a new
#       value for it makes the path appear twice, with both values.
# WHY IT HURTS: a commit signed over such a root is not what others compute from the same records; a mirror that applies
#       deletions goes on showing and counting deleted records, and counts updated ones twice.
# INSTEAD: read with it, write with another: @atproto/repo, indigo's atproto/repo/mst, @atcute/mst.
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
atproto-repo = { version = "=0.14.5", default-features = false }
cid = "0.11"
tokio = { version = "1", features = ["macros", "rt"] }
[profile.dev]
debug = false
TOML
cat > src/main.rs <<'RUST'
use atproto_repo::{BlockStorage, MemoryStorage, Mst, RepoConfig};
use cid::Cid;

/// Reads the lines "root CID", "block CID HEX" and "leaf PATH CID", and prints what the crate makes of them.
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let text = std::fs::read_to_string("tree.txt").expect("tree.txt");
    let mut storage = MemoryStorage::new();
    let (mut root, mut leaves) = (String::new(), Vec::new());
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[0] {
            "root" => root = words[1].to_string(),
            "block" => {
                let bytes = (0..words[2].len()).step_by(2).map(|i| u8::from_str_radix(&words[2][i..i + 2], 16).expect("hex"));
                storage.put(&Cid::try_from(words[1]).expect("a CID"), bytes.collect()).await.expect("stored");
            }
            _ => leaves.push((words[1].to_string(), Cid::try_from(words[2]).expect("a CID"))),
        }
    }
    let mut built = Mst::new(MemoryStorage::new(), RepoConfig::default());
    for (path, cid) in &leaves {
        built.insert(path, (*cid).into()).await.expect("inserted");
    }
    assert_eq!(built.entries().await.expect("entries").len(), leaves.len());
    println!("built {}", built.root().expect("a root"));

    let start = Cid::try_from(root.as_str()).expect("a CID");
    let (path, other) = (leaves[0].0.as_str(), leaves[1].1);
    let count = |entries: Vec<(String, _)>| format!("{} of {}", entries.iter().filter(|(key, _)| key == path).count(), entries.len());
    let mut tree = Mst::from_root(start, storage, RepoConfig::default());
    println!("read {}", count(tree.entries().await.expect("entries")));
    let after = tree.delete(path).await.expect("deleted").expect("a root");
    println!("deleted {} ({})", count(tree.entries().await.expect("entries")), if after == start { "same root" } else { "new root" });
    tree.insert(path, other.into()).await.expect("updated");
    println!("updated {}", count(tree.entries().await.expect("entries")));
}
RUST
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund @atproto/repo@0.10.14 multiformats@13.4.2 >/dev/null
cat > reference.js <<'JS'
import { writeFileSync } from 'node:fs';
import { MemoryBlockstore, MST } from '@atproto/repo';
import { CID } from 'multiformats/cid';
import { sha256 } from 'multiformats/hashes/sha2';

// Twelve records; the first path lies below the root node.
const paths = Array.from({ length: 12 }, (_, i) => `com.example.flag/r${String(i).padStart(4, '0')}`);
const value = async (i) => CID.createV1(0x71, await sha256.digest(new Uint8Array([i])));
let tree = await MST.create(new MemoryBlockstore());
const leaves = [];
for (const [i, path] of paths.entries()) {
	leaves.push([path, await value(i)]);
	tree = await tree.add(path, leaves.at(-1)[1]);
}
const { root, blocks } = await tree.getUnstoredBlocks();
const top = (await tree.getEntries()).filter((e) => e.isLeaf()).map((e) => e.key);
leaves.sort(([a], [b]) => Number(top.includes(a)) - Number(top.includes(b)));
const hex = (bytes) => Buffer.from(bytes).toString('hex');
writeFileSync('tree.txt', [
	`root ${root}`, ...blocks.entries().map((b) => `block ${b.cid} ${hex(b.bytes)}`), ...leaves.map(([path, cid]) => `leaf ${path} ${cid}`),
].join('\n') + '\n');
console.log(`built ${root}\nread 1 of 12\ndeleted 0 of 11 (new root)\nupdated 1 of 12`);
JS
node reference.js > expected.txt
nice -n 10 cargo run -q > seen.txt
echo 'atproto-repo 0.14.5 | @atproto/repo 0.10.14'
paste -d'|' expected.txt seen.txt | sed 's/^/expected /; s/|/ | observed /'
if [ "$(head -1 seen.txt)" != "$(head -1 expected.txt)" ] && diff <(tail -3 seen.txt) <(printf '%s\n' 'read 1 of 12' 'deleted 1 of 12 (same root)' 'updated 2 of 13') >/dev/null
then echo 'STILL SO: only the root node is ever changed'; else echo 'CHANGED'; exit 1; fi
