#!/usr/bin/env bash
# The csvw validator's verdict depends on Python's warnings filter: with PYTHONWARNINGS=ignore
# a table that breaks its CSVW metadata is reported OK.
#
# What it is: the csvw package reads CSV on the Web metadata; csvwvalidate and CSVW.is_valid
#   say whether the table agrees with it.
# Versions: csvw 4.1.1 (PyPI).
# What the docs say: is_valid is documented as performing CSVW validation; W3C "Model for
#   Tabular Data and Metadata on the Web", section on parsing cells: a cell that does not fit
#   its datatype, or a required cell that is empty, gets an error, which validators report.
#   Nothing in the package's text ties the verdict to how warnings are shown.
# Guess: hiding warnings hides text on stderr; the answer and the exit code stay.
# Seen: a count of -5 in a nonNegativeInteger column and an empty required cell are FAIL with
#   exit code 1 by default, OK with exit code 0 under PYTHONWARNINGS=ignore (or python -W
#   ignore). The findings are
#   counted by catching warnings, and an ignored warning is never caught.
# Wrong claim for a user: a build that silences warnings publishes "validated" data.
# Instead: run csvwvalidate with PYTHONWARNINGS=always, and let the build check once that a
#   table known to be wrong fails.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install csvw==4.1.1
v/bin/python -c "from importlib.metadata import version; print('csvw', version('csvw'))"
meta() { echo '{"@context":"http://www.w3.org/ns/csvw","url":"'$1'","tableSchema":{"columns":[{"name":"hour","titles":"hour","datatype":"dateTime","required":true},{"name":"stars","titles":"stars","datatype":"nonNegativeInteger"}]}}' > $1-metadata.json; }
printf 'hour,stars\n2026-01-01T00:00:00Z,5\n' > good.csv; meta good.csv
printf 'hour,stars\n2026-01-01T00:00:00Z,-5\n,3\n' > bad.csv; meta bad.csv
try() { local rc=0 out; out=$(PYTHONWARNINGS=$2 v/bin/csvwvalidate $1-metadata.json 2>/dev/null) || rc=$?; echo "$(echo "$out" | grep -oE 'OK|FAIL' | head -1) $rc"; }
g=$(try good.csv default); d=$(try bad.csv default); a=$(try bad.csv always); i=$(try bad.csv ignore)
echo "good.csv, default filter  expected OK 0    observed $g"
echo "bad.csv,  default filter  expected FAIL 1  observed $d"
echo "bad.csv,  always          expected FAIL 1  observed $a"
echo "bad.csv,  ignore          expected FAIL 1  observed $i"
if [ "$g" = 'OK 0' ] && [ "$d" = 'FAIL 1' ] && [ "$a" = 'FAIL 1' ] && [ "$i" = 'OK 0' ]; then echo 'still as stated'; else echo changed; exit 1; fi
