#!/usr/bin/env bash
# The JSON and CSV writers of the Go package xitongsys/parquet-go take of a value what a number begins with and drop the rest:
# "2026-01-01T05:00:00Z" is stored as 2,026 ms after the beginning of 1970, the JSON number 1e3 as 1.
#
# What it is: xitongsys/parquet-go writes Parquet; its JSONWriter and CSVWriter take rows as text ("convert json to parquet").
# Versions: github.com/xitongsys/parquet-go v1.6.2 (Go proxy); hyparquet 1.33.0 (npm), a reader of its own, reads the files.
# What the spec says: RFC 8259, 6: 1e3 is a number, equal to 1000. Parquet, LogicalTypes: TIMESTAMP_MILLIS counts milliseconds, DATE
#   days since 1970. The README: the Go types of both are int64 and int32; it does not say what is done with other text.
# Guess: 1e3 is 1000; for the two texts and for 5.9 in a column of integers either the value or an error.
# Seen: no error. 1e3 is 1, 5.9 is 5, the time is 1970-01-01T00:00:02.026Z and the date 1975-07-20 (day 2026), with the JSON
#   writer and with WriteString of the CSV writer alike. Only text that does not begin with a number is an error.
# Why: fmt.Sscanf(text, "%d") reads as far as there are digits, and what is left over is not looked at.
# Wrong for a user: all hours of a year lie in the same two thousandths of a second of 1970, so that a sum for that moment is the sum
#   of the year; a count that some JSON writer gave as 1.5e6 is 1.
# Instead: parse times and numbers yourself and give integers only (time.Parse, UnixMilli), or check the file with another reader.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
cat > main.go <<'GO'
package main

import ("os"; "github.com/xitongsys/parquet-go/writer")

func must(err error) { if err != nil { panic(err) } }
func main() {
	hour, day, stars, total := "2026-01-01T05:00:00Z", "2026-01-01", "5.9", "1e3"
	f, _ := os.Create("json.parquet")
	j, err := writer.NewJSONWriterFromWriter(`{"Tag":"name=root","Fields":[
	 {"Tag":"name=hour, type=INT64, convertedtype=TIMESTAMP_MILLIS"},{"Tag":"name=day, type=INT32, convertedtype=DATE"},
	 {"Tag":"name=stars, type=INT32"},{"Tag":"name=total, type=INT64"}]}`, f, 1)
	must(err)
	must(j.Write(`{"hour":"` + hour + `","day":"` + day + `","stars":` + stars + `,"total":` + total + `}`))
	must(j.WriteStop()); f.Close()
	f, _ = os.Create("csv.parquet")
	c, err := writer.NewCSVWriterFromWriter([]string{"name=hour, type=INT64, convertedtype=TIMESTAMP_MILLIS", "name=day, type=INT32, convertedtype=DATE",
		"name=stars, type=INT32", "name=total, type=INT64"}, f, 1)
	must(err)
	must(c.WriteString([]*string{&hour, &day, &stars, &total})); must(c.WriteStop()); f.Close()
}
GO
(go mod init probe; go get github.com/xitongsys/parquet-go@v1.6.2; go mod tidy) 2> err.txt || { cat err.txt; exit 1; }
go list -m github.com/xitongsys/parquet-go; go run .
echo '{"private":true,"type":"module"}' > package.json && npm install --silent --no-audit --no-fund hyparquet@1.33.0 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { parquetReadObjects } from 'hyparquet'
let same = true
for (const form of ['json', 'csv']) {
  const bytes = readFileSync(form + '.parquet'), file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
  const [row] = (await parquetReadObjects({ file })).map(r => Object.fromEntries(Object.entries(r).map(([k, v]) => [k.toLowerCase(), v?.toISOString?.() ?? Number(v)])))
  console.log(form.padEnd(4), JSON.stringify(row))
  same &&= JSON.stringify(row) === '{"hour":"1970-01-01T00:00:02.026Z","day":"1975-07-20T00:00:00.000Z","stars":5,"total":1}'
}
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
