#!/usr/bin/env bash
# WHAT: github.com/ipfs/go-ipld-cbor decodes a block that holds an empty byte string and hands back a node with
#       another CID and other raw data: the empty bytes have become null.
# VERSIONS: github.com/ipfs/go-ipld-cbor v0.3.0, github.com/ipfs/go-cid v0.6.2.
# WHAT THE SPEC SAYS: empty bytes (0x40) and null (0xf6) are different values (IPLD data model, "Bytes kind" and
#       "Null kind"; AT Protocol data model, "bytes"); the DAG-CBOR spec ("Strictness") wants nothing lost between decode and encode.
# GUESS: cbornode.Decode(block) gives a node whose RawData() is the block and whose Cid() is the block's CID.
# SEEN: Decode re-encodes what it read. A non-empty byte string survives; an empty one comes back as 0xf6, no error.
#       Building the same value with WrapObject writes 0x40, so reading and writing do not even agree with each other.
# WHY IT HURTS: a reader of a repository or CAR file sees a CID mismatch for a good block, or stores the changed
#       block under a new CID, and whoever re-hashes the original later cannot find it.
# INSTEAD: wrap known bytes with blocks.NewBlockWithCid and keep them; read with go-ipld-prime's dagcbor.
set -euo pipefail
command -v go >/dev/null
T=$(mktemp -d); trap 'chmod -R u+w "$T" 2>/dev/null || true; rm -rf "$T"' EXIT
cd "$T"
cat > go.mod <<'MOD'
module probe

go 1.25

require (
	github.com/ipfs/go-cid v0.6.2
	github.com/ipfs/go-ipld-cbor v0.3.0
	github.com/multiformats/go-multihash v0.2.3
)
MOD
cat > main.go <<'GO'
package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"

	"github.com/ipfs/go-cid"
	cbornode "github.com/ipfs/go-ipld-cbor"
	mh "github.com/multiformats/go-multihash"
)

func probe(name, h string) bool {
	raw, _ := hex.DecodeString(h)
	want, _ := cid.Prefix{Version: 1, Codec: cid.DagCBOR, MhType: mh.SHA2_256, MhLength: 32}.Sum(raw)
	n, err := cbornode.Decode(raw, mh.SHA2_256, -1)
	if err != nil {
		fmt.Println(name, "error", err)
		return false
	}
	same := n.Cid().Equals(want) && bytes.Equal(n.RawData(), raw)
	fmt.Printf("%-15s expected %s %s\n%-15s observed %x %s\n", name, h, want, "", n.RawData(), n.Cid())
	return same
}

func main() {
	fmt.Println("go-ipld-cbor v0.3.0")
	full := probe("bytes 01 02", "a163736967420102")
	empty := probe("empty bytes", "a16373696740")
	w, err := cbornode.WrapObject(map[string]interface{}{"sig": []byte{}}, mh.SHA2_256, -1)
	if err != nil {
		os.Exit(1)
	}
	fmt.Printf("the same value written by WrapObject: %x\n", w.RawData())
	if full && !empty {
		os.Exit(0)
	}
	os.Exit(1)
}
GO
if GOFLAGS=-mod=mod nice go run . ; then echo 'STILL SO: empty bytes came back as null'; else echo 'CHANGED'; exit 1; fi
