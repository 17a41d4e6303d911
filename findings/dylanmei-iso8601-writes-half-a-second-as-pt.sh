#!/usr/bin/env bash
# The Go package dylanmei/iso8601 writes half a second as "PT", which is no duration, minus 90 seconds as "PT0S" and 1.5 s as "PT1S",
# and reads PT36.5S, PT0.5H and P1.5D as durations of zero without an error.
#
# What it is: it parses ISO 8601 durations to time.Duration and formats them, as the time limits of WinRM need them.
# Versions: github.com/dylanmei/iso8601 v0.1.0; github.com/sosodev/duration v1.4.0 for comparison.
# What the spec says: ISO 8601-1:2019, 5.5.2.3: at least one component with its designator stands after P, and the last one may have
#   a decimal fraction. RFC 3339, appendix A: after T stands at least one of hours, minutes and seconds.
# Guess: what is formatted can be parsed again and is the same; a fraction is read, or refused like the months, for which it
#   raises "no months allowed".
# Seen: 500 ms is "PT", 1.5 s "PT1S", -90 s "PT0S"; read are PT36.5S, PT0.5H, PT1.5M and P1.5D as 0, PT1H1.5M as one hour. sosodev/duration
#   gives all of them as expected, and its texts are the same when read again.
# Why: a component is matched as whole digits, everything else in the text is skipped; the formatter takes whole hours, minutes and
#   seconds and writes "PT0S" only for a duration that is not above zero.
# Wrong number for a user: a time limit of 0.5 s is sent as "PT", which the other side refuses; one that was given as PT1.5M is zero,
#   which many programs take for "no limit".
# Instead: sosodev/duration; or round to whole seconds before and write PT90S.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
printf 'module x\ngo 1.21\nrequire (\n github.com/dylanmei/iso8601 v0.1.0\n github.com/sosodev/duration v1.4.0\n)\n' > go.mod
cat > main.go <<'GO'
package main
import ("fmt"; "time"; "github.com/dylanmei/iso8601"; "github.com/sosodev/duration")
func main() {
	for _, d := range []time.Duration{90 * time.Minute, 1500 * time.Millisecond, 500 * time.Millisecond, -90 * time.Second} {
		text := iso8601.FormatDuration(d)
		back, _ := iso8601.ParseDuration(text)
		other, _ := duration.Parse(duration.Format(d))
		fmt.Printf("write %v | %s, read again %v | %s, read again %v\n", d, text, back, duration.Format(d), other.ToTimeDuration())
	}
	for _, text := range []string{"PT1H30M", "PT36.5S", "PT0.5H", "PT1.5M", "P1.5D", "PT1H1.5M", "P1M"} {
		observed, err := iso8601.ParseDuration(text)
		other, _ := duration.Parse(text)
		fmt.Printf("read %s | %v, error %v | %v\n", text, observed, err, other.ToTimeDuration())
	}
}
GO
GOFLAGS=-mod=mod GOTOOLCHAIN=local go run . > seen.txt 2> go.log || { cat go.log; exit 1; }
echo 'case | dylanmei/iso8601 v0.1.0 (observed) | sosodev/duration v1.4.0 (expected)'; cat seen.txt
cat > stated.txt <<'STATED'
write 1h30m0s | PT1H30M, read again 1h30m0s | PT1H30M, read again 1h30m0s
write 1.5s | PT1S, read again 1s | PT1.5S, read again 1.5s
write 500ms | PT, read again 0s | PT0.5S, read again 500ms
write -1m30s | PT0S, read again 0s | -PT1M30S, read again -1m30s
read PT1H30M | 1h30m0s, error <nil> | 1h30m0s
read PT36.5S | 0s, error <nil> | 36.5s
read PT0.5H | 0s, error <nil> | 30m0s
read PT1.5M | 0s, error <nil> | 1m30s
read P1.5D | 0s, error <nil> | 36h0m0s
read PT1H1.5M | 1h0m0s, error <nil> | 1h1m30s
read P1M | 0s, error no months allowed | 730h0m0s
STATED
if diff seen.txt stated.txt; then echo 'still as stated'; else echo 'changed'; exit 1; fi
