#!/usr/bin/env bash
# WHAT: the Go SDK's data model package refuses JSON in which "$bytes" text ends in "=" padding, and its label type does too.
# VERSIONS: github.com/bluesky-social/indigo v0.0.0-20260605210604-af2fec94f34c (packages atproto/atdata and atproto/labeling).
# WHAT THE SPEC SAYS: AT Protocol data model, "JSON Representation", bytes: RFC 4648 section 4 base64, with "=" padding optional.
# GUESS: "AAE" and "AAE=" both read as the bytes 00 01.
# SEEN: only the unpadded form is read; the padded one is an error for the whole object. Lengths divisible by three have no padding, so
#       it depends on the length: a 64-byte signature always needs "==", a 33-byte public key never does.
# WHY IT HURTS: many base64 encoders pad by default. A page of labels from such a server is refused as a whole because every
#       signature is padded, while test data of a lucky length passes; what is left is a source with zero labels.
# INSTEAD: when reading, strip "=" from the values of "$bytes" first; when writing, leave the padding out.
set -euo pipefail
command -v go >/dev/null
T=$(mktemp -d); trap 'chmod -R u+w "$T" 2>/dev/null || true; rm -rf "$T"' EXIT
cd "$T"
cat > go.mod <<'MOD'
module probe

go 1.26

require github.com/bluesky-social/indigo v0.0.0-20260605210604-af2fec94f34c
MOD
cat > main.go <<'GO'
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"

	"github.com/bluesky-social/indigo/atproto/atdata"
	"github.com/bluesky-social/indigo/atproto/labeling"
)

func main() {
	fmt.Println("indigo v0.0.0-20260605210604-af2fec94f34c")
	ok := true
	check := func(what string, err error, stillRefused bool) {
		got := "read"
		if err != nil {
			got = "refused (" + err.Error() + ")"
		}
		fmt.Printf("%-34s expected read, observed %s\n", what, got)
		ok = ok && (err != nil) == stillRefused
	}
	for _, n := range []int{33, 64} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i)
		}
		raw, pad := base64.RawStdEncoding.EncodeToString(b), base64.StdEncoding.EncodeToString(b)
		_, err := atdata.UnmarshalJSON([]byte(`{"sig":{"$bytes":"` + raw + `"}}`))
		check(fmt.Sprintf("atdata, %d bytes, unpadded", n), err, false)
		_, err = atdata.UnmarshalJSON([]byte(`{"sig":{"$bytes":"` + pad + `"}}`))
		check(fmt.Sprintf("atdata, %d bytes, standard", n), err, raw != pad)
		for name, s := range map[string]string{"unpadded": raw, "standard": pad} {
			var l labeling.Label
			err = json.Unmarshal([]byte(`{"ver":1,"src":"did:plc:aaaabbbbccccddddeeeeffff","uri":"did:plc:gggghhhhiiiijjjjkkkkllll","val":"spam","cts":"2026-01-01T00:00:00.000Z","sig":{"$bytes":"`+s+`"}}`), &l)
			check(fmt.Sprintf("label, sig of %d bytes, %s", n, name), err, name == "standard" && raw != pad)
		}
	}
	if !ok {
		os.Exit(1)
	}
}
GO
if GOFLAGS=-mod=mod nice go run . ; then echo 'STILL SO: padded bytes are refused'; else echo 'CHANGED'; exit 1; fi
