#!/usr/bin/env bash
# In gota the median of a column with empty cells takes each of them for a value above all others,
# and whether a maximum is a number or NaN depends on where in the day the empty hour stands.
#
# What it is: gota, data frames for Go; an hourly CSV with hours that nobody observed.
# Versions: github.com/go-gota/gota v0.12.0.
# What the docs say: Median is described as the middle value of a series, moved less by outliers
#   than the mean. That empty number cells are read as NaN is seen in every printed frame.
# Guess: NaN, as Sum and Mean give, or the median of the observed hours; the same for all orders.
# Seen: 10, 30, empty has median 30, not 20 or NaN, and 5, empty, 7 has 7, not 6. Maximum and minimum
#   of 5, empty, 7 are 7 and 5; of empty, 5, 7 they are NaN. The count of a group counts empty
#   hours. Sum and Mean are NaN.
# Wrong number for a user: medians of days with gaps are too high, the more so the more gaps,
#   and look like ordinary numbers.
# Instead: filter first: df.Filter(dataframe.F{Colname: "stars", Comparator: series.GreaterEq,
#   Comparando: 0}) drops the empty hours of a count.
set -euo pipefail
T=$(mktemp -d); trap 'chmod -R u+w "$T" 2>/dev/null || true; rm -rf "$T"' EXIT; cd "$T"
cat > go.mod <<'MOD'
module probe

go 1.25

require github.com/go-gota/gota v0.12.0
MOD
cat > main.go <<'GO'
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"
)

const table = "day,stars\n1,10\n1,30\n1,\n2,5\n2,\n2,7\n3,\n3,5\n3,7\n"

// measures returns "max min median count" of the stars of each day.
func measures(df dataframe.DataFrame) map[string]string {
	kinds := []dataframe.AggregationType{dataframe.Aggregation_MAX, dataframe.Aggregation_MIN, dataframe.Aggregation_MEDIAN, dataframe.Aggregation_COUNT}
	found := df.GroupBy("day").Aggregation(kinds, []string{"stars", "stars", "stars", "stars"})
	days := map[string]string{}
	for i := 0; i < found.Nrow(); i++ {
		row := found.Subset(i)
		text := func(name string) string { return strings.TrimSuffix(row.Col(name).Elem(0).String(), ".000000") }
		days[text("day")] = strings.Join([]string{text("stars_MAX"), text("stars_MIN"), text("stars_MEDIAN"), text("stars_COUNT")}, " ")
	}
	return days
}

func main() {
	fmt.Println("gota v0.12.0 (max min median count)")
	df := dataframe.ReadCSV(strings.NewReader(table))
	seen := measures(df)
	full := measures(df.Filter(dataframe.F{Colname: "stars", Comparator: series.GreaterEq, Comparando: 0}))
	expected := map[string]string{"1": "30 10 20 2", "2": "7 5 6 2", "3": "7 5 6 2"}
	stated := map[string]string{"1": os.Getenv("D1"), "2": os.Getenv("D2"), "3": os.Getenv("D3")}
	same := true
	for _, day := range []string{"1", "2", "3"} {
		fmt.Printf("day %s: expected %s, or NaN; filtered first %s; observed %s\n", day, expected[day], full[day], seen[day])
		same = same && full[day] == expected[day] && seen[day] == stated[day]
	}
	fmt.Println(map[bool]string{true: "still as stated", false: "changed"}[same])
	if !same {
		os.Exit(1)
	}
}
GO
export GOFLAGS=-mod=mod D1='30 10 30 3' D2='7 5 7 3' D3='NaN NaN 7 3'
nice go run .
