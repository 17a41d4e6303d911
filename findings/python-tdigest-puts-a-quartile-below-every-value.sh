#!/usr/bin/env bash
# The Python package tdigest gives quartiles below the smallest of all values as soon as values repeat: of a hundred
# 1s and one 1000 its first quartile is -488.6 and its median 10.9.
#
# What it is: tdigest estimates quantiles of a stream with Dunning's t-digest.
# Versions: tdigest 0.5.2.2; fastdigest 0.12.0 for comparison (PyPI).
# What the docs say: the README offers accurate percentiles of any stream or of several joined ones. Dunning and Ertl,
#   "Computing extremely accurate quantiles using t-digests": the digest keeps minimum and maximum, and an
#   estimate never leaves them.
# Guess: 1 for the percentiles 5 to 95 of a hundred 1s and one 1000; nothing below 1.
# Seen: -888.2 for the 5th, -488.6 for the 25th, 10.9 for the 50th, 510.4 for the 75th. Of ninety 0s and ten 10s: -8, -4, 1
#   and 6. Of 1, 2 and 3 the 5th is 0.65. The percentiles 0 and 100 are right, and so are all of a hundred equal values and
#   the median of 1 to 100.
# Why: equal values share one centroid of great weight; at the end of the list the line to the neighbouring centroid is
#   drawn on past it, by half of its weight, and nothing stops at the smallest value.
# Wrong number for a user: counts of an hour and delays in whole seconds repeat, 0 and 1 above all. The typical delay
#   comes out ten times too long, and a lower quartile as a negative time or a negative count.
# Instead: fastdigest (1 everywhere), or exact percentiles while the values fit in memory.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v
v/bin/pip -q --disable-pip-version-check install --no-compile tdigest==0.5.2.2 fastdigest==0.12.0 >/dev/null
cat > run.py <<'PY'
from importlib.metadata import version
import fastdigest
import tdigest

print('tdigest', version('tdigest'), '/ fastdigest', version('fastdigest'))
PERCENTILES = (0, 5, 25, 50, 75, 100)
CASES = {
    'a hundred 1s and one 1000': ([1] * 100 + [1000], [1, -888.2, -488.6, 10.9, 510.4, 1000]),
    'ninety 0s and ten 10s': ([0] * 90 + [10] * 10, [0, -8, -4, 1, 6, 10]),
    '1, 2 and 3': ([1, 2, 3], [1, 0.65, 1.25, 2, 2.75, 3]),
    # Controls: one value only, and no value twice.
    'a hundred 5s': ([5] * 100, [5] * 6),
    '1 to 100': (list(range(1, 101)), [1, 5.5, 25.5, 50.5, 75.5, 100]),
}
same = True
for name, (values, stated) in CASES.items():
    digest = tdigest.TDigest()
    digest.batch_update(values)
    observed = [digest.percentile(p) for p in PERCENTILES]
    other = fastdigest.TDigest.from_values([float(v) for v in values])
    expected = [other.percentile(p) for p in PERCENTILES]
    print(f'{name}, percentiles {PERCENTILES}')
    print('  expected (fastdigest)', [round(x, 2) for x in expected])
    print('  observed             ', [round(x, 2) for x in observed])
    same = same and all(abs(a - b) < 0.06 for a, b in zip(observed, stated))
    same = same and all(min(values) <= x <= max(values) for x in expected)
print('still as stated' if same else 'changed')
raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
