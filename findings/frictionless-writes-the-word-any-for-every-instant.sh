#!/usr/bin/env bash
# A table whose hour field has the Table Schema format "any" is read right by frictionless, but written with
# the word "any" in the place of every hour.
#
# What it is: frictionless reads, checks and converts tables described by a Table Schema.
# Versions: frictionless 5.21.0 (PyPI).
# What the spec says: Table Schema, field types date, time and datetime: the format may be "default", "any"
#   (any representation that can be parsed) or a strftime pattern.
# Guess: a valid table that is read and written again keeps its hours, in some ISO 8601 form.
# Seen: with "any" the cells of all three types are written as the three letters any; write() gives no error,
#   and to_dict with json=True, the form for JSON, does the same. With "default" and with a
#   pattern the values are written. The numbers beside them are right in each case.
# Why: for every format but "default" the cell is written by strftime(format), and "any" holds no code
#   that strftime would replace.
# Wrong claim for a user: the converted file keeps all rows and counts but no longer says of which hour
#   they are; where the hour is the primary key, rows overwrite one another in the next step.
# Instead: set the format to "default", or to a pattern, before writing.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v
v/bin/pip -q --disable-pip-version-check install --no-compile frictionless==5.21.0 >/dev/null
cat > run.py <<'PY'
from importlib.metadata import version
from frictionless import Resource, Schema
print('frictionless', version('frictionless'))
HOURS = ['2026-11-29T21:00:00Z', '2026-11-29T22:00:00Z', '2026-11-29T23:00:00Z']
ROWS = [f'{h},{h[:10]},{h[11:19]},{n}' for h, n in zip(HOURS, (40, 0, 7))]
with open('hours.csv', 'w') as file:
    file.write('\n'.join(['hour,day,clock,events', *ROWS]) + '\n')
FORMATS = {
    'default': ('default', 'default', 'default'),
    'pattern': ('%Y-%m-%dT%H:%M:%S%z', '%Y-%m-%d', '%H:%M:%S'),
    'any': ('any', 'any', 'any'),
}
same = True
for name, formats in FORMATS.items():
    fields = [{'name': n, 'type': t, 'format': f} for n, t, f in zip(('hour', 'day', 'clock'), ('datetime', 'date', 'time'), formats)]
    schema = Schema.from_descriptor({'fields': [*fields, {'name': 'events', 'type': 'integer'}]})
    table = Resource(path='hours.csv', schema=schema)
    valid = table.validate().valid
    read = [(row['hour'].isoformat(), row['events']) for row in table.read_rows()]
    json = table.read_rows()[1].to_dict(json=True)['hour']
    table.write(Resource(path=name + '.csv'))
    with open(name + '.csv') as file:
        got = file.read().splitlines()[1:]
    print(f'{name}: valid {valid}; expected {ROWS[1]}, observed {got[1]}; JSON form {json}')
    same = same and valid and read == [(h.replace('Z', '+00:00'), n) for h, n in zip(HOURS, (40, 0, 7))]
    same = same and got == (['any,any,any,40', 'any,any,any,0', 'any,any,any,7'] if name == 'any' else ROWS)
    same = same and json == ('any' if name == 'any' else HOURS[1])
print('still as stated' if same else 'changed')
raise SystemExit(0 if same else 1)
PY
v/bin/python -W ignore run.py
