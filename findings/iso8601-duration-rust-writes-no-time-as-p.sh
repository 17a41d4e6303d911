#!/usr/bin/env bash
# The Rust crate iso8601-duration writes a duration of zero as "P", which it cannot read, and counts in floats of 24 bits: 200 days
# and a second are 200 days, and PT1604676851S, written again, ends in 864.
#
# What it is: iso8601-duration (crates.io) reads and writes ISO 8601 durations, also as serde fields.
# Versions: iso8601-duration 0.2.0; iso8601 0.6.6 for comparison (crates.io).
# What the spec says: ISO 8601-1:2019, 5.5.2: a duration has at least one component; zero is PT0S or P0D. The crate's README says
#   nothing of a limit; its docs offer to_std, "Convert duration to std::time::Duration", which counts in nanoseconds.
# Guess: PT0S, P0D and P200DT1S come back as they were or as equals, and to_std gives 0 s, 0 s and 17,280,001 s.
# Seen: PT0S and P0D are written as "P", an error when read; P200DT1S is 17,280,000 s as a number, for num_seconds and to_std alike.
#   PT1604676851S is written as PT1604676900S or the like. iso8601 reads all of them to the second. No error.
# Why: components are f32, exact up to 16,777,216 only (194 days in seconds), and only those above zero are written.
# Wrong number for a user: an age or an uptime above half a year is off by a second, above 34 years by a minute; a field that was
#   zero when it was written makes the whole document unreadable later.
# Instead: the crate iso8601 (Duration, exact integers), or whole days and seconds in two fields.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; mkdir src
cat > Cargo.toml <<'TOML'
[package]
name = "probe"
version = "0.1.0"
edition = "2021"
[dependencies]
iso8601-duration = "=0.2.0"
iso8601 = "=0.6.6"
TOML
cat > src/main.rs <<'RS'
use iso8601_duration::Duration;
fn main() {
    println!("iso8601-duration 0.2.0, iso8601 0.6.6");
    let mut seen = vec![];
    for text in ["PT1H", "PT0S", "P0D", "P200DT1S", "PT1604676851S"] {
        let d: Duration = text.parse().unwrap();
        let again = d.to_string();
        let s = d.to_std().unwrap().as_secs();
        let other = std::time::Duration::from(iso8601::duration(text).unwrap()).as_secs();
        println!("{text:14} to_std {s} s (iso8601: {other} s), written as {again:14} read again: {:?}", again.parse::<Duration>().map(|d| d.num_seconds()));
        seen.push((again.clone(), s, other, again.parse::<Duration>().is_ok()));
    }
    let ok = |i: usize, w: &str, s, o, r| seen[i] == (w.to_string(), s, o, r);
    let same = ok(0, "PT1H", 3600, 3600, true) && ok(1, "P", 0, 0, false) && ok(2, "P", 0, 0, false) && ok(3, "P200DT1S", 17280000, 17280001, true)
        && ok(4, "PT1604676900S", 1604676864, 1604676851, true);
    println!("{}", if same { "still as stated" } else { "changed" });
    std::process::exit(!same as i32)
}
RS
cargo run -q 2> err.txt || { rc=$?; cat err.txt; exit $rc; }
