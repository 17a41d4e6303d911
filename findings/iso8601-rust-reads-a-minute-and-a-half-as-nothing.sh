#!/usr/bin/env bash
# The Rust crate iso8601 reads PT1.5M and PT0.5H as durations of zero, and PT1H1.5M as one hour, without an error.
#
# What it is: iso8601 parses dates, times and durations of ISO 8601.
# Versions: iso8601 0.6.6, speedate 0.18.0 for comparison (crates.io).
# What the spec says: ISO 8601-1:2019, 5.5.2.3: the last component of a duration may have a decimal fraction.
# Guess: 90 s and 1,800 s, or an error, as for P0.5D.
# Seen: Ok with 0 s for PT1.5M and PT0.5H, 3,600 s for PT1H1.5M, 86,400 s for P1DT0.5H, and 0 s for PT0.5H30S, which is not
#   valid. P0.5D is an error. PT90M, PT90S, PT6.5S and PT6,5S are right.
# Why: hours and minutes are whole numbers, and each is optional. At the point the parser finds no component and stops;
#   duration() throws away what is left of the text and calls it a success. The page of the module
#   parsers says that it does. After P at least one component must be read, after T none: hence the error for P0.5D alone.
# Wrong number for a user: a window or a retry of "PT0.5H" is zero long: no event falls into it, or the request
#   is repeated at once. The check for Err that a caller writes never fires.
# Instead: parsers::parse_duration of the same crate returns the rest (below): refuse unless it is empty. Or speedate.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; mkdir src
cat > Cargo.toml <<'TOML'
[package]
name = "probe"
version = "0.0.0"
edition = "2021"
[dependencies]
iso8601 = "=0.6.6"
speedate = "=0.18.0"
TOML
cat > src/main.rs <<'RUST'
use std::time::Duration;

fn main() {
    let texts = ["PT90M", "PT90S", "PT6.5S", "PT6,5S", "PT1.5M", "PT0.5H", "PT1H1.5M", "P1DT0.5H", "PT0.5H30S", "P0.5D"];
    for text in texts {
        let read = match iso8601::duration(text) {
            Ok(duration) => Duration::from(duration).as_secs_f64().to_string(),
            Err(_) => "error".to_string(),
        };
        let rest = match iso8601::parsers::parse_duration(text.as_bytes()) {
            Ok((rest, _)) => String::from_utf8_lossy(rest).to_string(),
            Err(_) => "error".to_string(),
        };
        let other = match speedate::Duration::parse_str(text) {
            Ok(d) => (d.signed_total_seconds() as f64 + f64::from(d.microsecond) / 1e6).to_string(),
            Err(_) => "error".to_string(),
        };
        println!("{text} {read} {other} [{rest}]");
    }
}
RUST
nice cargo run -q > seen.txt
cat > stated.txt <<'END'
PT90M 5400 5400 []
PT90S 90 90 []
PT6.5S 6.5 6.5 []
PT6,5S 6.5 6.5 []
PT1.5M 0 90 [1.5M]
PT0.5H 0 1800 [0.5H]
PT1H1.5M 3600 3690 [1.5M]
P1DT0.5H 86400 88200 [0.5H]
PT0.5H30S 0 error [0.5H30S]
P0.5D error 43200 [error]
END
echo 'iso8601 0.6.6: duration, observed seconds, expected seconds (speedate), [rest that parse_duration returns]'
cat seen.txt
if cmp -s seen.txt stated.txt; then echo 'still as stated'; else echo 'changed'; exit 1; fi
