#!/usr/bin/env bash
# WHAT: the Go SDK's data model package reads a JSON integer above 2^53 as a neighbouring number, without an error; the same
#       record in CBOR is read exactly.
# VERSIONS: github.com/bluesky-social/indigo v0.0.0-20260605210604-af2fec94f34c (package atproto/atdata).
# WHAT THE SPEC SAYS: AT Protocol data model, "Data Types": integers are signed 64-bit; staying within 53 bits is advice for the sake of
#       JavaScript. The package itself has an error that speaks of numbers that are not safe integers.
# GUESS: in a language with 64-bit integers the value is exact, or that error is given.
# SEEN: JSON goes through a float first. 9007199254740993 becomes ...992 and a 19-digit id loses its last digits; the check only
#       asks whether the float is a whole number, which every large float is. The largest 64-bit value is refused as "not safe".
# WHY IT HURTS: ids of other networks (19 digits) kept as integers in records turn into wrong ids that exist, and a record fetched as
#       JSON hashes to another CID than the one it was fetched under, while the firehose copy of it verifies.
# INSTEAD: work from the CBOR block, or decode JSON with UseNumber and convert the integers yourself.
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
	"encoding/binary"
	"fmt"
	"os"

	"github.com/bluesky-social/indigo/atproto/atdata"
)

func main() {
	fmt.Println("indigo v0.0.0-20260605210604-af2fec94f34c")
	ok := true
	for _, r := range []struct {
		n    int64
		json string
	}{
		{9007199254740991, "9007199254740991"},
		{9007199254740993, "9007199254740992"},
		{1844674407370955161, "1844674407370955264"},
		{-9007199254740993, "-9007199254740992"},
	} {
		// {"id": n} in DAG-CBOR
		block := []byte{0xa1, 0x62, 'i', 'd', 0x1b}
		u := uint64(r.n)
		if r.n < 0 {
			block[4], u = 0x3b, uint64(-1-r.n)
		}
		block = binary.BigEndian.AppendUint64(block, u)
		fromCBOR, err := atdata.UnmarshalCBOR(block)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fromJSON, err := atdata.UnmarshalJSON([]byte(fmt.Sprintf(`{"id":%d}`, r.n)))
		if err != nil {
			fmt.Println("now refused:", err)
			os.Exit(1)
		}
		fmt.Printf("expected %d | observed from CBOR %v, from JSON %v\n", r.n, fromCBOR["id"], fromJSON["id"])
		ok = ok && fmt.Sprint(fromCBOR["id"]) == fmt.Sprint(r.n) && fmt.Sprint(fromJSON["id"]) == r.json
	}
	if !ok {
		os.Exit(1)
	}
}
GO
if GOFLAGS=-mod=mod nice go run . ; then echo 'STILL SO: large integers are rounded'; else echo 'CHANGED'; exit 1; fi
