#!/usr/bin/env bash
# The Go package fraugster/parquet-go writes the time 9999-12-31T23:59:59Z, "without end" in many tables, as one of March 1816 and
# the date as one of 2262; of an observation at noon before 1970 it writes the date of the next day.
#
# What it is: parquet-go writes and reads Parquet; its part floor stores Go structs, among them time.Time in TIMESTAMP and DATE.
# Versions: github.com/fraugster/parquet-go v0.12.0 (Go proxy); hyparquet 1.33.0 (npm), a reader of its own, reads the file.
# What the spec says: Parquet, LogicalTypes: TIMESTAMP(MILLIS) is an int64 of milliseconds since 1970, which reaches from 290 million
#   years before to as many after; DATE an int32 of days since then, negative before. The README: floor takes time.Time for both.
# Guess: each time is read back to the second, and each date is that of the time in UTC; what does not fit is an error.
# Seen: 9999-12-31T23:59:59Z comes back as of 1816-03-30 in TIMESTAMP and as 2262-04-11 in DATE, 1500-01-01 as of 2084 and 1677;
#   1969-07-20T20:17:40Z has the right time and the date 1969-07-21. 2026 and 1900-01-01 (midnight) are right. No error.
# Why: times go through UnixNano, an int64 of nanoseconds, which ends in 1677 and 2262 and wraps; days are a difference in hours,
#   which stops there, over 24, cut towards zero, so that before 1970 a part of a day counts as a step towards it.
# Wrong for a user: what holds without end has ended two hundred years ago, and "valid now" finds none of it; a daily table of
#   weather before 1970 has each afternoon on the next day, and the first of a month gets what belongs to the last.
# Instead: a null for "without end"; give int64 milliseconds (t.UnixMilli()) and int32 days made with floor division.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
cat > main.go <<'GO'
package main

import ("time"; goparquet "github.com/fraugster/parquet-go"; "github.com/fraugster/parquet-go/floor"; "github.com/fraugster/parquet-go/parquetschema")

type row struct {
	Text string    `parquet:"text"`
	At   time.Time `parquet:"at"`
	Day  time.Time `parquet:"day"`
}

func must(err error) { if err != nil { panic(err) } }
func main() {
	schema, err := parquetschema.ParseSchemaDefinition(`message m { required binary text (STRING); required int64 at (TIMESTAMP(MILLIS, true)); required int32 day (DATE); }`)
	must(err)
	w, err := floor.NewFileWriter("t.parquet", goparquet.WithSchemaDefinition(schema))
	must(err)
	for _, s := range []string{"2026-01-01T05:00:00Z", "1900-01-01T00:00:00Z", "1969-07-20T20:17:40Z", "9999-12-31T23:59:59Z", "1500-01-01T00:00:00Z"} {
		t, err := time.Parse(time.RFC3339, s); must(err)
		must(w.Write(row{s, t, t}))
	}
	must(w.Close())
}
GO
(go mod init probe; go get github.com/fraugster/parquet-go/floor@v0.12.0) 2> err.txt || { cat err.txt; exit 1; }
go list -m github.com/fraugster/parquet-go; go run .
echo '{"private":true,"type":"module"}' > package.json && npm install --silent --no-audit --no-fund hyparquet@1.33.0 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { parquetReadObjects } from 'hyparquet'
const bytes = readFileSync('t.parquet'), file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
const seen = (await parquetReadObjects({ file })).map(r => [r.text, r.at.toISOString().slice(0, 10), r.day.toISOString().slice(0, 10)])
for (const [text, at, day] of seen) console.log('written', text, ' read: time of', at, ' date', day)
const want = '2026-01-01,2026-01-01 1900-01-01,1900-01-01 1969-07-20,1969-07-21 1816-03-30,2262-04-11 2084-07-20,1677-09-22'
const same = seen.map(r => r.slice(1).join()).join(' ') === want
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
