#!/usr/bin/env bash
# When a CSV's columns come in another order than its CSVW metadata lists them, csvw's to_json
# gives each count the other column's name and is_valid says True; iterdicts of the same
# package, on the same file, names them rightly.
#
# What it is: the csvw package (CSV on the Web for Python), csvw2json and csvwvalidate.
# Versions: csvw 4.1.1 (PyPI).
# What the spec says: W3C "Metadata Vocabulary for Tabular Data", section "Schema
#   Compatibility": the columns embedded in the file (its header) and the column descriptions
#   are compared index by index, and the titles at each index must have one in common.
# Guess: an error, or columns matched by their titles.
# Seen: header "forks,stars", metadata "stars, forks", all integers: to_json and csvw2json
#   report stars = 1 and forks = 100 for a line that says forks 1, stars 100; is_valid is True
#   and csvwvalidate prints OK. Table.iterdicts reports stars = 100, forks = 1.
# Wrong number for a user: one measure under the name of another, validated.
# Instead: compare the file's first line with the metadata's titles before converting;
#   publishers: never reorder columns without new metadata.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install csvw==4.1.1
printf 'hour,forks,stars\n2026-01-01T00:00:00Z,1,100\n' > t.csv
cat > t.csv-metadata.json <<'M'
{"@context":"http://www.w3.org/ns/csvw","url":"t.csv","tableSchema":{"columns":[
 {"name":"hour","titles":"hour","datatype":"dateTime"},
 {"name":"stars","titles":"stars","datatype":"integer"},
 {"name":"forks","titles":"forks","datatype":"integer"}]}}
M
cat > run.py <<'PY'
from importlib.metadata import version
from csvw import CSVW, Table
print('csvw', version('csvw'))
c = CSVW('t.csv-metadata.json', validate=True)
valid = c.is_valid
j = c.to_json(minimal=True)[0]
d = next(iter(Table.from_file('t.csv-metadata.json').iterdicts()))
pick = lambda r: {k: r[k] for k in ('stars', 'forks')}
print('is_valid   expected False, observed', valid)
print("to_json    expected {'stars': 100, 'forks': 1}, observed", pick(j))
print("iterdicts  expected {'stars': 100, 'forks': 1}, observed", pick(d))
same = valid and pick(j) == {'stars': 1, 'forks': 100} and pick(d) == {'stars': 100, 'forks': 1}
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
