#!/usr/bin/env bash
# lexrpc's truncate shortens the text of a post and leaves its facets: they end behind the text, or in the middle of the ellipsis, and
# the post as a whole passes lexrpc's own check. The record that the caller handed in is changed as well.
#
# What it is: lexrpc is a Python client and server for the XRPC methods of the AT Protocol, with checks against the lexicons.
# Versions: lexrpc 3.0 (PyPI); @atproto/api 0.21.0 (npm) reads the result as the second opinion.
# What the docs say: truncate: "whether to truncate string values that are longer than their maxGraphemes"; validate() returns "obj, either
#   unchanged, or possible a modified copy". Lexicon app.bsky.richtext.facet#byteSlice: byteStart and byteEnd count the bytes of the
#   UTF-8 text, from 0, the end exclusive.
# Guess: facets that no longer fit are shortened or taken out, and the original record still has its 320 characters.
# Seen: of three facets one is intact; one ends in the middle of the three bytes of the ellipsis, so that its words are no UTF-8; one lies
#   behind the end of the text. No error, from a server or client with validate and truncate. The original has 300 characters now.
# Wrong for a user: a bridge that posts long texts publishes links that no reader can cut out; the SDK of Bluesky gives a piece that ends in
#   a replacement character; a program that cuts bytes and decodes them raises an error.
# Instead: shorten the text yourself and drop each facet with byteEnd > len(text.encode()) - 3; hand in a deep copy.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @atproto/api@0.21.0
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install lexrpc==3.0
cat > read.mjs <<'JS'
import { RichText } from '@atproto/api';
const { text, facets } = JSON.parse(process.argv[2]);
console.log(JSON.stringify([...new RichText({ text, facets }).segments()].filter((s) => s.facet).map((s) => s.text)));
JS
cat > run.py <<'PY'
import json, subprocess
from importlib.metadata import version
from lexrpc import Server
print('lexrpc', version('lexrpc'))
def facet(start, end, uri): return {'index': {'byteStart': start, 'byteEnd': end}, 'features': [{'$type': 'app.bsky.richtext.facet#link', 'uri': uri}]}
text = 'first link ' + 'x' * 278 + ' second link, third link here!!'
assert len(text) == 320 and text[290:301] == 'second link' and text[303:313] == 'third link'
post = {'$type': 'app.bsky.feed.post', 'text': text, 'createdAt': '2026-01-01T00:00:00Z',
        'facets': [facet(0, 10, 'https://example.com/1'), facet(290, 301, 'https://example.com/2'), facet(303, 313, 'https://example.com/3')]}
server = Server(truncate=True)
out = server.validate('app.bsky.feed.post', 'record', post)
data, words = out['text'].encode(), []
print('text:', len(out['text']), 'characters,', len(data), 'bytes, ends in', repr(out['text'][-12:]))
for f in out['facets']:
    piece = data[f['index']['byteStart']:f['index']['byteEnd']]
    try: words.append(piece.decode())
    except UnicodeDecodeError: words.append('no UTF-8')
    print(f['features'][0]['uri'], f['index'], piece, '->', repr(words[-1]))
print('caller\'s own record:', len(post['text']), 'characters')
again = Server(truncate=False).validate('app.bsky.feed.post', 'record', json.loads(json.dumps(out)))
print('passes the check:', again == out)
second = json.loads(subprocess.check_output(['node', 'read.mjs', json.dumps(out)]))
print('@atproto/api reads', second)
same = words == ['first link', 'no UTF-8', ''] and len(post['text']) == 300 and second[1].endswith('\ufffd') and again == out
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
