#!/usr/bin/env bash
# WHAT: two Go DAG-CBOR readers return another number, without an error, for valid integers that do not fit a signed
#       64-bit integer: the older one flips the sign of large positive ones, both read the smallest negative one as 0.
# VERSIONS: github.com/ipfs/go-ipld-cbor v0.3.0, github.com/ipld/go-ipld-prime v0.24.0; github.com/fxamacker/cbor/v2
#       v2.10.0 for comparison.
# WHAT THE SPEC SAYS: CBOR integers run from -(2^64) to 2^64-1 (RFC 8949 section 3.1, major types 0 and 1); the IPLD
#       DAG-CBOR spec ("Strictness") takes all of them, demands the shortest form, and wants nothing to be lost in a
#       decode and encode round trip. (The AT Protocol itself stays within signed 64 bits.)
# GUESS: the right number or an error.
# SEEN: go-ipld-cbor reads 2^63 as -9223372036854775808 and 2^64-1 as -1. -(2^64) is 0 in both. Encoding the result
#       again gives a different, perfectly valid block.
# WHY IT HURTS: identifiers kept as unsigned 64-bit hashes in records, or counters of another service, turn into wrong and
#       colliding numbers, and a value of all ones becomes the familiar "-1, none". Nothing is logged.
# INSTEAD: decode into a big-integer capable reader (fxamacker/cbor gives uint64 or big.Int) and refuse what is out of range.
set -euo pipefail
command -v go >/dev/null
T=$(mktemp -d); trap 'chmod -R u+w "$T" 2>/dev/null || true; rm -rf "$T"' EXIT
cd "$T"
cat > go.mod <<'MOD'
module probe

go 1.25

require (
	github.com/fxamacker/cbor/v2 v2.10.0
	github.com/ipfs/go-ipld-cbor v0.3.0
	github.com/ipld/go-ipld-prime v0.24.0
)
MOD
cat > main.go <<'GO'
package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/big"
	"os"

	fx "github.com/fxamacker/cbor/v2"
	cbornode "github.com/ipfs/go-ipld-cbor"
	"github.com/ipld/go-ipld-prime/codec/dagcbor"
	"github.com/ipld/go-ipld-prime/datamodel"
	"github.com/ipld/go-ipld-prime/node/basicnode"
)

func prime(raw []byte) string {
	nb := basicnode.Prototype.Any.NewBuilder()
	if err := dagcbor.Decode(nb, bytes.NewReader(raw)); err != nil {
		return "error"
	}
	n := nb.Build()
	if u, ok := n.(datamodel.UintNode); ok {
		v, err := u.AsUint()
		if err == nil {
			return fmt.Sprint(v)
		}
	}
	v, err := n.AsInt()
	if err != nil {
		return "error"
	}
	return fmt.Sprint(v)
}

func old(raw []byte) string {
	var v interface{}
	if err := cbornode.DecodeInto(raw, &v); err != nil {
		return "error"
	}
	return fmt.Sprint(v)
}

func ref(raw []byte) string {
	var v interface{}
	if err := fx.Unmarshal(raw, &v); err != nil {
		return "error"
	}
	if b, ok := v.(big.Int); ok {
		return b.String()
	}
	return fmt.Sprintf("%v", v)
}

func main() {
	fmt.Println("go-ipld-cbor v0.3.0 | go-ipld-prime v0.24.0 | fxamacker/cbor v2.10.0")
	rows := []struct{ hex, want, old, prime string }{
		{"1b7fffffffffffffff", "9223372036854775807", "9223372036854775807", "9223372036854775807"},
		{"1b8000000000000000", "9223372036854775808", "-9223372036854775808", "9223372036854775808"},
		{"1bffffffffffffffff", "18446744073709551615", "-1", "18446744073709551615"},
		{"3bffffffffffffffff", "-18446744073709551616", "0", "0"},
	}
	ok := true
	for _, r := range rows {
		raw, _ := hex.DecodeString(r.hex)
		o, p := old(raw), prime(raw)
		fmt.Printf("%s expected %s | observed go-ipld-cbor %s, go-ipld-prime %s, fxamacker %s\n", r.hex, r.want, o, p, ref(raw))
		ok = ok && o == r.old && p == r.prime
	}
	if !ok {
		os.Exit(1)
	}
}
GO
if GOFLAGS=-mod=mod nice go run . ; then echo 'STILL SO: large integers change their value'; else echo 'CHANGED'; exit 1; fi
