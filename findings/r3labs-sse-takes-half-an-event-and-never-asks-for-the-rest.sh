#!/usr/bin/env bash
# When a connection breaks in the middle of an event, the Go client r3labs/sse hands out the half that came
# as a whole event and then asks the server for what follows it: the rest is never read.
#
# What it is: r3labs/sse reads (and serves) server-sent events and reconnects by itself.
# Versions: github.com/r3labs/sse/v2 v2.10.0, github.com/tmaxmax/go-sse v0.12.0 for comparison; the server
#   is in the script, on loopback.
# What the spec says: HTML Standard, "Server-sent events", interpreting an event stream: at the end of the
#   stream pending data must be discarded; an event that has not met its empty line is not dispatched, and
#   the last event ID is set only when an event is dispatched.
# Guess: event 1 says 10; the connection breaks inside event 2, "data: 1234"; the client asks again with
#   Last-Event-ID 1 and gets 1234 and 30.
# Seen: event 2 arrives as 12 and the next request carries Last-Event-ID 2; the server goes on with event 3.
#   The handler sees 10, 12, 30 and no error. Broken between two events, all is right. A stream that ends in
#   order (not broken) inside an event gives the 12 as well. go-sse gives the 10 only.
# Why: the scanner that cuts the stream into events returns what is left at the end of the input, or at a
#   read error, as one more event.
# Wrong number for a user: once per restart of the server or of a proxy before it a count may lose its last
#   digits, and as the client holds the id of that event, nothing repairs it.
# Instead: tmaxmax/go-sse; or let each event end with a mark, such as the closing brace of a JSON object, and
#   connect afresh with the id of the last event that had it.
set -euo pipefail
T=$(mktemp -d); trap 'chmod -R u+w "$T"; rm -rf "$T"' EXIT; cd "$T"
cat > main.go <<'GO'
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"runtime/debug"
	"strings"
	"time"

	other "github.com/tmaxmax/go-sse"

	"github.com/r3labs/sse/v2"
)

var events = []string{"id: 1\ndata: 10\n\n", "id: 2\ndata: 1234\n\n", "id: 3\ndata: 30\n\n"}

// play serves the events; the first connection breaks after cut characters of event 2.
func play(cut int, broken bool) (got, asked []string, failed error) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last := r.Header.Get("Last-Event-ID")
		asked = append(asked, last)
		w.Header().Set("Content-Type", "text/event-stream")
		if len(asked) == 1 {
			fmt.Fprint(w, events[0]+events[1][:cut])
			if broken {
				w.(http.Flusher).Flush()
				time.Sleep(100 * time.Millisecond)
				panic(http.ErrAbortHandler)
			}
			return
		}
		for i, event := range events {
			if last < fmt.Sprint(i+1) {
				fmt.Fprint(w, event)
			}
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	failed = sse.NewClient(server.URL).SubscribeRawWithContext(ctx, func(event *sse.Event) {
		got = append(got, string(event.Data))
		if string(event.ID) == "3" {
			cancel()
		}
	})
	return got, asked, failed
}

func main() {
	build, _ := debug.ReadBuildInfo()
	for _, module := range build.Deps {
		if strings.HasSuffix(module.Path, "sse/v2") || strings.HasSuffix(module.Path, "go-sse") {
			fmt.Println(module.Path, module.Version)
		}
	}
	half := len("id: 2\ndata: 12")
	same := true
	for _, c := range []struct {
		name        string
		cut         int
		broken      bool
		want        string
		seen, asked []string
	}{
		{"broken between events", 0, true, "[10 1234 30]", []string{"10", "1234", "30"}, []string{"", "1"}},
		{"broken inside event 2", half, true, "[10 1234 30]", []string{"10", "12", "30"}, []string{"", "2"}},
		{"ended inside event 2", half, false, "[10]", []string{"10", "12"}, []string{""}},
	} {
		got, asked, failed := play(c.cut, c.broken)
		fmt.Printf("%s: expected %s, observed %v; Last-Event-ID sent %q, error %v\n", c.name, c.want, got, asked, failed)
		same = same && (failed == nil || errors.Is(failed, context.Canceled)) && reflect.DeepEqual(got, c.seen) && reflect.DeepEqual(asked, c.asked)
	}
	var right []string
	for event, err := range other.Read(strings.NewReader(events[0]+events[1][:half]), nil) {
		if err != nil {
			break
		}
		right = append(right, event.Data)
	}
	fmt.Println("go-sse, ended inside event 2: observed", right)
	same = same && reflect.DeepEqual(right, []string{"10"})
	if !same {
		fmt.Println("changed")
		os.Exit(1)
	}
	fmt.Println("still as stated")
}
GO
{ go mod init trial && go get github.com/r3labs/sse/v2@v2.10.0 github.com/tmaxmax/go-sse@v0.12.0; } 2>go.log || { cat go.log; exit 1; }
go build -o trial . && ./trial
