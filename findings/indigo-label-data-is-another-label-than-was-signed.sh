#!/usr/bin/env bash
# The Data() of a label in indigo, the Go SDK of the AT Protocol, adds "cid": null to every label of an account: other readers refuse the JSON, and its
# signature belongs to other bytes.
#
# What it is: atproto/labeling signs, verifies and converts labels; Data() gives the map "for printing as JSON".
# Versions: github.com/bluesky-social/indigo v0.0.0-20260605210604-af2fec94f34c (Go), @atproto/api 0.21.0 (npm) as the second opinion.
# What the spec says: com.atproto.label.defs#label: cid is optional, a string, not nullable; Lexicon: an optional field may be left out, null only where
#   it is named nullable. Label spec: the signature is over the DAG-CBOR of the label without sig; an absent field and null are different bytes.
# Guess: Data() has no key cid, as json.Marshal of the same label; both are valid, and Data() without sig encodes to the signed bytes.
# Seen: "cid":null; @atproto/api says that cid must be a string; the bytes are five more, and the check of the signature over them fails.
# Why: the map is made with the cid in it before the test whether there is one. Labels of posts, which have a cid, are right.
# Wrong claim for a user: a file of labels made this way loses all labels of accounts in other readers, or they seem to be forged.
# Instead: json.Marshal the Label itself, or delete the key where CID is nil.
set -euo pipefail
T=$(mktemp -d); trap 'chmod -R u+w "$T" 2>/dev/null || true; rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @atproto/api@0.21.0 2>/dev/null
printf 'module probe\n\ngo 1.26\n\nrequire github.com/bluesky-social/indigo v0.0.0-20260605210604-af2fec94f34c\n' > go.mod
cat > main.go <<'GO'
package main
import ("encoding/json"; "fmt"; "os"; "github.com/bluesky-social/indigo/atproto/atcrypto"; "github.com/bluesky-social/indigo/atproto/atdata"; "github.com/bluesky-social/indigo/atproto/labeling")
func main() {
	fmt.Println("indigo v0.0.0-20260605210604-af2fec94f34c")
	key, _ := atcrypto.GeneratePrivateKeyK256()
	pub, _ := key.PublicKey()
	cid := "bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy"
	var signed [2]bool
	for i, l := range []labeling.Label{
		{CID: &cid, SourceDID: "did:plc:aaaabbbbccccddddeeeeffff", URI: "at://did:plc:gggghhhhiiiijjjjkkkkllll/app.bsky.feed.post/3mbcdefghij2k"},
		{SourceDID: "did:plc:aaaabbbbccccddddeeeeffff", URI: "did:plc:gggghhhhiiiijjjjkkkkllll"}} {
		l.CreatedAt, l.Val, l.Version = "2026-01-01T00:00:00.000Z", "spam", 1
		if err := l.Sign(key); err != nil { panic(err) }
		data := l.Data()
		delete(data, "sig")
		text, _ := json.Marshal(data)
		bytes, err := atdata.MarshalCBOR(data)
		plain, _ := l.UnsignedBytes()
		signed[i] = err == nil && pub.HashAndVerify(bytes, l.Sig) == nil
		fmt.Println("Data():", string(text), "\n  bytes", len(bytes), "signed", len(plain), "signature holds for Data():", signed[i], "for the label:", l.VerifySignature(pub) == nil)
		os.WriteFile(fmt.Sprintf("%d.json", i), text, 0o644)
	}
	if !signed[0] || signed[1] { os.Exit(1) }
}
GO
cat > second.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { lexicons } from '@atproto/api';
const said = [0, 1].map((i) => { const r = lexicons.validate('com.atproto.label.defs#label', JSON.parse(readFileSync(`${i}.json`))); return r.success ? 'valid' : String(r.error) });
console.log('@atproto/api:', said);
const same = said[0] === 'valid' && /cid must be a string/.test(said[1]);
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1);
JS
GOFLAGS=-mod=mod nice -n 19 flock /tmp/one.lock go run . ; node second.mjs
