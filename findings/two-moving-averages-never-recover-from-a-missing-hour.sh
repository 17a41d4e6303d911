#!/usr/bin/env bash
# After one missing hour (NaN) two moving averages give NaN to the end of the series, long after
# that hour has left their window.
#
# What it is: SMA of the npm package downsample, and maverage, a simple moving average for values
#   as they come (PyPI).
# Versions: downsample 1.4.0, maverage 0.0.1; compared with the sum of each window.
# What the definition says: the average of a window depends on the values in that window alone;
#   pandas, for one, gives numbers again as soon as the window is whole.
# Guess: with a window of three hours, three results are NaN.
# Seen: both keep a running sum, add what comes and subtract what goes; NaN minus NaN is NaN. Of
#   a week with hour 24 missing 144 of 166 averages are NaN instead of 3, and a service that
#   feeds maverage has no rate until it is restarted. The average over the whole of the next
#   year would still be NaN.
# Wrong claim for a user: "no data since Friday 00:00", or a chart line that ends there, though
#   only one hour was not observed.
# Instead: leave the hour out by segment, or compute each window on its own.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null && npm i -s --no-audit --no-fund --ignore-scripts downsample@1.4.0
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install maverage==0.0.1
cat > run.js <<'JS'
const { SMA } = require('downsample')
const week = Array.from({ length: 168 }, (_, x) => ({ x, y: x === 24 ? NaN : 10 + x % 3 })), n = 3
const seen = SMA(week, n).map(p => p.y)
const want = Array.from({ length: 166 }, (_, i) => week.slice(i, i + n).reduce((t, p) => t + p.y, 0) / n)
const count = a => a.filter(Number.isNaN).length
console.log('downsample', require('downsample/package.json').version, 'SMA: averages', seen.length, ' NaN: expected', count(want) + ', observed', count(seen), ' last one: expected', want[165] + ', observed', seen[165])
process.exit(count(want) === 3 && count(seen) === 144 && Number.isNaN(seen[165]) ? 0 : 1)
JS
cat > run.py <<'PY'
from importlib.metadata import version
from math import isnan, nan
from maverage.simple import Simple
week = [nan if x == 24 else 10 + x % 3 for x in range(168)]
ma, seen = Simple(3), []
for i, y in enumerate(week):
    ma.input(y)
    if i >= 2: seen.append(ma.average)
want = [sum(week[i:i + 3]) / 3 for i in range(166)]
count = lambda a: sum(map(isnan, a))
print('maverage', version('maverage'), 'Simple: averages', len(seen), ' NaN: expected', count(want), 'observed', count(seen), ' last one: expected', want[-1], 'observed', seen[-1])
raise SystemExit(0 if count(want) == 3 and count(seen) == 144 and isnan(seen[-1]) else 1)
PY
if node run.js && v/bin/python run.py; then echo 'still as stated'; else echo changed; exit 1; fi
