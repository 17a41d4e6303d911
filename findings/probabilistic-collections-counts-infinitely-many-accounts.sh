#!/usr/bin/env bash
# The HyperLogLog of the Rust crate probabilistic-collections says that it has seen infinitely many different entries, at
# an error rate of 5 % from 2,000 at the latest, and for every greater number.
#
# What it is: probabilistic-collections has Bloom filters and sketches; HyperLogLog counts different entries.
# Versions: probabilistic-collections 0.7.0; hyperloglogplus 0.4.1 for comparison (crates.io).
# What the docs say: HyperLogLog::new takes an error probability; len is an estimate, with linear counting for small numbers
#   only. Flajolet and others, "HyperLogLog" (2007), figure 3: linear counting is used only while a register is 0.
# Guess: 2,000 and 100,000 accounts within 25 % at an error rate of 5 %.
# Seen: 100 is right; 2,000 and 100,000 are inf with each of ten seeds. At 1 % 1,000 is right, 20,000 and 100,000
#   are inf. is_empty is false, no error. hyperloglogplus with 512 registers (4.6 %) is right.
# Why: the raw estimate is the reciprocal of the paper's one but for the sum, hence nearly 0 and always below the limit for
#   linear counting; and that divides by the number of registers that are still 0, of which none is left.
# Wrong number for a user: a count of active accounts works in tests with a hundred and is inf in production; JSON
#   writes inf as null, a comparison "more than a million" is true, and two inf are equal.
# Instead: hyperloglogplus, or check with is_finite.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; mkdir src
cat > Cargo.toml <<'TOML'
[package]
name = "probe"
version = "0.0.0"
edition = "2021"
[dependencies]
hyperloglogplus = "=0.4.1"
probabilistic-collections = "=0.7.0"
TOML
cat > src/main.rs <<'RUST'
use hyperloglogplus::{HyperLogLog as _, HyperLogLogPF};
use probabilistic_collections::hyperloglog::HyperLogLog;
use probabilistic_collections::SipHasherBuilder;
use std::collections::hash_map::DefaultHasher;
use std::hash::BuildHasherDefault;

/// Ten sketches of the same number of accounts: how many are infinite, and how many lie within 25 % of the truth.
fn verdict(accounts: u32, count: impl Fn(u64, &[String]) -> f64) -> String {
    let entries = |seed| (0..accounts).map(move |i| format!("did:web:{i}.{seed}.example")).collect::<Vec<_>>();
    let counts: Vec<f64> = (0..10).map(|seed| count(seed, &entries(seed))).collect();
    let infinite = counts.iter().filter(|count| count.is_infinite()).count();
    let right = counts.iter().filter(|count| (*count / f64::from(accounts) - 1.0).abs() < 0.25).count();
    format!("{infinite} infinite, {right} right")
}

fn main() {
    for (rate, accounts) in [(0.05, 100), (0.05, 2_000), (0.05, 100_000), (0.01, 1_000), (0.01, 20_000), (0.01, 100_000)] {
        let seen = verdict(accounts, |seed, entries| {
            let mut sketch = HyperLogLog::<String>::with_hasher(rate, SipHasherBuilder::from_seed(seed, 1));
            entries.iter().for_each(|entry| sketch.insert(entry));
            assert!(!sketch.is_empty());
            sketch.len()
        });
        let other = verdict(accounts, |_, entries| {
            let hasher = BuildHasherDefault::<DefaultHasher>::default();
            let mut sketch: HyperLogLogPF<String, _> = HyperLogLogPF::new(9, hasher).expect("a sketch");
            entries.iter().for_each(|entry| sketch.insert(entry));
            sketch.count()
        });
        println!("error rate {rate}, {accounts} accounts, ten seeds: observed {seen}; hyperloglogplus {other}");
    }
}
RUST
nice cargo run -q > seen.txt
echo 'probabilistic-collections 0.7.0, hyperloglogplus 0.4.1; expected: 0 infinite, 10 right'
cat seen.txt
stated() { grep -q "error rate $1, $2 accounts, ten seeds: observed $3; hyperloglogplus 0 infinite, 10 right" seen.txt; }
if stated 0.05 100 '0 infinite, 10 right' && stated 0.05 2000 '10 infinite, 0 right' && stated 0.05 100000 '10 infinite, 0 right' \
  && stated 0.01 1000 '0 infinite, 10 right' && stated 0.01 20000 '10 infinite, 0 right' && stated 0.01 100000 '10 infinite, 0 right'
then echo 'still as stated'; else echo 'changed'; exit 1; fi
