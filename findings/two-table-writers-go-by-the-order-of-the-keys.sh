#!/usr/bin/env bash
# tablib and convert-array-to-csv take the names of the columns from the first JSON object and of every other one the values
# in the order in which they stand: where the order differs, counts and hours change places.
#
# What it is: tablib (Python), tables in many formats, and convert-array-to-csv (npm): both make CSV of a list of objects.
# Versions: tablib 3.10.0 (PyPI), convert-array-to-csv 2.0.0 (npm); papaparse 5.5.3 (npm) as the control.
# What the spec says: RFC 8259 section 1: an object is an unordered collection of name/value pairs; section 4: software
#   whose behaviour does not depend on the order of members can work together with others. (DAG-CBOR, too, sorts the
#   keys of a record by length first, so that a record which went through it has another order than before.)
# Guess: each value stands under its name.
# Seen: the second object has stars in front of hour, and the row says hour 2 and stars "...T01:00:00Z"; with two counts,
#   stars and forks, each gets the other's number, and nothing in the file shows it. An open request in tablib's
#   tracker, number 663, says the same of it.
# Wrong number for a user: 100 stars and 1 fork of an hour become 1 star and 100 forks.
# Instead: write the rows yourself with the names (csv.DictWriter; papaparse's unparse), or sort the keys of all
#   objects first.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund convert-array-to-csv@2.0.0 papaparse@5.5.3 >/dev/null
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install tablib==3.10.0
cat > in.json <<'J'
[{"hour":"2026-01-01T00:00:00Z","stars":100,"forks":1},
 {"hour":"2026-01-01T01:00:00Z","forks":1,"stars":100},
 {"stars":100,"forks":1,"hour":"2026-01-01T02:00:00Z"}]
J
cat > run.js <<'JS'
const rows = JSON.parse(require('fs').readFileSync('in.json', 'utf8'))
const write = { a: require('convert-array-to-csv').convertArrayToCSV, p: r => require('papaparse').unparse(r, { newline: '\n' }) }[process.argv[2]]
console.log(write(rows).trim())
JS
cat > run.py <<'PY'
import tablib
print(tablib.Dataset().load(open('in.json').read(), format='json').export('csv').replace('\r', '').strip())
PY
echo "tablib $(v/bin/python -c 'import importlib.metadata as m; print(m.version("tablib"))'), convert-array-to-csv $(node -p 'require("./node_modules/convert-array-to-csv/package.json").version')"
want=$'hour,stars,forks\n2026-01-01T00:00:00Z,100,1\n2026-01-01T01:00:00Z,100,1\n2026-01-01T02:00:00Z,100,1'
bad=$'hour,stars,forks\n2026-01-01T00:00:00Z,100,1\n2026-01-01T01:00:00Z,1,100\n100,1,2026-01-01T02:00:00Z'
t=$(v/bin/python run.py); a=$(node run.js a); p=$(node run.js p)
show() { echo "$1 $(tr '\n' '|' <<< "$2")"; }
show 'expected              ' "$want"; show 'tablib                ' "$t"; show 'convert-array-to-csv  ' "$a"; show 'papaparse             ' "$p"
if [ "$t" = "$bad" ] && [ "$a" = "$bad" ] && [ "$p" = "$want" ]; then echo 'still as stated'; else echo changed; exit 1; fi
