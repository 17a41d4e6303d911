#!/usr/bin/env bash
# The Go t-digest of influxdata says that no value is at or below the smallest one: of 90 hours with 0 events and 10 with 7,
# CDF(0) is 0, not 0.9; and where all values are 0, the share at or below 0 is 0 too.
#
# What it is: github.com/influxdata/tdigest is a sketch of a distribution, asked with Quantile(q) and CDF(x).
# Versions: github.com/influxdata/tdigest v0.0.1; github.com/caio/go-tdigest/v4 v4.1.0 for comparison.
# What the docs say: the comment of CDF: it returns the cumulative distribution function for a given value, which is the share
#   of the values at or below it. The README asks for CDF(1) of values that begin at 1.
# Guess: CDF(0) is about 0.9 and CDF(7) is 1; of values that are all 0, CDF(0) is 1.
# Seen: CDF(0) is 0.000 in both cases. Of the first, CDF(1) is 0.896 and CDF(7) is 1, so that only the lower end is wrong; just
#   above 0 it is 0.895 and 1. caio's digest gives 0.890 and 1.000 at 0.
# Why: CDF returns 0 for every x <= min before it looks at the weight of the first centroids, as if no value repeated.
# Wrong number for a user: counts per hour, errors and waiting times have many zeros. "Share of hours without an event: 0 %"
#   for a source that is silent nine hours of ten, while Quantile(0.5) of the same sketch is 0.
# Instead: count the smallest value apart, ask for math.Nextafter(x, math.Inf(1)), or use another digest.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
printf 'module x\ngo 1.21\nrequire (\n github.com/influxdata/tdigest v0.0.1\n github.com/caio/go-tdigest/v4 v4.1.0\n)\n' > go.mod
cat > main.go <<'GO'
package main
import ("fmt"; "math"; other "github.com/caio/go-tdigest/v4"; "github.com/influxdata/tdigest")
func main() {
	quiet := append(make([]float64, 90), 7, 7, 7, 7, 7, 7, 7, 7, 7, 7)
	for _, c := range []struct {
		name string; values []float64; at float64
	}{{"90 x 0, 10 x 7", quiet, 0}, {"90 x 0, 10 x 7", quiet, 1}, {"90 x 0, 10 x 7", quiet, 7}, {"100 x 0", make([]float64, 100), 0}} {
		a := tdigest.NewWithCompression(1000)
		b, _ := other.New()
		below := 0.0
		for _, v := range c.values {
			a.Add(v, 1); b.Add(v)
			if v <= c.at { below++ }
		}
		below /= float64(len(c.values))
		verdict := fmt.Sprint("caio ", b.CDF(c.at))
		if math.Abs(b.CDF(c.at)-below) <= 0.015 { verdict = "caio right" }
		fmt.Printf("%s | at or below %g | %.3f | %.3f | just above %.3f | median %g | %s\n", c.name, c.at,
			below, a.CDF(c.at), a.CDF(math.Nextafter(c.at, 9)), a.Quantile(0.5), verdict)
	}
}
GO
GOFLAGS=-mod=mod GOTOOLCHAIN=local go run . > seen.txt 2> go.log || { cat go.log; exit 1; }
echo 'influxdata/tdigest v0.0.1: values | question | expected | observed | ...'; cat seen.txt
cat > stated.txt <<'STATED'
90 x 0, 10 x 7 | at or below 0 | 0.900 | 0.000 | just above 0.895 | median 0 | caio right
90 x 0, 10 x 7 | at or below 1 | 0.900 | 0.896 | just above 0.896 | median 0 | caio right
90 x 0, 10 x 7 | at or below 7 | 1.000 | 1.000 | just above 1.000 | median 0 | caio right
100 x 0 | at or below 0 | 1.000 | 0.000 | just above 1.000 | median 0 | caio right
STATED
if diff seen.txt stated.txt; then echo 'still as stated'; else echo 'changed'; exit 1; fi
