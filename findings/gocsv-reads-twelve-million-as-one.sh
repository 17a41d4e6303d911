#!/usr/bin/env bash
# The Go package gocsv reads the count 1.2E+07 into an int64 field as 1, and no error comes: of a count it keeps
# what stands in front of the point. The file can be one that another Go package, csvutil, has just written.
#
# What it is: gocarina/gocsv and jszwec/csvutil, readers and writers of CSV into and out of Go structs.
# Versions: gocsv v0.0.0-20240520201108-78e41c74b4b1, csvutil v1.10.0 (Go proxy).
# What the docs say: Go's strconv.ParseInt, to which gocsv hands the cell, reports a syntax error for text that is
#   no whole number; gocsv's README names no cutting. RFC 4180 says nothing of numbers; the csvutil reader refuses
#   the cell with an error. R's write.csv, too, writes 12000000 as 1.2e+07.
# Guess: an error that names line and column, or 12000000.
# Seen: twelve million (a float64 in the struct of the writer, an int64 in that of the reader) becomes 1, 12345678 becomes
#   1 and 1.9 becomes 1, while 1E+06, without a point, is refused. A float64 field reads the comma of
#   "1,234" as a point: 1.234. (An issue of 2020 in gocsv's tracker, number 170, shows a 24-digit number that became 2.)
# Wrong number for a user: the busiest hours of a network shrink to ones, the quiet ones stay; the sum is 9 and not 24345685.
# Instead: read the column as float64 and round, or as string and use strconv; writers: give counts an integer type.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
cat > main.go <<'GO'
package main
import ("fmt"; "os"; "strings"; "github.com/gocarina/gocsv"; "github.com/jszwec/csvutil")
type Out struct { Hour string `csv:"hour"`; Stars float64 `csv:"stars"` }
type In struct { Hour string `csv:"hour"`; Stars int64 `csv:"stars"` }
func stars(text string) string {
	var rows []*In
	if err := gocsv.UnmarshalString(text, &rows); err != nil { return "error" }
	var s []string
	for _, r := range rows { s = append(s, fmt.Sprint(r.Stars)) }
	return strings.Join(s, " ")
}
func main() {
	written, err := csvutil.Marshal([]Out{{"2026-01-01T00:00:00Z", 12000000}, {"2026-01-01T01:00:00Z", 7}, {"2026-01-01T02:00:00Z", 12345678}})
	if err != nil { panic(err) }
	fmt.Printf("csvutil wrote          %q\n", written)
	got := stars(string(written)); fmt.Println("gocsv, int64           expected 12000000 7 12345678 or an error, observed", got)
	var other []In
	refused := csvutil.Unmarshal(written, &other); fmt.Println("csvutil, int64         expected an error, observed", refused)
	var f []*Out
	if err := gocsv.UnmarshalString(string(written), &f); err != nil { panic(err) }
	fmt.Println("gocsv, float64         expected 1.2e+07, observed", f[0].Stars)
	whole, cut := stars("hour,stars\na,1E+06\n"), stars("hour,stars\na,1.9\n"); fmt.Println("gocsv, 1E+06 and 1.9   observed", whole, "and", cut)
	var c []*Out
	if err := gocsv.UnmarshalString("hour,stars\na,\"1,234\"\n", &c); err != nil { panic(err) }
	fmt.Println("gocsv, float64 \"1,234\" expected 1234 or an error, observed", c[0].Stars)
	if got == "1 7 1" && refused != nil && f[0].Stars == 1.2e7 && whole == "error" && cut == "1" && c[0].Stars == 1.234 { fmt.Println("still as stated"); return }
	fmt.Println("changed"); os.Exit(1)
}
GO
printf 'module x\ngo 1.21\n' > go.mod
{ go get github.com/gocarina/gocsv@v0.0.0-20240520201108-78e41c74b4b1 github.com/jszwec/csvutil@v1.10.0; } 2>/dev/null
grep -E 'gocsv|csvutil' go.mod
go run .
