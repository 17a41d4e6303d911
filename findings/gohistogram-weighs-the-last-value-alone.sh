#!/usr/bin/env bash
# The weighted histogram of gohistogram, with the alpha that its documentation gives, knows little but the last value: after a
# thousand requests its median, its 10th and its 99th percentile are the last one. In a rising series it forgets nothing at all.
#
# What it is: gohistogram (Go) estimates quantiles of a stream; WeightedHistogram does so "with recency factored in".
# Versions: github.com/VividCortex/gohistogram v1.0.0.
# What the docs say: "Alpha should be set to 2 / (N+1), where N represents the average age of the moving window. For example, a
#   60-second window with an average age of 30 seconds would yield an alpha of 0.064516129."
# Guess: the weights of about sixty values count, as with 2/(N+1) in every moving average; the median of values spread over
#   0 to 99 is near 50, and old values fade whatever comes after them.
# Seen: all quantiles are the last value and all weights together are 1.07; with 1 - 0.0645 for alpha they are 52, 12 and 97,
#   the weights 15.5 (1/0.0645). For 1, 2, ... 60 in this order the weights are 60, none fades; in reverse order 1.07.
# Why: a weight is multiplied by alpha at every value instead of by 1 - alpha; and where a value is larger than all before it,
#   the branch that appends it leaves the scaling out. Issue 18 of the project (2015) asked about the formula and was closed as correct.
# Wrong number for a user: "p99 of the last minute" is the time of the last request; and while it gets slower and slower, the old
#   fast requests keep their full weight: the median stays behind.
# Instead: alpha = 1 - 2/(N+1), with values rounded so that few are new maxima; or NumericHistogram, one for each minute.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
cat > go.mod <<'MOD'
module probe
go 1.24
require github.com/VividCortex/gohistogram v1.0.0
MOD
cat > main.go <<'GO'
package main

import (
	"fmt"
	"github.com/VividCortex/gohistogram"
)

func main() {
	const documented = 0.064516129 // of the example in the documentation
	run := func(name string, alpha float64, n int, value func(i int) float64) {
		h := gohistogram.NewWeightedHistogram(100, alpha)
		for i := 0; i < n; i++ {
			h.Add(value(i))
		}
		fmt.Printf("%s: p10 %.0f, median %.0f, p99 %.0f; weights together %.1f\n", name, h.Quantile(.1), h.Quantile(.5), h.Quantile(.99), h.Count())
	}
	spread := func(i int) float64 { return float64(i * 37 % 100) }
	run("1000 values over 0 to 99, the last 63, alpha as documented", documented, 1000, spread)
	run("the same, 1 - alpha", 1-documented, 1000, spread)
	run("1 to 60, alpha as documented", documented, 60, func(i int) float64 { return float64(i + 1) })
	run("1 to 60, 1 - alpha", 1-documented, 60, func(i int) float64 { return float64(i + 1) })
	run("60 to 1, alpha as documented", documented, 60, func(i int) float64 { return float64(60 - i) })
}
GO
go mod tidy >/dev/null 2>&1; nice go run . > seen.txt
echo 'gohistogram v1.0.0; expected: medians near 50, 50, 50, 50 and 11, p10 and p99 apart, weights near 15; observed:'; cat seen.txt
cat > stated.txt <<'STATED'
1000 values over 0 to 99, the last 63, alpha as documented: p10 63, median 63, p99 63; weights together 1.1
the same, 1 - alpha: p10 12, median 52, p99 97; weights together 15.5
1 to 60, alpha as documented: p10 6, median 30, p99 60; weights together 60.0
1 to 60, 1 - alpha: p10 6, median 30, p99 60; weights together 60.0
60 to 1, alpha as documented: p10 1, median 1, p99 2; weights together 1.1
STATED
if cmp -s seen.txt stated.txt; then echo 'still as stated'; else diff seen.txt stated.txt || true; echo 'changed'; exit 1; fi
