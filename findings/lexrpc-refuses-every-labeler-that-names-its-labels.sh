#!/usr/bin/env bash
# lexrpc refuses every valid record of a labeler that names its label values, and all preferences with muted words, because it
# takes a list of references to a string type for a list of the type's names.
#
# What it is: lexrpc is a Python client and server for XRPC that validates against AT Protocol lexicons; arroba is built on it.
# Versions: lexrpc 3.0 (PyPI); @atproto/lexicon 0.7.19 (npm) for comparison, with the very lexicons that lexrpc ships.
# What the spec says: the Lexicon specification: a ref stands for the definition that it names, and that may be a string type, as
#   com.atproto.label.defs#labelValue and app.bsky.actor.defs#mutedWordTarget are ("content", "tag"); knownValues are no limit.
# Guess: a service record with labelValues ["spam"] and muted words with targets ["content"] are valid, as with @atproto/lexicon.
# Seen: ValidationError: 'spam' "is not com.atproto.label.defs#labelValue". Valid is only the list that holds the
#   name of the type itself. The same for getPreferences and putPreferences with one muted word, reasonTypes and subjectTypes. With an
#   empty list, and for a ref that is no item of a list, it is right.
# Why: an item that is a ref and a string is compared with the name of its type, as a token would be; the type behind it
#   is not looked at.
# Wrong for a user: a directory of labelers made with it has none of those that publish policies; an account that mutes a word
#   cannot read its own preferences; a server on it refuses the record that the reference host takes.
# Instead: Client(validate=False) and Server(validate=False), or @atproto/lexicon.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install --no-compile lexrpc==3.0 >/dev/null
echo '{"private":true,"type":"module"}' > package.json && npm install --silent --no-audit --no-fund @atproto/lexicon@0.7.19 >/dev/null
cat > cases.json <<'JSON'
[["app.bsky.labeler.service", "record", {"$type": "app.bsky.labeler.service", "createdAt": "2026-11-29T12:00:00Z", "policies": {"labelValues": []}}],
 ["app.bsky.labeler.service", "record", {"$type": "app.bsky.labeler.service", "createdAt": "2026-11-29T12:00:00Z", "policies": {"labelValues": ["spam"]}}],
 ["app.bsky.labeler.service", "record", {"$type": "app.bsky.labeler.service", "createdAt": "2026-11-29T12:00:00Z", "policies": {"labelValues": []},
   "subjectTypes": ["record"]}],
 ["app.bsky.actor.putPreferences", "input", {"preferences": [{"$type": "app.bsky.actor.defs#mutedWordsPref", "items": [{"value": "noise", "targets": ["content"]}]}]}],
 ["app.bsky.actor.getPreferences", "output", {"preferences": [{"$type": "app.bsky.actor.defs#mutedWordsPref", "items": [{"value": "noise", "targets": ["content"]}]}]}]]
JSON
cat > run.py <<'PY'
import json
from importlib.metadata import version
from lexrpc.base import Base, ValidationError, _bundled_lexicons
json.dump(_bundled_lexicons, open('lexicons.json', 'w'))
base = Base()
for nsid, kind, value in json.load(open('cases.json')):
    try: verdict = base.validate(nsid, kind, value) and 'valid'
    except ValidationError as error: verdict = str(error)
    print(f'lexrpc {version("lexrpc")} | {nsid} {kind} | {verdict}')
PY
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { Lexicons } from '@atproto/lexicon'
const read = (name) => JSON.parse(readFileSync(name, 'utf8'))
const lexicons = new Lexicons(read('lexicons.json').filter((doc) => /^(app\.bsky|com\.atproto)\./.test(doc.id)))
const check = { record: 'assertValidRecord', input: 'assertValidXrpcInput', output: 'assertValidXrpcOutput' }
for (const [nsid, kind, value] of read('cases.json')) {
  let verdict = 'valid'
  try { lexicons[check[kind]](nsid, value) } catch (error) { verdict = error.message }
  console.log(`@atproto/lexicon | ${nsid} ${kind} | ${verdict}`)
}
JS
v/bin/python run.py 2> err.txt > seen.txt || { cat err.txt; exit 1; }
node run.mjs > other.txt
echo 'expected: valid everywhere'; cat other.txt; echo 'observed:'; cat seen.txt
is() { sed -n "$1p" seen.txt | grep -q -- "$2"; }
if [ "$(grep -c '| valid$' other.txt)" = 5 ] && is 1 '| valid$' && is 2 "'spam'.*is not com.atproto.label.defs#labelValue" && is 3 'is not com.atproto.moderation.defs#subjectType' &&
  is 4 'is not app.bsky.actor.defs#mutedWordTarget' && is 5 'is not app.bsky.actor.defs#mutedWordTarget'
then echo 'still as stated'; else echo 'changed'; exit 1; fi
