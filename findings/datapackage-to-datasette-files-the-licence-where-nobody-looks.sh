#!/usr/bin/env bash
# Called as its README says, datapackage-to-datasette files title and licence under "hours.db";
# Datasette calls that database "hours", and shows the data without title, source and licence.
#
# What it is: a command that loads a Data Package into SQLite and writes the metadata file for
#   Datasette, the server for such databases.
# Versions: datapackage-to-datasette 0.5.0, frictionless 5.21.0, datasette 0.65.1 (PyPI).
# What the docs say: datapackage-to-datasette: "generate Datasette metadata", with the example
#   "datapackage-to-datasette mydatabase.db ... metadata.json"; Datasette, "Metadata": the key under
#   "databases" is the name of the database, which is the file's name without .db.
# Guess: the page of the database shows "Hourly stars", "Data license: CC0-1.0" and the source.
# Seen: the first argument is file name and key in one. Datasette passes over a key that is none of
#   its databases; neither program says a word. With "hours.db" replaced by "hours" in the
#   file all of it is shown.
# Wrong claim for a user: a published table that says of itself neither what it is nor that it may be
#   used, though its Data Package says both, and CC BY data without the name of their author.
# Instead: rename the key after the run, or call it with a database path without .db.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install datapackage-to-datasette==0.5.0 frictionless==5.21.0 datasette==0.65.1
printf 'hour,stars\n2026-01-01T00:00:00Z,5\n' > hours.csv
cat > datapackage.json <<'J'
{"name":"hours","title":"Hourly stars","homepage":"https://stars.example/","licenses":[{"name":"CC0-1.0","path":"https://creativecommons.org/publicdomain/zero/1.0/"}],
 "resources":[{"name":"hours","path":"hours.csv","schema":{"fields":[{"name":"hour","type":"datetime"},{"name":"stars","type":"integer"}]}}]}
J
v/bin/datapackage-to-datasette hours.db datapackage.json metadata.json
cat > run.py <<'PY'
import json, subprocess
from importlib.metadata import version
print(*(f'{p} {version(p)}' for p in ('datapackage-to-datasette', 'frictionless', 'datasette')))
meta = json.load(open('metadata.json'))
json.dump({'databases': {k.removesuffix('.db'): v for k, v in meta['databases'].items()}}, open('renamed.json', 'w'))
def page(file):
    html = subprocess.run(['v/bin/datasette', 'hours.db', '--metadata', file, '--get', '/hours'], capture_output=True, text=True, check=True).stdout
    return {'title': 'Hourly stars' in html, 'licence': 'CC0-1.0' in html, 'source': 'stars.example' in html, 'table': '/hours/hours' in html}
seen, renamed = page('metadata.json'), page('renamed.json')
print('keys in the metadata file', list(meta['databases']))
print('page of the database: expected all shown, observed', seen)
print('with the key "hours":', renamed)
same = seen == {'title': False, 'licence': False, 'source': False, 'table': True} and all(renamed.values())
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
