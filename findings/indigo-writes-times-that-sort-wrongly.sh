#!/usr/bin/env bash
# The time that indigo, the Go SDK of the AT Protocol, writes for now has no zeros at its end, one time in ten: "05.19Z" comes after
# "05.199Z" and "05Z" after "05.999Z" where times are compared as text. Its own name for that layout is "preferred".
#
# What it is: syntax.DatetimeNow() and syntax.AtprotoDatetimeLayout make the createdAt and cts of records and labels in Go programs.
# Versions: github.com/bluesky-social/indigo v0.0.0-20260605210604-af2fec94f34c, package atproto/syntax; @atproto/syntax 0.7.7 (npm) normalizes the same times.
# What the docs say: AtprotoDatetimeLayout: "Preferred atproto Datetime string syntax"; DatetimeNow: "in preferred syntax". atproto.com, Lexicon,
#   datetime: "Best practice is to use at least millisecond precision, and to pad with zeros to the generated precision (eg, trailing
#   :12.340Z instead of :12.34Z)"; only padded ones stand under its heading "preferred".
# Guess: 24 characters for each of the 1,000 milliseconds of a second, in the same order as text and as times.
# Seen: 100 of the 1,000 are shorter, and 100 neighbours are in the wrong order as text; the full second comes last of all. DatetimeNow gives
#   a short one within a few calls. Padded by the second package they are all in order.
# Wrong for a user: who pages or looks for the newest by createdAt as text (SQL text columns, keys of an index) skips or repeats every tenth
#   record of Go writers at the edge of a page, and takes a post for 0.9 s newer than it is.
# Instead: format with "2006-01-02T15:04:05.000Z"; readers: compare parsed times.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @atproto/syntax@0.7.7 2>/dev/null
go mod init probe 2>/dev/null; go get github.com/bluesky-social/indigo@v0.0.0-20260605210604-af2fec94f34c 2>/dev/null
cat > main.go <<'GO'
package main
import ("fmt"; "os"; "time"; "github.com/bluesky-social/indigo/atproto/syntax")
func main() {
	start := time.Date(2026, 1, 1, 0, 0, 5, 0, time.UTC); out, _ := os.Create("times.txt")
	for ms := range 1000 { fmt.Fprintln(out, start.Add(time.Duration(ms)*time.Millisecond).Format(syntax.AtprotoDatetimeLayout)) }
	for range 200 {
		now := syntax.DatetimeNow()
		if len(now) < 24 { if _, err := syntax.ParseDatetime(now.String()); err == nil { fmt.Println("DatetimeNow gave", now); return } }
		time.Sleep(700 * time.Microsecond)
	}
	fmt.Println("DatetimeNow gave 24 characters each time"); os.Exit(1)
}
GO
go mod tidy 2>/dev/null; go run .; grep -o 'indigo v.*' go.mod
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { isValidDatetime, normalizeDatetime } from '@atproto/syntax';
console.log('@atproto/syntax', JSON.parse(readFileSync('node_modules/@atproto/syntax/package.json')).version);
const times = readFileSync('times.txt', 'utf8').trim().split('\n'), short = times.filter((t) => t.length < 24);
const wrong = (list) => list.filter((t, i) => i && t < list[i - 1]).length;
console.log(times.length, 'times, all valid:', times.every(isValidDatetime), '| short:', short.length, short.slice(0, 4));
const order = [...times].sort(); // as text
console.log('pairs of neighbours out of order:', wrong(times), '| last as text:', order.at(-1), '| behind .199Z:', order[order.indexOf(times[199]) + 1]);
const normal = times.map((t) => normalizeDatetime(t)); console.log('normalized to three digits: out of order', wrong(normal), 'short', normal.filter((t) => t.length < 24).length);
const same = times.every(isValidDatetime) && short.length === 100 && order.at(-1) === times[0] && wrong(times) > 0 && wrong(normal) === 0;
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1);
JS
node run.mjs
