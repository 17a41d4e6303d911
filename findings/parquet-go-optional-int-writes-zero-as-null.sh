#!/usr/bin/env bash
# parquet-go writes an observed count of 0 as null when the struct field is a plain int64
# marked optional, and reads nulls back as 0: the two slips hide each other.
#
# What it is: parquet-go, a Parquet library for Go that maps structs to columns.
# Versions: github.com/parquet-go/parquet-go v0.32.0 (Go 1.24 or newer). The first run compiles it
#   (some 40 CPU seconds); later runs take a few seconds.
# What the docs say: the struct tag "optional" is described as making the column optional for
#   any type; the README's example of it uses a pointer. parquet-format: a null is an absent
#   value, 0 is a value.
# Guess: N int64 `parquet:"n,optional"` gives a nullable column in which 0 is stored as 0
#   (a plain int64 cannot be null, so it never writes one).
# Seen: 0 is stored as null. Reading with the same struct gives 0 again, so a round trip
#   passes; every other reader sees an unobserved hour. Reading a column with real nulls
#   into int64 gives 0 without an error.
# Wrong number for a user: all quiet hours become gaps (means rise, coverage falls), or all
#   gaps become quiet hours (means fall).
# Instead: use *int64 for every nullable count, both ways.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
export GOFLAGS=-mod=mod
cat > go.mod <<'M'
module example.test/zero

go 1.24

require github.com/parquet-go/parquet-go v0.32.0
M
cat > main.go <<'G'
package main

import (
	"fmt"
	"os"

	"github.com/parquet-go/parquet-go"
)

type plain struct {
	N int64 `parquet:"n,optional"`
}
type exact struct {
	N *int64 `parquet:"n,optional"`
}

func show(rows []exact) (s string) {
	for _, r := range rows {
		if r.N == nil {
			s += "null "
		} else {
			s += fmt.Sprint(*r.N, " ")
		}
	}
	return
}
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
func main() {
	if err := parquet.WriteFile("p.parquet", []plain{{5}, {0}, {7}}); err != nil {
		panic(err)
	}
	five, zero := int64(5), int64(0)
	if err := parquet.WriteFile("e.parquet", []exact{{&five}, {nil}, {&zero}}); err != nil {
		panic(err)
	}
	a := show(must(parquet.ReadFile[exact]("p.parquet")))
	b := fmt.Sprint(must(parquet.ReadFile[plain]("p.parquet")))
	c := show(must(parquet.ReadFile[exact]("e.parquet")))
	d := fmt.Sprint(must(parquet.ReadFile[plain]("e.parquet")))
	fmt.Println("int64 5 0 7 written, read exactly       expected 5 0 7    observed", a)
	fmt.Println("int64 5 0 7 written, read as int64      round trip hides it:     ", b)
	fmt.Println("*int64 5 null 0 written, read exactly   expected 5 null 0 observed", c)
	fmt.Println("*int64 5 null 0 written, read as int64  expected an error observed", d)
	if a == "5 null 7 " && b == "[{5} {0} {7}]" && c == "5 null 0 " && d == "[{5} {0} {0}]" {
		fmt.Println("still as stated")
		return
	}
	fmt.Println("changed")
	os.Exit(1)
}
G
go version
go list -m github.com/parquet-go/parquet-go
go run -gcflags='all=-N -l' -ldflags=-w .
