#!/usr/bin/env bash
# At a 304 the Rust crate http-cache-semantics keeps only the last line of a field that came in several: of "Vary: accept" and
# "Vary: origin" the second stays, and the stored JSON is fresh for a request that asks for CSV.
#
# What it is: http-cache-semantics (crates.io) decides for HTTP caches of Rust (http-cache, a layer over reqwest
#   and surf) whether a stored answer may be used for a request.
# Versions: http-cache-semantics 3.0.0, http 1.x (crates.io).
# What the spec says: RFC 9110, 5.3: a field in several lines means what the lines joined with commas mean; RFC 9111, 4.1: a stored
#   answer is used only if all request fields named by Vary match; 3.2: a 304 replaces the stored fields that it brings.
# Guess: the request for CSV is stale, before and after the 304, with Vary in one line or in two.
# Seen: before the 304 it is stale, as it should be. After a 304 without Vary it is "Fresh" with two lines, stale with one.
# Why: the fields are copied line by line with insert, which replaces the line before, in after_response and for the answer handed out.
# Wrong claim for a user: JSON handed out as the answer to a request for CSV, for as long as max-age says, from the first
#   revalidation on; a first test without one does not show it. Two lines are common: the handler sets one, the middleware for
#   cross-origin requests appends the other.
# Instead: servers: one line, "Vary: accept, origin", or an address for each form; clients: join the lines before the policy sees them.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; mkdir src
cat > Cargo.toml <<'TOML'
[package]
name = "probe"
version = "0.1.0"
edition = "2021"
[dependencies]
http-cache-semantics = { version = "=3.0.0", default-features = false }
http = "1"
TOML
cat > src/main.rs <<'RS'
use http::{Request, Response};
use http_cache_semantics::{AfterResponse, BeforeRequest, CacheOptions, CachePolicy};
use std::time::{Duration, SystemTime};

fn get(accept: &str) -> Request<()> { Request::get("http://localhost/stars").header("accept", accept).body(()).unwrap() }
fn answer(status: u16, vary: &[&str]) -> Response<()> {
    let mut r = Response::builder().status(status).header("etag", "\"hour-5-json\"").header("cache-control", "max-age=60");
    for v in vary { r = r.header("vary", *v) }
    r.body(()).unwrap()
}
fn word(b: BeforeRequest) -> &'static str { match b { BeforeRequest::Fresh(_) => "Fresh", BeforeRequest::Stale { .. } => "Stale" } }

fn run(vary: &[&str]) -> (&'static str, &'static str) {
    let t = SystemTime::now();
    let s = |n| t + Duration::from_secs(n);
    let policy = CachePolicy::new_options(&get("application/json"), &answer(200, vary), t, CacheOptions::default());
    let before = word(policy.before_request(&get("text/csv"), s(1)));
    assert_eq!(word(policy.before_request(&get("application/json"), s(61))), "Stale");
    let AfterResponse::NotModified(policy, parts) = policy.after_response(&get("application/json"), &answer(304, &[]), s(61)) else { panic!() };
    let after = word(policy.before_request(&get("text/csv"), s(62)));
    println!("Vary lines {vary:?}: a request for text/csv is {before} before the 304, {after} after it; lines kept: {:?}", parts.headers.get_all("vary").iter().collect::<Vec<_>>());
    (before, after)
}
fn main() {
    println!("http-cache-semantics 3.0.0; stored: an answer to Accept: application/json");
    let same = run(&["accept, origin"]) == ("Stale", "Stale") && run(&["accept", "origin"]) == ("Stale", "Fresh");
    println!("{}", if same { "still as stated" } else { "changed" });
    std::process::exit(!same as i32)
}
RS
cargo run -q 2> err.txt || { rc=$?; cat err.txt; exit $rc; }
