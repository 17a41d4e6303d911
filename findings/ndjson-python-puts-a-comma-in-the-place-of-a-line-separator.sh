#!/usr/bin/env bash
# The Python package ndjson changes texts while it reads them: a line separator (U+2028), a paragraph separator (U+2029) or a
# U+0085 inside a string becomes a comma, without an error.
#
# What it is: ndjson reads and writes newline-delimited JSON with load, loads, dump, dumps, reader and writer.
# Versions: ndjson 0.3.1, jsonlines 4.0.0 for comparison (PyPI). The file is written with JSON.stringify of Node.
# What the spec says: the NDJSON specification, section 3.1: the line ends are \n, optionally after \r. RFC 8259, section 7: only
#   the quotation mark, the backslash and U+0000 to U+001F must be escaped in a string, so that U+2028 may stand there as it is.
# Guess: each string comes back as it was written, or, where a line is cut, an error is raised.
# Seen: "one", U+2028, "two" comes back as "one,two" from loads and load, U+2029 and U+0085 as well. reader, of the same package,
#   and jsonlines give the strings as they were. The number of records is right, and no error is raised.
# Why: loads cuts with str.splitlines, which knows these three, and glues the pieces with commas to one JSON array: within
#   a string that is a comma of the text.
# Wrong for a user: a post's text and its hash differ from the original, positions in it too once they are counted in
#   bytes of UTF-8 (three bytes become one, so that links of an AT Protocol post mark other words), and records that differ
#   in that sign only become the same.
# Instead: ndjson.reader(file), jsonlines, or json.loads for every line of a file opened with newline="\n".
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install --no-compile ndjson==0.3.1 jsonlines==4.0.0 >/dev/null
node -e 'for (const c of [0x20, 0x2028, 0x2029, 0x85]) console.log(JSON.stringify({ text: `one${String.fromCharCode(c)}two` }))' > posts.ndjson
cat > run.py <<'PY'
import json
from importlib.metadata import version
import jsonlines
import ndjson

print('ndjson', version('ndjson'), '| jsonlines', version('jsonlines'))
with open('posts.ndjson', 'rb') as file:
    raw = file.read()
expected = [json.loads(line)['text'] for line in raw.split(b'\n') if line]
texts = lambda rows: [row['text'] for row in rows]
with open('posts.ndjson', encoding='utf-8', newline='\n') as file:
    load = texts(ndjson.load(file))
with open('posts.ndjson', encoding='utf-8', newline='\n') as file:
    reader = texts(ndjson.reader(file))
with jsonlines.open('posts.ndjson') as file:
    other = texts(file)
loads = texts(ndjson.loads(raw.decode()))
for name, seen in (('expected', expected), ('ndjson.load', load), ('ndjson.loads', loads), ('ndjson.reader', reader), ('jsonlines', other)):
    print(f'{name}: {", ".join(map(ascii, seen))}')
link = {'byteStart': 6, 'byteEnd': 9}  # the word "two" in UTF-8 where three bytes stand before it
marked = [text.encode()[link['byteStart']:link['byteEnd']].decode() for text in (expected[1], load[1])]
print('bytes 6 to 9 of the second text: expected', repr(marked[0]), 'observed', repr(marked[1]))
same = load == loads == ['one two', 'one,two', 'one,two', 'one,two'] and reader == other == expected and marked == ['two', 'o']
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
