#!/usr/bin/env bash
# The Python OpenMetrics parser of prometheus_client reads a time written with an exponent, as the Go client writes all of its
# own, without the exponent: 1.604676851123e+09 is taken for one second after the beginning of 1970.
#
# What it is: prometheus_client.openmetrics.parser reads pages of the OpenMetrics text format; client_golang is the Go library
#   that writes them, with the encoder of prometheus/common.
# Versions: prometheus_client 0.26.0 (PyPI); client_golang 1.25.0, common 0.74.0 (Go proxy).
# What the spec says: OpenMetrics 1.0, ABNF: timestamp = realnumber, which may have an exponent; "Timestamps": seconds since
#   1970; an exponent is advised against where nanoseconds matter, as a float has not enough digits for them, not forbidden.
# Guess: the sample and the exemplar are of 6 November 2020, 15:34:11, as the Go program said.
# Seen: both are of 1 January 1970, 00:00:01 (1.604676851). With eight digits or fewer after the point the same parser is right
#   (1.60467685e+09), and so it is with 1604676851.123. No error.
# Why: text with a point is split there, and the first nine characters after it are taken for nanoseconds if they are digits; only
#   when that fails is the text read as a number. A time in milliseconds or finer has nine digits or more before the e.
# Wrong for a user: each exemplar of a Go program (client_golang dates them to the nanosecond) and each sample with a time of
#   its own is fifty years old; what drops old samples drops all, and an hour of facts lands in the year 1970.
# Instead: turn exponents of timestamps into decimals before the page is parsed.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
cat > main.go <<'GO'
package main

import (
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

func main() {
	at := time.UnixMilli(1604676851123)
	d := func(n string) *prometheus.Desc { return prometheus.NewDesc(n, "h", nil, nil) }
	r := prometheus.NewRegistry()
	r.MustRegister(prometheus.CollectorFunc(func(c chan<- prometheus.Metric) {
		c <- prometheus.NewMetricWithTimestamp(at, prometheus.MustNewConstMetric(d("stars"), prometheus.GaugeValue, 5))
		c <- prometheus.MustNewMetricWithExemplars(prometheus.MustNewConstMetric(d("seen_total"), prometheus.CounterValue, 9),
			prometheus.Exemplar{Value: 1, Labels: prometheus.Labels{"id": "a"}, Timestamp: at})
	}))
	all, _ := r.Gather()
	e := expfmt.NewEncoder(os.Stdout, expfmt.NewFormat(expfmt.TypeOpenMetrics))
	for _, f := range all { e.Encode(f) }
	e.(expfmt.Closer).Close()
}
GO
(go mod init probe; go get github.com/prometheus/client_golang/prometheus@v1.25.0 github.com/prometheus/common/expfmt@v0.74.0) 2> err.txt || { cat err.txt; exit 1; }
go run . > page.txt
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install --no-compile prometheus_client==0.26.0 >/dev/null
v/bin/python - <<'PY'
from importlib.metadata import version
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read
page = open('page.txt').read(); print('prometheus_client', version('prometheus_client'), 'reads:'); print(page, end='')
got = {s.name: float((s.exemplar or s).timestamp) for m in read(page) for s in m.samples}
ways = {t: float(next(iter(read(f'# TYPE a gauge\na 1 {t}\n# EOF\n'))).samples[0].timestamp) for t in ('1604676851.123', '1.604676851123e+09', '1.60467685e+09')}
print('times', got, '\nthe same written in three ways', ways)
same = page.count(' 1.60467685112') == 2 == page.count('e+09\n') and got == {'stars': 1.604676851, 'seen_total': 1.604676851} and list(ways.values()) == [1604676851.123, 1.604676851, 1604676850.0]
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
