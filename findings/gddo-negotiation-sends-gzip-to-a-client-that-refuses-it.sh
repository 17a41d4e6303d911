#!/usr/bin/env bash
# The content negotiation of gddo (Go) sends gzip to a client that refuses it and CSV to one that likes it least, and a media type
# with a parameter of its own makes it forget the rest of the Accept header.
#
# What it is: github.com/golang/gddo/httputil, negotiation for Go servers that the standard library lacks; many servers import it.
# Versions: gddo v0.0.0-20190904175337-72a348e765d2 (the last); negotiator 1.0.0 (npm) for comparison.
# What the spec says: RFC 9110, 12.5.1: the most specific media range that matches has precedence, and a range may have parameters
#   before its weight; 12.4.2: a weight of 0 means "not acceptable"; 12.5.3: "*" stands for the codings not listed.
# Guess: identity for "gzip;q=0, *"; JSON where CSV has q=0 or the lower weight of its own; JSON for the fourth below.
# Seen: gzip; CSV, CSV; and for "application/ld+json;profile=..., application/json" the default, text/html, though JSON is listed.
#   The plain header with weights is right.
# Why: the highest weight of any range that matches wins, so that "*" overrules what names the thing; the parser leaves off
#   at a parameter that is not q. An issue of 2015 (350) asks whether that is meant.
# Wrong for a user: a client that cannot unpack gets bytes it cannot read, with status 200; one that asked for linked data or
#   else JSON gets a web page and stops with a parse error, though the server has what it wanted.
# Instead: negotiator (npm) or github.com/elnormous/contenttype (Go) for media types; or look for q=0 before.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
cat > go.mod <<'MOD'
module probe
go 1.24
require github.com/golang/gddo v0.0.0-20190904175337-72a348e765d2
MOD
cat > main.go <<'GO'
package main

import (
	"fmt"
	"net/http/httptest"

	"github.com/golang/gddo/httputil"
)

func main() {
	for _, accept := range []string{"application/json;q=0.5, text/csv", "text/csv;q=0, */*", "text/csv;q=0.1, text/*;q=0.9, application/json;q=0.5", `application/ld+json;profile="https://www.w3.org/ns/activitystreams", application/json`} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept", accept)
		fmt.Println("Accept |", accept, "|", httputil.NegotiateContentType(r, []string{"text/csv", "application/json"}, "text/html"))
	}
	for _, accept := range []string{"gzip", "gzip;q=0, *"} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept-Encoding", accept)
		fmt.Println("Accept-Encoding |", accept, "|", httputil.NegotiateContentEncoding(r, []string{"gzip", "identity"}))
	}
}
GO
go mod tidy >/dev/null 2>&1; nice go run . > seen.txt
echo '{"private":true}' > package.json && npm install --silent --no-audit --no-fund --ignore-scripts negotiator@1.0.0 >/dev/null
node -e '
const N = require("negotiator"), lines = require("fs").readFileSync("seen.txt", "utf8").trim().split("\n")
for (const line of lines) { const [field, value, seen] = line.split(" | "), n = new N({ headers: { [field.toLowerCase()]: value } })
  console.log(line, "| expected (negotiator 1.0.0)", (field === "Accept" ? n.mediaType(["text/csv", "application/json"]) : n.encoding(["gzip", "identity"])) ?? "none") }' | tee both.txt
observed=$(cut -d'|' -f3 both.txt | xargs); expected=$(sed 's/.*(negotiator 1.0.0) //' both.txt | xargs)
[ "$observed" = 'text/csv text/csv text/csv text/html gzip gzip' ] && [ "$expected" = 'text/csv application/json application/json application/json gzip identity' ] && echo 'still as stated' || { echo 'changed'; exit 1; }
