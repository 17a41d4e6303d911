#!/usr/bin/env bash
# parse-prometheus-text-format merges histograms and summaries that differ in a label: the last
# series overwrites the others, its label is dropped, and its sum and count vanish.
#
# What it is: an npm parser of the Prometheus text format giving one object per metric family.
# Versions: parse-prometheus-text-format 1.1.1 (npm); prometheus_client 0.26.0 (PyPI) beside it.
# What the spec says: in the text exposition format a histogram or summary is one set of
#   _bucket/_sum/_count lines for each distinct set of other labels (Prometheus docs,
#   "Exposition formats", section on histograms and summaries). The README's example keeps
#   the labels of gauges and counters, and of a summary that has only sums and counts.
# Guess: two entries, one for each repo label, each with buckets, count and sum.
# Seen: one entry without labels; its buckets are those of the last repo; count and sum are
#   gone. Counters of the same text keep both series and their labels. No error.
# Wrong number for a user: the spread of delays shown for "all" is that of whichever
#   repository came last, and nothing says that the others are missing.
# Instead: read such families with another parser (prometheus_client kept all lines), or turn
#   le/quantile series into gauges before parsing.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund parse-prometheus-text-format@1.1.1 >/dev/null
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install prometheus_client==0.26.0
cat > m.txt <<'M'
# HELP delay_hours Hours between an event and its count.
# TYPE delay_hours histogram
delay_hours_bucket{repo="a",le="1"} 1
delay_hours_bucket{repo="a",le="+Inf"} 100
delay_hours_sum{repo="a"} 400
delay_hours_count{repo="a"} 100
delay_hours_bucket{repo="b",le="1"} 7
delay_hours_bucket{repo="b",le="+Inf"} 8
delay_hours_sum{repo="b"} 9
delay_hours_count{repo="b"} 8
# HELP stars_total Stars.
# TYPE stars_total counter
stars_total{repo="a"} 10
stars_total{repo="b"} 20
M
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import parse from 'parse-prometheus-text-format'
console.log('parse-prometheus-text-format', JSON.parse(readFileSync('node_modules/parse-prometheus-text-format/package.json')).version)
const [hist, count] = parse(readFileSync('m.txt', 'utf8'))
console.log('counter   expected 2 labelled series, observed', JSON.stringify(count.metrics))
console.log('histogram expected 2 labelled series with count and sum, observed', JSON.stringify(hist.metrics))
const same = count.metrics.length === 2 && hist.metrics.length === 1
  && JSON.stringify(hist.metrics[0]) === JSON.stringify({ buckets: { 1: '7', '+Inf': '8' } })
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
v/bin/python - <<'PY'
from importlib.metadata import version
from prometheus_client.parser import text_string_to_metric_families as p
print('prometheus_client', version('prometheus_client'))
fam = list(p(open('m.txt').read()))
print('prometheus_client histogram lines kept:', len(fam[0].samples), 'of 8')
assert len(fam[0].samples) == 8
PY
node run.mjs
