#!/usr/bin/env bash
# A request that asks for an answer at most an hour old gets from the Go package gregjones/httpcache an old one that its server
# allowed for two seconds only, or not at all without a question.
#
# What it is: httpcache is an http.RoundTripper that keeps answers, used by many Go clients of JSON services.
# Versions: github.com/gregjones/httpcache v0.0.0-20190611155906-901d90724c79 (Go proxy).
# What the spec says: RFC 9111, 5.2.1.1: max-age in a request sets a limit to the age of the answer, and stale answers are
#   unwanted all the same, unless max-stale says otherwise (so too RFC 7234, 5.2.1.1, which the README names). Whether an answer
#   is stale is said by its own lifetime (RFC 9111, 4.2).
# Guess: after three seconds the answers with max-age=2, max-age=0 and with an ETag alone are asked for again, with and without
#   Cache-Control: max-age=3600 in the request.
# Seen: without it the origin is asked each time. With it all three are handed out as they were three seconds before, and the origin
#   is not asked; only for an answer that said no-cache it is.
# Why: the number of the request replaces the lifetime of the answer, also where it is larger.
# Wrong number for a user: "not older than an hour" was meant to be stricter than what the server allows, and is laxer: a count that
#   may be kept for two seconds is shown for an hour, while requests without the field see the new one.
# Instead: send no max-age above that of the server; Cache-Control: no-cache where the newest state is needed.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
cat > main.go <<'GO'
package main

import ("fmt"; "io"; "net/http"; "net/http/httptest"; "os"; "time"; "github.com/gregjones/httpcache")

func main() {
	state, asked := 1, 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path == "/tag" { w.Header().Set("ETag", fmt.Sprintf(`"%d"`, state)) } else { w.Header().Set("Cache-Control", r.URL.Query().Get("cc")) }
		fmt.Fprintf(w, `{"stars":%d}`, state)
	}))
	defer s.Close()
	client := httpcache.NewMemoryCacheTransport().Client()
	get := func(path, want string) string {
		before := asked
		q, _ := http.NewRequest("GET", s.URL+path, nil)
		if want != "" { q.Header.Set("Cache-Control", want) }
		a, err := client.Do(q); if err != nil { panic(err) }
		b, _ := io.ReadAll(a.Body); a.Body.Close()
		return fmt.Sprintf("%s asked=%d", b, asked-before)
	}
	same, old, fresh := true, `{"stars":1} asked=0`, `{"stars":2} asked=1`
	paths := []string{"/a?cc=max-age%3D2", "/b?cc=max-age%3D0", "/tag", "/c?cc=no-cache"}
	for _, p := range paths { get(p, "") }
	time.Sleep(3100 * time.Millisecond); state = 2
	for i, p := range paths {
		limited, plain := get(p, "max-age=3600"), get(p, "")
		fmt.Printf("%-18s three seconds later: with max-age=3600 %s, without %s\n", p, limited, plain)
		if i < 3 { same = same && limited == old && plain == fresh } else { same = same && limited == fresh }
	}
	if same { fmt.Println("still as stated"); return }
	fmt.Println("changed"); os.Exit(1)
}
GO
(go mod init probe; go get github.com/gregjones/httpcache@v0.0.0-20190611155906-901d90724c79) 2> err.txt || { cat err.txt; exit 1; }
go list -m github.com/gregjones/httpcache; go run .
