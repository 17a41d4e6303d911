#!/usr/bin/env bash
# Two DNS records that name different accounts for one handle: indigo, the Go SDK of the AT Protocol, takes whichever comes first in the
# answer, so that the handle changes its account from one look-up to the next; the specification has the resolution fail.
#
# What it is: identity.BaseDirectory resolves handles by the TXT records of _atproto.HANDLE; relays, label services and tools use it.
# Versions: github.com/bluesky-social/indigo v0.0.0-20260605210604-af2fec94f34c, golang.org/x/net v0.62.0 (plays the name server on loopback).
# What the spec says: atproto.com, Handle, "DNS TXT Method": "Only a single valid record should exist at any point in time. If multiple valid
#   records with different DIDs are present, resolution should fail."
# Guess: the DID for one record; an error for two.
# Seen: with two records no error; the DID of the first record, and of the other one when the server turns the order round, as servers do
#   with each answer. A record that is no DID, before the right one, makes it fail, although it is not a valid record.
# Wrong for a user: while somebody moves a domain to a new account and has not yet removed the old record, one and the same tool files posts
#   of the handle under the one account or the other, without a word; other resolvers say that there is none.
# Instead: look up the TXT records with net.Resolver yourself, and refuse if two different "did=" values are there.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
go mod init probe 2>/dev/null
go get github.com/bluesky-social/indigo@v0.0.0-20260605210604-af2fec94f34c golang.org/x/net/dns/dnsmessage@v0.62.0 2>/dev/null
cat > main.go <<'GO'
package main
import (
	"context"; "fmt"; "net"; "os"
	"github.com/bluesky-social/indigo/atproto/identity"
	"golang.org/x/net/dns/dnsmessage"
)

var records []string
func serve(c net.PacketConn) {
	for buf := make([]byte, 1500); ; {
		n, from, err := c.ReadFrom(buf)
		if err != nil { return }
		var q dnsmessage.Message
		if q.Unpack(buf[:n]) != nil { continue }
		a := dnsmessage.Message{Header: dnsmessage.Header{ID: q.ID, Response: true, Authoritative: true}, Questions: q.Questions}
		for _, r := range records {
			h := dnsmessage.ResourceHeader{Name: q.Questions[0].Name, Type: dnsmessage.TypeTXT, Class: dnsmessage.ClassINET, TTL: 60}
			a.Answers = append(a.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.TXTResource{TXT: []string{r}}})
		}
		b, _ := a.Pack(); c.WriteTo(b, from)
	}
}
func main() {
	c, _ := net.ListenPacket("udp", "127.0.0.1:0"); go serve(c)
	dir := identity.BaseDirectory{Resolver: net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return net.Dial("udp", c.LocalAddr().String()) }}}
	old, new := "did=did:plc:z72i7hdynmk6r22z27h6tvur", "did=did:plc:ewvi7nxzyoun6zhxrhs64oiz"
	var seen []string
	for _, records = range [][]string{{old}, {old, new}, {new, old}, {"did=", new}} {
		did, err := dir.ResolveHandleDNS(context.Background(), "alice.example.com")
		fmt.Println(records, "->", did, err); s := did.String(); if err != nil { s = "error" }; seen = append(seen, s)
	}
	if seen[0] == old[4:] && seen[1] == old[4:] && seen[2] == new[4:] && seen[3] == "error" { fmt.Println("still as stated"); return }
	fmt.Println("changed"); os.Exit(1)
}
GO
go mod tidy 2>/dev/null; grep -E 'indigo v|x/net v' go.mod; go run .
