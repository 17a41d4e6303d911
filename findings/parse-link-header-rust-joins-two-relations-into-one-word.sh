#!/usr/bin/env bash
# The Rust crate parse_link_header takes all blanks out of a Link header: a page that is "next" and "last" at once gets the
# relation "nextlast", and a loop that asks for "next" ends before the last page.
#
# What it is: parse_link_header reads the Link headers of HTTP answers into a map by relation.
# Versions: parse_link_header 0.4.1 (crates.io); http-link-header 1.1.4 (npm) for comparison.
# What the spec says: RFC 8288, 3.3: rel holds one or more relation types with blanks between them; each of them is a link
#   of its own (section 3: one link-value with several relations describes several links).
# Guess: the address under both "next" and "last"; title "Two hours" as written.
# Seen: one entry "nextlast", no "next" and no "last", no error. title="Two hours" becomes "Twohours", and two links of
#   the same relation leave the last one only. A single relation is right.
# Why: each parameter is stripped of quotes and of all blanks, not only of those at its ends, before it is used.
# Wrong number for a user: a server whose second of two pages is both the next and the last one says so in one link. The
#   client stops after the first page, and sums stay too small by just the last page.
# Instead: split what you get in no case; follow a cursor from the body, or read the header with another parser.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; mkdir src
cat > Cargo.toml <<'TOML'
[package]
name = "probe"
version = "0.0.0"
edition = "2021"
[dependencies]
parse_link_header = "=0.4.1"
TOML
cat > headers.txt <<'HEADERS'
</hours?page=2>; rel="next"
</hours?page=2>; rel="next last"
</hours?page=2>; rel="next"; title="Two hours"
HEADERS
cat > src/main.rs <<'RUST'
fn main() {
    for header in std::fs::read_to_string("headers.txt").expect("headers").lines() {
        let links = parse_link_header::parse_with_rel(header).expect("no error");
        let mut found: Vec<String> = links.iter().map(|(rel, link)| {
            let title = link.params.get("title").map_or(String::new(), |title| format!(" \"{title}\""));
            format!("{rel} {}{title}", link.raw_uri)
        }).collect();
        found.sort();
        println!("{}", found.join("; "));
    }
}
RUST
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund http-link-header@1.1.4 >/dev/null
cat > other.mjs <<'JS'
import { readFileSync } from 'node:fs'
import LinkHeader from 'http-link-header'
for (const header of readFileSync('headers.txt', 'utf8').trim().split('\n')) {
  console.log(LinkHeader.parse(header).refs.map((l) => `${l.rel} ${l.uri}${l.title ? ` "${l.title}"` : ''}`).sort().join('; '))
}
JS
node other.mjs > expected.txt
nice cargo run -q > seen.txt
printf '%s\n' 'next /hours?page=2' 'nextlast /hours?page=2' 'next /hours?page=2 "Twohours"' > stated.txt
echo 'parse_link_header 0.4.1 | http-link-header 1.1.4'
paste -d'|' headers.txt expected.txt seen.txt | sed 's/|/\n  expected /; s/|/\n  observed /'
if cmp -s seen.txt stated.txt && [ "$(sed -n 2p expected.txt)" = 'last /hours?page=2; next /hours?page=2' ]
then echo 'still as stated'; else echo 'changed'; exit 1; fi
