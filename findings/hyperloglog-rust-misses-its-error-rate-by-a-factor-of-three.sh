#!/usr/bin/env bash
# The Rust crate hyperloglog misses the error rate that it is asked for by a factor of three: asked for 1 % it is 3 % off,
# asked for 2 % it is 6 % off, because it makes 2^10 and 2^8 registers where 2^14 and 2^12 are needed.
#
# What it is: hyperloglog counts different entries with a HyperLogLog sketch and bias correction.
# Versions: hyperloglog 1.0.4; hyperloglogplus 0.4.1 for comparison (crates.io).
# What the docs say: new(error_rate) makes a counter with the given error rate. The paper behind it, Flajolet and others,
#   "HyperLogLog" (2007), theorem 1: the standard error is 1.04 / sqrt(m) with m registers.
# Guess: a root mean square error of 1 % over forty seeds when asked for 1 %, and of 2 % when asked for 2 %.
# Seen: about 3 % and 6 to 7 %. The sketch itself is good: hyperloglogplus stays below the asked error with the registers that
#   the paper wants, and asked for 0.128 % (below) the crate does too.
# Why: the exponent of the number of registers is the natural logarithm of (1.04 / error)^2 where the one to base 2 is meant.
# Wrong number for a user: 5,000 accounts on Monday and 5,200 on Tuesday differ by four standard errors at 1 %, by one at
#   3 %: a growth that is reported may be noise, and an alert on a drop of 5 % fires by itself.
# Instead: for an error of e ask for 1.04 / exp(log2(1.04 / e)), 0.128 % for 1 %; or use hyperloglogplus.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; mkdir src
cat > Cargo.toml <<'TOML'
[package]
name = "probe"
version = "0.0.0"
edition = "2021"
[dependencies]
hyperloglog = "=1.0.4"
hyperloglogplus = "=0.4.1"
TOML
cat > src/main.rs <<'RUST'
use hyperloglogplus::{HyperLogLog as _, HyperLogLogPF};
use std::collections::hash_map::DefaultHasher;
use std::hash::BuildHasherDefault;

const ACCOUNTS: u32 = 20_000;

/// Root mean square error of forty sketches of different accounts, in percent.
fn error(count: impl Fn(u128, &[String]) -> f64) -> f64 {
    let square = |seed: u128| {
        let entries: Vec<String> = (0..ACCOUNTS).map(|i| format!("did:web:{i}.{seed}.example")).collect();
        (count(seed, &entries) / f64::from(ACCOUNTS) - 1.0).powi(2)
    };
    100.0 * ((0..40).map(square).sum::<f64>() / 40.0).sqrt()
}

fn asked(rate: f64) -> f64 {
    error(|seed, entries| {
        let mut sketch = hyperloglog::HyperLogLog::new_deterministic(rate, seed);
        entries.iter().for_each(|entry| sketch.insert(entry));
        sketch.len()
    })
}

fn registers(exponent: u8) -> f64 {
    error(|_, entries| {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let mut sketch: HyperLogLogPF<String, _> = HyperLogLogPF::new(exponent, hasher).expect("a sketch");
        entries.iter().for_each(|entry| sketch.insert(entry));
        sketch.count()
    })
}

fn main() {
    let (one, two, more) = (asked(0.01), asked(0.02), asked(0.00128));
    let (one_plus, two_plus) = (registers(14), registers(12));
    println!("asked for 1 %: expected 1, observed {one:.2} %; hyperloglogplus with 2^14 registers {one_plus:.2} %");
    println!("asked for 2 %: expected 2, observed {two:.2} %; hyperloglogplus with 2^12 registers {two_plus:.2} %");
    println!("asked for 0.128 %: observed {more:.2} %");
    let same = (2.2..4.5).contains(&one) && (4.5..9.0).contains(&two) && more < 1.2 && one_plus < 1.2 && two_plus < 2.4;
    println!("{}", if same { "still as stated" } else { "changed" });
    std::process::exit(i32::from(!same));
}
RUST
nice cargo run -q --release
