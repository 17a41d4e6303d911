#!/usr/bin/env bash
# pyprobables calls two Bloom filters of disjoint crowds 34 % alike, and counts 420 common members of 1,000
# and 1,000 accounts that have none in common.
#
# What it is: probabilistic data structures in pure Python, among them Bloom filters with set operations.
# Versions: pyprobables 0.7.0 (PyPI).
# What the docs say: jaccard_index returns a value in which 0 means completely different. intersection returns
#   the filter that contains the intersection of the two, with its estimated number of elements.
# Guess: two filters at their planned size, without a common element: an index near 0, and near 0 elements.
# Seen: 0.34 and 420. Both compare bits instead of members: a full filter has half of its bits set, so that
#   two of them agree in a quarter of all bits by chance. The sizes of the two and of
#   their union are estimated well: together they say that 28 members fewer than none are common.
# Wrong number for a user: "two labelers act on 42 % of the same accounts", for labelers that have no account
#   in common; and the result grows with the load of the filters, not with what they share.
# Instead: estimate both filters and their union, and take the union from the sum (inclusion and exclusion).
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install pyprobables==0.7.0
cat > run.py <<'PY'
from importlib.metadata import version
from probables import BloomFilter
print('pyprobables', version('pyprobables'))

def crowd(first, last):
    found = BloomFilter(est_elements=1000, false_positive_rate=0.01)
    for i in range(first, last):
        found.add(f'account-{i}')
    return found

one, other = crowd(0, 1000), crowd(1000, 2000)
same = crowd(0, 1000)
index = one.jaccard_index(other)
common = one.intersection(other).elements_added
sizes = one.estimate_elements(), other.estimate_elements(), one.union(other).estimate_elements()
print('index of equal crowds', same.jaccard_index(one))
print('index of disjoint crowds: expected about 0, observed', round(index, 2))
print('common members: expected about 0, observed', common)
print('common members by the sizes of the two and of their union', sizes[0] + sizes[1] - sizes[2])
stated = 0.3 < index < 0.4 and 350 < common < 500 and abs(sizes[0] + sizes[1] - sizes[2]) < 60
print('still as stated' if stated else 'changed')
raise SystemExit(0 if stated else 1)
PY
v/bin/python run.py
