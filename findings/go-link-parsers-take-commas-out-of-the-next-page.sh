#!/usr/bin/env bash
# Two Go parsers of Link headers stumble over a comma in the address of the next page: one takes the comma out and
# returns another address, the other returns no link at all.
#
# What it is: peterhellberg/link and tomnomnom/linkheader read Link headers, mostly to follow rel="next".
# Versions: github.com/peterhellberg/link v1.2.0, github.com/tomnomnom/linkheader of 2025-08-11 (Go).
# What the spec says: RFC 8288, section 3: a link's target stands between < and > as a URI-Reference; RFC 3986, section
#   3.4: a query may hold sub-delims, "," and ";" among them, unescaped. RFC 8288, appendix B.2: read up to ">".
# Guess: the target as it was written, from both.
# Seen: for "collections=a,b" peterhellberg/link gives "collections=ab", linkheader gives no link. With ";" in place of
#   "," peterhellberg/link is right and linkheader gives no link. Two links with unquoted rel and no space after
#   the comma become one target "/one>;rel=next</two" in peterhellberg/link. With %2C and quotes both are right.
# Why: both cut the field into links before they look for < and >; peterhellberg/link first deletes every comma that
#   does not follow a quotation mark.
# Wrong number for a user: a list of collections or a cursor of two parts loses its comma; the next page is then one
#   of another question, or pages end after the first. Neither returns an error, and sums stay too small.
# Instead: a server writes %2C and %3B in such targets; a client follows a cursor from the body.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
cat > main.go <<'GO'
package main

import (
	"fmt"
	"os"

	"github.com/peterhellberg/link"
	"github.com/tomnomnom/linkheader"
)

func first(header string) string {
	if next := link.Parse(header)["next"]; next != nil {
		return next.URI
	}
	return "no link"
}

func second(header string) string {
	if next := linkheader.Parse(header).FilterByRel("next"); len(next) > 0 {
		return next[0].URL
	}
	return "no link"
}

func main() {
	cases := []struct{ header, expected, first, second string }{
		{`</hours?collections=a>; rel="next"`, "/hours?collections=a", "/hours?collections=a", "/hours?collections=a"},
		{`</hours?collections=a%2Cb>; rel="next", </>; rel="index"`, "/hours?collections=a%2Cb", "/hours?collections=a%2Cb", "/hours?collections=a%2Cb"},
		{`</hours?collections=a,b>; rel="next"`, "/hours?collections=a,b", "/hours?collections=ab", "no link"},
		{`</hours?cursor=1764450000123,7>; rel="next"`, "/hours?cursor=1764450000123,7", "/hours?cursor=17644500001237", "no link"},
		{`</hours?collections=a;b>; rel="next"`, "/hours?collections=a;b", "/hours?collections=a;b", "no link"},
		{`</one>;rel=next,</two>;rel=prev`, "/one", "no link", "/one"},
	}
	same := true
	for _, c := range cases {
		a, b := first(c.header), second(c.header)
		fmt.Printf("%s\n  expected %s; peterhellberg/link %s; linkheader %s\n", c.header, c.expected, a, b)
		same = same && a == c.first && b == c.second
	}
	joined := link.Parse(`</one>;rel=next,</two>;rel=next`)["next"].URI
	fmt.Println("two links, rel=next in both: peterhellberg/link", joined)
	if !same || joined != "/one>;rel=next</two" {
		fmt.Println("changed")
		os.Exit(1)
	}
	fmt.Println("still as stated")
}
GO
go mod init probe >/dev/null 2>&1
go get github.com/peterhellberg/link@v1.2.0 github.com/tomnomnom/linkheader@v0.0.0-20250811210735-e5fe3b51442e >/dev/null 2>&1
go list -m github.com/peterhellberg/link github.com/tomnomnom/linkheader
go run .
