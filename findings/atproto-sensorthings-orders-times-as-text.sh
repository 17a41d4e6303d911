#!/usr/bin/env bash
# The summary of atproto-sensorthings takes the first and last reading by comparing times as text: with an offset or a fraction in some of
# them the time span is of other readings, and the earliest one, written 10:30+11:00, is given as the latest.
#
# What it is: atproto-sensorthings flattens repositories of measurements on the AT Protocol (dev.sensorthings, CAR files) to tables.
# Versions: atproto-sensorthings 0.2.0, atproto 0.0.73 (PyPI).
# What the docs say: "summary: record counts and reading time span"; its code speaks of phenomenon times "whatever its ISO 8601 spelling".
#   atproto.com, Lexicon, "datetime": a time zone is required, UTC preferred but others allowed, any number of digits of a second.
# Guess: of the four readings of one observationBatch the first is the one of 23:30 UTC (written 10:30+11:00) and the last 05:00:00.5Z.
# Seen: "time span: 2026-01-02T00:00:00Z -> 2026-01-02T10:30:00+11:00": the earliest reading is given as the latest.
# Also: numbers are a product with 0.1, so that a level of 3 with scale factor 1 is 0.30000000000000004 in observations.csv.
# Wrong for a user: who fetches what is missing since the last time of the summary, or says that a file covers until half past ten, is wrong
#   by the offset of some station; nothing is raised.
# Instead: parse the column time of observations.csv as instants and take the smallest and largest.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install atproto-sensorthings==0.2.0 atproto==0.0.73
cat > make.py <<'PY'
import hashlib, libipld
NS, did = 'dev.sensorthings', 'did:plc:ewvi7nxzyoun6zhxrhs64oiz'
blocks = []
def put(obj):
    data = libipld.encode_dag_cbor(obj); cid = b'\x01\x71\x12\x20' + hashlib.sha256(data).digest()
    blocks.append((cid, data)); return cid
def varint(n): return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
def reading(t, value): return {'t': t, 'result': {'$type': NS + '.defs#numericResult', 'value': value}}
def key(collection):  # a record key of the lowest level of the tree, so that one node holds all
    return next(k for i in range(99) if hashlib.sha256((k := f'{NS}.{collection}/r{i}').encode()).digest()[0] >= 64)
stream = key('datastream')
records = {stream: {'$type': NS + '.datastream', 'name': 'level', 'resultScaleFactor': 1},
  key('observationBatch'): {'$type': NS + '.observationBatch', 'datastream': f'at://{did}/{stream}', 'observations': [
    reading('2026-01-02T10:30:00+11:00', 1), reading('2026-01-02T00:00:00Z', 2), reading('2026-01-02T05:00:00Z', 3), reading('2026-01-02T05:00:00.5Z', 4)]}}
entries, before = [], b''
for k in sorted(records):
    k_, p = k.encode(), 0
    while p < min(len(before), len(k_)) and before[p] == k_[p]: p += 1
    entries.append({'p': p, 'k': k_[p:], 'v': put(records[k]), 't': None}); before = k_
root = put({'did': did, 'version': 3, 'data': put({'l': None, 'e': entries}), 'rev': '3jzfcijpj2z2a', 'prev': None, 'sig': b'\0' * 64})
car = libipld.encode_dag_cbor({'version': 1, 'roots': [root]})
open('export.car', 'wb').write(varint(len(car)) + car + b''.join(varint(len(c) + len(d)) + c + d for c, d in blocks))
PY
v/bin/python make.py
v/bin/pip list 2>/dev/null | grep -i '^atproto'
v/bin/atproto-sensorthings summary export.car | tee out.txt
v/bin/atproto-sensorthings flatten export.car > /dev/null; cut -d, -f1,6 sensorthings_export/observations.csv | tee obs.txt
grep -q '2026-01-02T00:00:00Z  ->  2026-01-02T10:30:00+11:00' out.txt && grep -q '^2026-01-02T05:00:00Z,0.30000000000000004' obs.txt || { echo changed; exit 1; }
echo still as stated
