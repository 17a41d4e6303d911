#!/usr/bin/env bash
# A field is null or one of two types. The Go types that oapi-codegen generates read neither of the two, unless
# the choice has a name of its own.
#
# What it is: a generator of Go types and clients from OpenAPI documents.
# Versions: oapi-codegen 2.8.2 (Go).
# What the spec says: OpenAPI 3.1 uses JSON Schema 2020-12, in which anyOf may contain anyOf, and {"type":
#   "null"} is how a schema becomes nullable; a $ref and the schema that it names mean the same.
# Guess: the same kind of type for the choice written in place as for the one with a name: 5, "few" and null
#   can be read, and a method returns each kind.
# Seen: written in place, the field is a struct without a name or a method, whose only member is private:
#   reading 5 or "few" is an error, although the generator reported none, and null alone can be read. The named
#   choice reads all three, and so does a choice that lists null as its third kind.
# Wrong claim for a user: responses with a number fail as broken; only those that know nothing are read.
# Instead: give the choice a name in components, or put null beside its other kinds.
set -euo pipefail
T=$(mktemp -d); trap 'chmod -R u+w "$T"; rm -rf "$T"' EXIT; cd "$T"
export GOPATH="$T/go" GOBIN="$T" GOFLAGS=-mod=mod
go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 2>/dev/null
mkdir m && cd m && printf 'module m\n\ngo 1.24\n' > go.mod
cat > api.json <<'J'
{"openapi": "3.1.0", "info": {"title": "Facts", "version": "1"}, "paths": {}, "components": {"schemas": {
  "Fact": {"type": "object", "properties": {
    "placed": {"anyOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"type": "null"}]},
    "flat": {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
    "named": {"anyOf": [{"$ref": "#/components/schemas/Count"}, {"type": "null"}]}}},
  "Count": {"anyOf": [{"type": "integer"}, {"type": "string"}]}}}}
J
../oapi-codegen -generate types,skip-prune -package main api.json > types.go
cat > main.go <<'G'
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	fmt.Println("oapi-codegen v2.8.2")
	stated := true
	for _, field := range []string{"placed", "flat", "named"} {
		for _, value := range []string{`5`, `"few"`, `null`} {
			err := json.Unmarshal([]byte(`{"`+field+`":`+value+`}`), new(Fact))
			fmt.Printf("%-6s %-6s expected to be read, observed error: %v\n", field, value, err)
			stated = stated && (err != nil) == (field == "placed" && value != "null")
		}
	}
	if !stated {
		fmt.Println("changed")
		os.Exit(1)
	}
	fmt.Println("still as stated")
}
G
go get github.com/oapi-codegen/runtime@v1.9.0 2>/dev/null
go run .
