#!/usr/bin/env bash
# slices-lexicon (Rust) looks for a TID in the wrong alphabet, without i, l, o and u: seven TIDs of ten are invalid for it. So are at:// addresses with a handle,
# did:web with a path, record keys with a colon, and bytes in the form that JSON has for them.
#
# What it is: slices-lexicon checks records against Lexicon schemas; it is also the core of a command line tool and of an editor extension.
# Versions: slices-lexicon 0.2.3 (crates.io), @atproto/lexicon 0.7.17 (npm) as the second opinion. The first run compiles for a minute.
# What the spec says: TID: the letters 234567abcdefghijklmnopqrstuvwxyz. AT URI: the authority is a DID or a handle. DID: colons may stand in the
#   identifier, did:web writes paths with them. Record Key: a colon is allowed. Data model: bytes are {"$bytes": ...} in JSON.
# Guess: what @atproto/lexicon takes, slices-lexicon takes.
# Seen: of 1000 TIDs, one for every 37 minutes of January 2026, 277 are taken; the other kinds not at all; bytes only as a bare string.
# Why: the pattern is that of Crockford's base32; the other patterns lack the colon or the handle.
# Wrong claim for a user: seven tenths of the valid references by TID are "invalid", at random, so it looks like bad data of the authors; an index that drops
#   them keeps the rest.
# Instead: check strings of these formats with another library, and leave "format" out of the schemas given to this one.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; mkdir src; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @atproto/lexicon@0.7.17 2>/dev/null
printf '[package]\nname = "probe"\nversion = "0.1.0"\nedition = "2024"\n[dependencies]\nslices-lexicon = { version = "=0.2.3", default-features = false }\nserde_json = "1"\n[profile.dev]\ndebug = false\n' > Cargo.toml
cat > make.mjs <<'JS'
import { writeFileSync } from 'node:fs';
import { Lexicons, jsonToLex } from '@atproto/lexicon';
const tid = (micros, clock) => { let v = (BigInt(micros) << 10n) | BigInt(clock), s = ''; for (let i = 0; i < 13; i++) { s = '234567abcdefghijklmnopqrstuvwxyz'[Number(v & 31n)] + s; v >>= 5n } return s };
const values = { tid: [...Array(1000).keys()].map((i) => tid(1767225600000000 + i * 2220123457, (i * 37) % 1024)), 'at-uri': ['at://alice.example.com/app.bsky.feed.post/3mbcdefghij2k'], did: ['did:web:example.com:u:alice'], 'record-key': ['pre:fix'], bytes: [{ $bytes: 'AAEC' }] };
const cases = Object.entries(values).map(([kind, list]) => ({ kind, lexicon: { lexicon: 1, id: 'com.example.t', defs: { main: { type: 'record', key: 'tid', record: { type: 'object', required: ['v'], properties: { v: kind === 'bytes' ? { type: 'bytes' } : { type: 'string', format: kind } } } } } }, records: list.map((v) => ({ $type: 'com.example.t', v })) }));
writeFileSync('cases.json', JSON.stringify(cases));
for (const { kind, lexicon, records } of cases) {
  const lex = new Lexicons([lexicon]); let ok = 0; for (const r of records) { lex.assertValidRecord('com.example.t', jsonToLex(r)); ok++ }
  console.log('@atproto/lexicon', kind, ok, 'of', records.length);
}
JS
cat > src/main.rs <<'RS'
use serde_json::Value;
fn main() {
    println!("slices-lexicon 0.2.3");
    let cases: Vec<Value> = serde_json::from_str(&std::fs::read_to_string("cases.json").unwrap()).unwrap();
    let mut same = true;
    for case in &cases {
        let records = case["records"].as_array().unwrap();
        let said: Vec<_> = records.iter().map(|r| slices_lexicon::validate_record(vec![case["lexicon"].clone()], "com.example.t", r.clone())).collect();
        let ok = said.iter().filter(|s| s.is_ok()).count();
        let reason = said.iter().find_map(|s| s.as_ref().err()).map(|e| e.to_string()).unwrap_or_default();
        println!("slices-lexicon {} expected {} observed {ok} {reason}", case["kind"], records.len());
        same &= if records.len() == 1000 { ok == 277 } else { ok == 0 };
    }
    println!("{}", if same { "still as stated" } else { "changed" });
    std::process::exit(!same as i32)
}
RS
node make.mjs; nice -n 19 flock /tmp/one.lock cargo run -q 2> err.txt || { rc=$?; cat err.txt; exit $rc; }
