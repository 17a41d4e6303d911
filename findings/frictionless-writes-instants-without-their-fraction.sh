#!/usr/bin/env bash
# Frictionless reads instants to the microsecond and checks keys on them, but writes them cut to the
# second: a copy of a valid table has two rows with one key and fails the same check.
#
# What it is: frictionless reads, checks and converts tables described by a Table Schema.
# Versions: frictionless 5.21.0 (PyPI).
# What the spec says: Table Schema, field type datetime, default format: an ISO 8601 instant; version 2 of
#   Data Package takes it from XML Schema dateTime, whose seconds may have a fraction. The library's
#   own reader accepts the fraction and keeps it.
# Guess: a table read and written again without any step in between has the same values.
# Seen: 22:00:00.125Z and 22:00:00.625Z are both read right, and the primary key "at" is valid. Both are
#   written as 22:00:00Z, with no error; the copy is refused for its primary key. An offset is
#   written as +0200, which RFC 3339 and XML Schema do not allow. Whole seconds in UTC come back equal.
# Wrong number for a user: the order and the spacing of events within a second are lost; who keeps one row
#   per key loses events; times move back by up to one second.
# Instead: declare the field as string.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v
v/bin/pip -q --disable-pip-version-check install --no-compile frictionless==5.21.0 >/dev/null
cat > run.py <<'PY'
from importlib.metadata import version
from frictionless import Resource, Schema
print('frictionless', version('frictionless'))
def schema():
    return Schema.from_descriptor({'fields': [{'name': 'at', 'type': 'datetime'}, {'name': 'n', 'type': 'integer'}], 'primaryKey': ['at']})
def valid(path):
    return Resource(path=path, schema=schema()).validate().valid
def read(path):
    return [row['at'] for row in Resource(path=path, schema=schema()).read_rows()]
same = True
for name, at, seen, equal in (
    ('whole', ['2026-11-29T22:00:00Z', '2026-11-29T22:00:01Z'], ['2026-11-29T22:00:00Z', '2026-11-29T22:00:01Z'], True),
    ('fraction', ['2026-11-29T22:00:00.125Z', '2026-11-29T22:00:00.625Z'], ['2026-11-29T22:00:00Z'] * 2, False),
    ('offset', ['2026-11-29T22:00:00+02:00', '2026-11-29T22:00:01+02:00'], ['2026-11-29T22:00:00+0200', '2026-11-29T22:00:01+0200'], True),
):
    with open(name + '.csv', 'w') as file:
        file.write('at,n\n' + ''.join(f'{t},{i}\n' for i, t in enumerate(at)))
    Resource(path=name + '.csv', schema=schema()).write(Resource(path=name + '-copy.csv'))
    with open(name + '-copy.csv') as file:
        got = [line.split(',')[0] for line in file.read().splitlines()[1:]]
    original, copy = read(name + '.csv'), read(name + '-copy.csv')
    print(f'{name}: expected {at}, observed {got}; valid before {valid(name + ".csv")}, after {valid(name + "-copy.csv")}')
    same = same and got == seen and (original == copy) is equal
    same = same and valid(name + '.csv') and valid(name + '-copy.csv') is equal
same = same and [t.microsecond for t in read('fraction.csv')] == [125000, 625000]
print('still as stated' if same else 'changed')
raise SystemExit(0 if same else 1)
PY
v/bin/python -W ignore run.py
