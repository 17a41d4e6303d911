#!/usr/bin/env bash
# pytablewriter writes LTSV with quotation marks around each text, which the format does not have: a reader of LTSV gets
# the hour "2026-01-01T00:00:00Z" with the marks, finds no row of that hour, and an identifier 007 comes as 7.
#
# What it is: pytablewriter (PyPI), tables in many formats, here LTSV: label:value fields between tabs, used for logs.
# Versions: pytablewriter 1.2.1, ltsv 0.0.5 (PyPI) as the reader; also read with the first line of ABNF as a split.
# What the spec says: ltsv.org: field = label ":" field-value, and field-value = any bytes but tab, line feed, carriage
#   return (and NUL): there are no quotation marks and no escapes, so a mark is a part of the value.
# Guess: hour:2026-01-01T00:00:00Z, tab, rkey:007, tab, note:a "b".
# Seen: hour:"2026-01-01T00:00:00Z", tab, rkey:7, tab, note:"a \"b\"". The 7 comes of the types that the library guesses;
#   the marks stay also where the columns are declared as String, and then 007 becomes "007".
# Wrong claim for a user: a search for the hour or the account finds nothing (two of two rows are missed), and in a join
#   with logs that other programs wrote no value fits.
# Instead: write the lines yourself: "\t".join(f"{k}:{v}" for k, v in row.items()), tabs and line breaks replaced first.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install pytablewriter==1.2.1 ltsv==0.0.5 'setuptools<81'
cat > run.py <<'PY'
from importlib.metadata import version
import pytablewriter as p, ltsv
print('pytablewriter', version('pytablewriter'), 'ltsv', version('ltsv'))
names = ['hour', 'rkey', 'note', 'stars']
rows = [['2026-01-01T00:00:00Z', '007', 'a "b"', 5], ['2026-01-01T01:00:00Z', '3kabc', 'home', 0]]
def write(**more): return p.LtsvTableWriter(table_name='t', headers=names, value_matrix=rows, **more).dumps()
def split(text): return [dict(f.split(':', 1) for f in line.split('\t')) for line in text.splitlines() if line]
def library(text): return [dict(r) for r in ltsv.reader(text.splitlines())]
guessed, declared = write(), write(type_hints=['String'] * 4)
plain = '\n'.join('\t'.join(f'{k}:{v}' for k, v in zip(names, r)) for r in rows) + '\n'
print('written ', repr(guessed.splitlines()[0])); print('declared', repr(declared.splitlines()[0]))
for name, text in (('pytablewriter', guessed), ('by hand', plain)):
    got = library(text) ; assert got == split(text), (got, split(text))
    print(name.ljust(14), 'rows of hour 00, expected 1, observed', sum(r['hour'] == rows[0][0] for r in got), '; rkey expected 007, observed', got[0]['rkey'])
g, d = split(guessed)[0], split(declared)[0]
same = g == {'hour': '"2026-01-01T00:00:00Z"', 'rkey': '7', 'note': '"a \\"b\\""', 'stars': '5'} and d['rkey'] == '"007"' and split(plain)[0]['rkey'] == '007'
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
