#!/usr/bin/env bash
# When the origin fails, the Go package gregjones/httpcache answers a request for CSV with the stored JSON, as a 200.
#
# What it is: httpcache is an http.RoundTripper that keeps answers, used by many Go clients of JSON services.
# Versions: github.com/gregjones/httpcache v0.0.0-20190611155906-901d90724c79 (Go proxy).
# What the spec says: RFC 9111, 4.1: a stored answer with Vary is used without a question only if the fields named match those
#   of the stored request; RFC 5861, 4: stale-if-error lets a cache use a stale answer "to satisfy the request"; it does not widen
#   what an answer matches. The package's README: a "mostly RFC 7234 compliant" cache (7234 has the same 4.1).
# Guess: JSON is fetched, CSV is asked for; while the origin answers, CSV comes; when it says 503, the 503 is passed on.
# Seen: with a 503, and with no connection at all, the request for text/csv gets 200, application/json and the JSON body, marked with
#   X-From-Cache. The request fields of the stored answer (X-Varied-Accept) are kept, and looked at while the origin is well.
# Why: the check of Vary decides only about freshness and validators; the branch for failures asks only for the age.
# Wrong claim for a user: in an outage a program that reads CSV finds a table whose only heading is {"stars":5}, and no row: "no
#   stars"; as the status is 200, no retry and no alarm follow.
# Instead: an address for each form (/stars.csv), or check Content-Type before parsing.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
cat > main.go <<'GO'
package main

import ("fmt"; "io"; "net/http"; "net/http/httptest"; "os"; "time"; "github.com/gregjones/httpcache")

var ill bool

func form(accept string) (string, string) {
	if accept == "text/csv" { return accept, "hour,stars\n2026-01-01T00:00:00Z,5\n" }
	return "application/json", `{"stars":5}`
}
func main() {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ill { http.Error(w, "down", 503); return }
		kind, body := form(r.Header.Get("Accept"))
		w.Header().Set("Vary", "Accept"); w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "max-age=1, stale-if-error=3600")
		io.WriteString(w, body)
	}))
	client, seen := httpcache.NewMemoryCacheTransport().Client(), []string{}
	get := func(when, accept string) {
		q, _ := http.NewRequest("GET", s.URL+"/stars", nil); q.Header.Set("Accept", accept)
		a, err := client.Do(q)
		if err != nil { seen = append(seen, "error"); fmt.Println(when, accept, "-> error"); return }
		b, _ := io.ReadAll(a.Body); a.Body.Close()
		line := fmt.Sprintf("%d %s %q", a.StatusCode, a.Header.Get("Content-Type"), b)
		seen = append(seen, line); fmt.Printf("%-22s %-16s -> %s cached:%q\n", when, accept, line, a.Header.Get("X-From-Cache"))
	}
	get("well,", "application/json"); get("well,", "text/csv"); get("well,", "application/json"); time.Sleep(2100 * time.Millisecond)
	ill = true; get("503,", "text/csv"); s.Close(); get("no connection,", "text/csv")
	json := `200 application/json "{\"stars\":5}"`
	if seen[0] == json && seen[1][:12] == "200 text/csv" && seen[2] == json && seen[3] == json && seen[4] == json { fmt.Println("still as stated"); return }
	fmt.Println("changed"); os.Exit(1)
}
GO
(go mod init probe; go get github.com/gregjones/httpcache@v0.0.0-20190611155906-901d90724c79) 2> err.txt || { cat err.txt; exit 1; }
go list -m github.com/gregjones/httpcache; go run .
