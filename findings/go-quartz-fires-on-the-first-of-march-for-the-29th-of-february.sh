#!/usr/bin/env bash
# The Go scheduler go-quartz fires on 1 March 2026 and 2027 for the 29th of February, and on 2 March for "the 30th of February and
# April"; and an hourly trigger leaves out an hour on the night when the clock is set back.
#
# What it is: a scheduler for Go with the cron expressions of the Java library Quartz.
# Versions: github.com/reugn/go-quartz v0.15.2; github.com/hashicorp/cronexpr v1.1.3 to compare with.
# What the docs say: day of month 1-31, month 1-12; NextFireTime: "the next time at which the Trigger is scheduled to fire". In
#   Quartz, whose table of fields the README gives, each field must match (2026 has no 29th of February).
# Guess: 29 February 2028; and an hour between the runs of each hour.
# Seen: the date runs over into March where the February in question has no such day. A leap year is right, and so is the
#   31st of every month. At 01:00+02:00 in Berlin, 25 October 2026, the next full hour is 02:00+01:00, two
#   hours later; 02:00+02:00 is left out.
# Wrong claim for a user: a job of each leap day runs each year, on a day that it does not name; an hourly series has one row too few.
# Instead: write "L 2" for the end of February; use UTC for what runs each hour.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
printf 'module probe\ngo 1.22\nrequire (\n github.com/hashicorp/cronexpr v1.1.3\n github.com/reugn/go-quartz v0.15.2\n)\n' > go.mod
cat > main.go <<'GO'
package main
import ("fmt"; "os"; "strings"; "time"; _ "time/tzdata"; "github.com/hashicorp/cronexpr"; "github.com/reugn/go-quartz/quartz")
func main() {
	berlin, _ := time.LoadLocation("Europe/Berlin")
	same := true
	check := func(exp string, zone *time.Location, from time.Time, form, stated string, n int) {
		trigger, err := quartz.NewCronTriggerWithLoc("0 "+exp, zone)
		if err != nil { panic(err) }
		var seen, want []string
		a, b := from, from
		for range n {
			ns, err := trigger.NextFireTime(a.UnixNano())
			if err != nil { panic(err) }
			a, b = time.Unix(0, ns).In(zone), cronexpr.MustParse(strings.ReplaceAll(exp, "?", "*")).Next(b)
			seen, want = append(seen, a.Format(form)), append(want, b.Format(form))
		}
		s, w := strings.Join(seen, " "), strings.Join(want, " ")
		fmt.Printf("%s\n   expected %s\n   observed %s\n", exp, w, s)
		same = same && s == stated && (s == w) == strings.HasPrefix(exp, "0 0 31")
	}
	start := time.Date(2026, 1, 15, 10, 0, 0, 0, time.UTC)
	check("0 0 29 2 ?", time.UTC, start, "2006-01-02", "2026-03-01 2027-03-01 2028-02-29", 3)
	check("0 0 30 2,4 ?", time.UTC, start, "2006-01-02", "2026-03-02 2026-04-30 2027-04-30", 3)
	check("0 0 31 * ?", time.UTC, start, "2006-01-02", "2026-01-31 2026-03-31 2026-05-31", 3)
	night := time.Date(2026, 10, 25, 0, 30, 0, 0, berlin)
	check("0 * * * ?", berlin, night, "15:04-07", "01:00+02 02:00+01 03:00+01", 3)
	if !same { fmt.Println("changed"); os.Exit(1) }
	fmt.Println("still as stated")
}
GO
export GOFLAGS=-mod=mod GOTOOLCHAIN=local; go mod download 2>/dev/null; go list -m all | grep -E 'quartz|cronexpr'; go run .
