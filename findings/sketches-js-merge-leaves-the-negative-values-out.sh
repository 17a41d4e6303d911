#!/usr/bin/env bash
# Datadog's sketches-js leaves the negative values out when it merges two sketches, but counts them: the median of -1 to -100
# from two machines becomes -0.99, and of -100 to 100 it becomes 100.
#
# What it is: @datadog/sketches-js has DDSketch, a sketch of quantiles that can be merged.
# Versions: @datadog/sketches-js 2.1.1 (npm); ddsketch 3.0.1, the same in Python, for comparison (PyPI).
# What the docs say: the README: positive and negative numbers are supported, and sketches of the same relative accuracy can be
#   merged with that accuracy kept. Masson and others, "DDSketch" (2019): a merged sketch equals the one of all values.
# Guess: a merged sketch gives the quantiles of one sketch that got all values, and so does the Python package.
# Seen: -1 to -100 merged with themselves: quartiles -50.9, -0.99 and 0 in place of -75, -50 and -25. 1 to 100 merged with -1 to
#   -100: 49.9, 100.5 and 100.5 in place of -50, -1 and 50. count, sum, min and max are right, positive values too, and a merge into an
#   empty sketch.
# Why: merge adds the store of positive values and the number of zeros; that of negative values is copied only into an empty
#   sketch. The ranks are taken of the full count, so that all quantiles move up.
# Wrong number for a user: delays of clocks that run ahead are negative. One machine shows a median of 0 s, the sum of
#   two of them one of a minute; nothing is raised, and the mean of sum and count is right.
# Instead: add an offset before and take it away after, or the Python package.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund @datadog/sketches-js@2.1.1 protobufjs@7.6.6 >/dev/null
python3 -m venv v
v/bin/pip -q --disable-pip-version-check install --no-compile ddsketch==3.0.1 >/dev/null
cat > run.mjs <<'JS'
import { DDSketch } from '@datadog/sketches-js'
const up = Array.from({ length: 100 }, (_, i) => i + 1)
const down = up.map((x) => -x)
const sketch = (values) => { const s = new DDSketch({ relativeAccuracy: 0.01 }); for (const x of values) s.accept(x); return s }
const quartiles = (s) => [0.25, 0.5, 0.75].map((q) => s.getValueAtQuantile(q).toFixed(1).replace('-0.0', '0.0')).join(' ')
for (const [name, a, b] of [['up, up', up, up], ['down, down', down, down], ['up, down', up, down], ['empty, down', [], down]]) {
  const merged = sketch(a)
  merged.merge(sketch(b))
  console.log(`${name} | ${quartiles(sketch([...a, ...b]))} | ${quartiles(merged)} | ${merged.count} ${merged.sum} ${merged.min} ${merged.max}`)
}
JS
cat > other.py <<'PY'
from ddsketch import DDSketch

def sketch(values):
    made = DDSketch(0.01)
    for value in values:
        made.add(value)
    return made

up = range(1, 101)
down = [-x for x in up]
for name, a, b in (('up, up', up, up), ('down, down', down, down), ('up, down', up, down), ('empty, down', [], down)):
    merged = sketch(a)
    merged.merge(sketch(b))
    print(name, '|', ' '.join(f'{merged.get_quantile_value(q):.1f}' for q in (0.25, 0.5, 0.75)))
PY
node run.mjs > seen.txt
v/bin/python other.py > other.txt
echo 'sketches-js 2.1.1: parts | quartiles of one sketch of all values (expected) | of the merged one (observed) | count sum min max'
cat seen.txt
echo 'ddsketch 3.0.1, merged:'; cat other.txt
cat > stated.txt <<'STATED'
up, up | 24.8 49.9 74.4 | 24.8 49.9 74.4 | 200 10100 1 100
down, down | -76.0 -50.9 -25.8 | -50.9 -1.0 0.0 | 200 -10100 -100 -1
up, down | -50.9 -1.0 49.9 | 49.9 100.5 100.5 | 200 0 -100 100
empty, down | -76.0 -50.9 -25.8 | -76.0 -50.9 -25.8 | 100 -5050 -100 -1
STATED
if diff seen.txt stated.txt && grep -qx 'down, down | -76.0 -50.9 -25.8' other.txt && grep -qx 'up, down | -50.9 -1.0 49.9' other.txt
then echo 'still as stated'; else echo 'changed'; exit 1; fi
