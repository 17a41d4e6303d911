#!/usr/bin/env bash
# The Rust crate prometheus-parse cuts a label value at its first comma, leaves out a label whose value
# holds "=", and leaves out a sample whose value holds "}" or whose braces are empty, without an error.
#
# What it is: prometheus-parse reads a page of metrics in the Prometheus text format.
# Versions: prometheus-parse 0.2.5 (crates.io).
# What the docs say: the README calls it a simple but effective parser of the scrape format and names no
#   limits. Prometheus, "Exposition formats": a label value is any UTF-8 text, in which only \\, \"
#   and \n are escaped, and the labels in braces may be none.
# Guess: seven samples with the label values that were written, or an error that names the line.
# Seen: five samples. Two collections that begin alike ("a,b" and "a,c") become one series "a" that is
#   there twice; "k=v" loses its label; escapes stay in the text (q\"r for q"r). The samples with
#   "}" and with {} are missing, and parse() says Ok.
# Wrong number for a user: who keeps samples by their labels keeps the last of several series; who adds
#   them up gets a sum without the dropped ones; a series with such a label is never seen at all.
# Instead: openmetrics-parser reads such values and reports what it cannot read; compare the number
#   of samples with the number of lines that do not start with #.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; mkdir src
cat > Cargo.toml <<'TOML'
[package]
name = "probe"
version = "0.0.0"
edition = "2021"
[dependencies]
prometheus-parse = "=0.2.5"
TOML
cat > page.txt <<'PAGE'
# TYPE events counter
events{collections="plain"} 1
events{collections="a,b"} 2
events{collections="a,c"} 3
events{collections="k=v"} 4
events{collections="q\"r"} 5
events{collections="curly}"} 6
events{} 7
PAGE
cat > src/main.rs <<'RUST'
use prometheus_parse::{Scrape, Value};

fn main() {
    let page = std::fs::read_to_string("page.txt").expect("page.txt");
    let scrape = Scrape::parse(page.lines().map(|line| Ok(line.to_string()))).expect("no error");
    for sample in scrape.samples {
        if let Value::Counter(value) = sample.value {
            let label = sample.labels.get("collections").unwrap_or("(no label)");
            println!("{value} {label}");
        }
    }
}
RUST
nice cargo run -q > seen.txt
printf '%s\n' '1 plain' '2 a,b' '3 a,c' '4 k=v' '5 q"r' '6 curly}' '7 (no label)' > expected.txt
printf '%s\n' '1 plain' '2 a' '3 a' '4 (no label)' '5 q\"r' > stated.txt
echo 'prometheus-parse 0.2.5'
echo "expected: $(paste -sd';' expected.txt)"
echo "observed: $(paste -sd';' seen.txt)"
if cmp -s seen.txt stated.txt; then echo 'still as stated'; else echo 'changed'; exit 1; fi
