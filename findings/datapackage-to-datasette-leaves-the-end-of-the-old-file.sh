#!/usr/bin/env bash
# datapackage-to-datasette --write-mode replace writes the new metadata over the beginning of the
# old: if it is shorter, the old end stays, the file is no JSON, and the exit status is 0.
#
# What it is: a command that loads a Data Package into SQLite and writes title, licence and source as
#   a metadata file for Datasette.
# Versions: datapackage-to-datasette 0.5.0, frictionless 5.21.0 (PyPI).
# What the docs say: "Pass 'replace' or 'merge' to overwrite or merge with an existing datasette
#   metadata file".
# Guess: after a shorter title the file holds the new metadata and nothing else.
# Seen: the file is opened for reading and writing, written from its first byte and never cut to its
#   new length. Python's json says "Extra data"; the command itself says nothing. A longer title
#   works.
# Wrong claim for a user: "published" by a nightly job that exits with 0, while Datasette does not
#   start any more, or serves yesterday's licence if it falls back on a copy.
# Instead: remove the file first.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install datapackage-to-datasette==0.5.0 frictionless==5.21.0
printf 'hour,stars\n2026-01-01T00:00:00Z,5\n' > hours.csv
cat > run.py <<'PY'
import json, os, subprocess
from importlib.metadata import version
print('datapackage-to-datasette', version('datapackage-to-datasette'), 'frictionless', version('frictionless'))
def publish(title, *mode):
    fields = [{'name': 'hour', 'type': 'datetime'}, {'name': 'stars', 'type': 'integer'}]
    json.dump({'name': 'hours', 'title': title, 'licenses': [{'name': 'CC0-1.0'}],
               'resources': [{'name': 'hours', 'path': 'hours.csv', 'schema': {'fields': fields}}]}, open('datapackage.json', 'w'))
    if os.path.exists('hours.db'): os.remove('hours.db')
    code = subprocess.run(['v/bin/datapackage-to-datasette', 'hours.db', 'datapackage.json', 'metadata.json', *mode]).returncode
    text = open('metadata.json').read()
    try: return code, json.loads(text)['databases']['hours.db']['title'], text
    except ValueError as e: return code, type(e).__name__ + ': ' + str(e), text
first = publish('Stars by the hour, all repositories of 2026')
print('first          exit', first[0], first[1])
longer = publish('Stars by the hour, all repositories of 2026 and 2025', '--write-mode', 'replace')
print('replace longer exit', longer[0], longer[1])
shorter = publish('Stars', '--write-mode', 'replace')
print("replace shorter expected 0 Stars, observed", shorter[0], shorter[1])
print('end of the file', repr(shorter[2][-60:]))
same = first[:2] == (0, 'Stars by the hour, all repositories of 2026') and longer[0] == 0 and longer[1].endswith('2025') and shorter[0] == 0 and shorter[1].startswith('JSONDecodeError: Extra data')
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
