#!/usr/bin/env bash
# A record with a field that is a union of record types, as the Lexicon language allows, is invalid for both reference validators: @atproto/lexicon says
# "Unexpected lexicon type: record", indigo "unhandled schema type"; the same data under a type that they do not know is valid.
#
# What it is: @atproto/lexicon (npm) and atproto/lexicon of indigo (Go) check records against the schemas of an application.
# Versions: @atproto/lexicon 0.7.17, indigo v0.0.0-20260605210604-af2fec94f34c; @atcute/lexicons 2.1.0 (npm) as the second opinion.
# What the spec says: atproto.com, Lexicon, union: the definitions that a union points to must have the type object or record. (A change for
#   @atproto/lexicon, pull request 3864 of 2025, is open.)
# Guess: a feed whose item is a com.example.post with a text is valid; with a number for a text it is not.
# Seen: both loaded the schemas without complaint and refuse both, for the same reason; @atcute/lexicons tells them apart.
# Why: the function that checks a value by the type of its definition has no case for record.
# Wrong claim for a user: an index that keeps valid records only has none of that application; a share of invalid records near 100 percent says
#   nothing about its authors.
# Instead: in the copy of the schemas used for checking, move the object of each such record to a definition of its own.
set -euo pipefail
T=$(mktemp -d); trap 'chmod -R u+w "$T" 2>/dev/null || true; rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @atproto/lexicon@0.7.17 @atcute/lexicons@2.1.0 2>/dev/null
echo '{"lexicon":1,"id":"com.example.post","defs":{"main":{"type":"record","key":"tid","record":{"type":"object","required":["text"],"properties":{"text":{"type":"string"}}}}}}' > post.json
echo '{"lexicon":1,"id":"com.example.feed","defs":{"main":{"type":"record","key":"tid","record":{"type":"object","required":["item"],"properties":{"item":{"type":"union","refs":["com.example.post"]}}}}}}' > feed.json
echo '[{"$type":"com.example.feed","item":{"$type":"com.example.post","text":"hello"}},{"$type":"com.example.feed","item":{"$type":"com.example.post","text":5}},{"$type":"com.example.feed","item":{"$type":"com.example.other","text":5}}]' > data.json
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { Lexicons } from '@atproto/lexicon';
import * as v from '@atcute/lexicons/validations';
const [post, feed, data] = ['post', 'feed', 'data'].map((n) => JSON.parse(readFileSync(n + '.json')));
const lex = new Lexicons([post, feed]), check = (r) => { try { lex.assertValidRecord('com.example.feed', r); return 'valid' } catch (e) { return e.message } };
const p = v.record(v.tidString(), v.object({ $type: v.literal('com.example.post'), text: v.string() }));
const f = v.record(v.tidString(), v.object({ $type: v.literal('com.example.feed'), item: v.variant([p]) }));
const one = data.map(check), two = data.map((r) => v.safeParse(f, r).ok);
console.log('expected          ', ['valid', 'invalid', 'valid']); console.log('@atproto/lexicon  ', one); console.log('@atcute/lexicons  ', two);
process.exit(one[0] === 'Unexpected lexicon type: record' && one[0] === one[1] && one[2] === 'valid' && two.join() === 'true,false,true' ? 0 : 1);
JS
printf 'module probe\n\ngo 1.26\n\nrequire github.com/bluesky-social/indigo v0.0.0-20260605210604-af2fec94f34c\n' > go.mod
cat > main.go <<'GO'
package main
import ("encoding/json"; "fmt"; "os"; "github.com/bluesky-social/indigo/atproto/lexicon")
func main() {
	cat := lexicon.NewBaseCatalog()
	for _, name := range []string{"post", "feed"} {
		var s lexicon.SchemaFile
		raw, _ := os.ReadFile(name + ".json")
		if err := json.Unmarshal(raw, &s); err != nil { panic(err) }
		if err := cat.AddSchemaFile(s); err != nil { panic(err) }
	}
	var data []map[string]any
	raw, _ := os.ReadFile("data.json")
	json.Unmarshal(raw, &data)
	var said [3]string
	for i, d := range data { said[i] = fmt.Sprint(lexicon.ValidateRecord(cat, d, "com.example.feed", 0)) }
	fmt.Printf("indigo (nil: valid) %q\n", said)
	if said != [3]string{"unhandled schema type: lexicon.SchemaRecord", "unhandled schema type: lexicon.SchemaRecord", "<nil>"} { os.Exit(1) }
}
GO
rc=0; node run.mjs || rc=1; GOFLAGS=-mod=mod nice -n 19 flock /tmp/one.lock go run . || rc=1
[ "$rc" = 0 ] && echo 'still as stated' || { echo changed; exit 1; }
