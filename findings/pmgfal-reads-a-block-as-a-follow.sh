#!/usr/bin/env bash
# The classes that pmgfal makes from a Lexicon have no $type: of two union variants with the same fields everything is read as the first, so a block is a follow;
# the record written back has no types at all; and a link to a CID or bytes, as JSON has them, are refused.
#
# What it is: pmgfal (Python, written in Rust) makes pydantic classes of the Lexicon files of an AT Protocol application.
# Versions: pmgfal 0.0.4, pydantic 2.12.5 (PyPI); @atproto/lexicon 0.7.17 (npm) says that the data are valid before and not after.
# What the spec says: Lexicon, union: each variant has a field $type, which says what it is; unions are open unless closed is set. Data model: a
#   cid-link is {"$link": ...} in JSON, bytes are {"$bytes": ...}; a record has its NSID in $type.
# Guess: an item is of the class that its $type names; model_dump(by_alias=True) gives the record that was read.
# Seen: both items are Follow; a variant of another application, with a field did, is one too; the dump has lost four $type; cid-link and bytes raise, as
#   their fields are declared str and bytes.
# Why: the union becomes A | B without a discriminator, and pydantic takes the first that fits; fields that are not declared are dropped.
# Wrong claim for a user: counts of follows are those of follows and blocks together; what is written back is invalid, or means something else.
# Instead: read item["$type"] from the JSON itself and choose the class by it.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null; mkdir lex home
npm i --silent --no-audit --no-fund --ignore-scripts @atproto/lexicon@0.7.17 2>/dev/null
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install pmgfal==0.0.4 pydantic==2.12.5
cat > lex/log.json <<'J'
{"lexicon":1,"id":"com.example.log","defs":{
 "main":{"type":"record","key":"tid","record":{"type":"object","required":["items"],"properties":{
  "items":{"type":"array","items":{"type":"union","refs":["#follow","#block"]}},"commit":{"type":"cid-link"},"sig":{"type":"bytes"}}}},
 "follow":{"type":"object","required":["did"],"properties":{"did":{"type":"string","format":"did"}}},
 "block":{"type":"object","required":["did"],"properties":{"did":{"type":"string","format":"did"}}}}}
J
HOME=$T/home v/bin/pmgfal lex -o out --no-cache
cat > check.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { Lexicons, jsonToLex } from '@atproto/lexicon';
const lex = new Lexicons([JSON.parse(readFileSync('lex/log.json'))]);
for (const r of JSON.parse(process.argv[2])) try { lex.assertValidRecord('com.example.log', jsonToLex(r)); console.log('valid') } catch (e) { console.log('invalid:', e.message) }
JS
cat > run.py <<'PY'
import json, subprocess, sys
from importlib.metadata import version
from pydantic import ValidationError
sys.path.insert(0, 'out'); import models
print('pmgfal', version('pmgfal'), 'pydantic', version('pydantic'))
def check(*records): return subprocess.run(['node', 'check.mjs', json.dumps(records)], check=True, capture_output=True, text=True).stdout.splitlines()
did, t = 'did:plc:' + 'a' * 24, 'com.example.log'
record = {'$type': t, 'items': [{'$type': f'{t}#{kind}', 'did': did} for kind in ('follow', 'block')] + [{'$type': 'org.example.other', 'did': did}]}
link = {'$type': t, 'items': [], 'commit': {'$link': 'bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy'}}
raw = {'$type': t, 'items': [], 'sig': {'$bytes': 'AAEC'}}
print('@atproto/lexicon on the three records:', check(record, link, raw))
read = models.ComExampleLog.model_validate(record)
kinds = [type(item).__name__ for item in read.items]; print('expected Follow, Block, something else; observed', kinds)
dump = read.model_dump(by_alias=True, exclude_none=True); print('written back:', json.dumps(dump), '->', check(dump))
refused = []
for r in (link, raw):
    try: models.ComExampleLog.model_validate(r)
    except ValidationError as e: refused.append(e.errors()[0]['type'])
print('cid-link and bytes: expected to be read, observed', refused)
same = kinds == ['ComExampleLogFollow'] * 3 and '$type' not in json.dumps(dump) and refused == ['string_type', 'bytes_type'] and check(record, link, raw) == ['valid'] * 3
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
