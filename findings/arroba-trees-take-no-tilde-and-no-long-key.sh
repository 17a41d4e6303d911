#!/usr/bin/env bash
# A repository of arroba cannot hold a record whose key has a tilde in it, nor one whose path is longer than 256 letters; the reference
# implementation writes and reads both.
#
# What it is: arroba (Python) is a server for repositories of the AT Protocol; the sorted tree of each repository is its class MST.
# Versions: arroba 3.1 (PyPI); @atproto/repo 0.10.14, @atproto/syntax 0.7.7 (npm) as the second opinion.
# What the spec says: Record Key: letters, digits, full stop, hyphen, underscore, colon and tilde, 1 to 512 characters; "~1.2-3_" is among the
#   examples of valid keys. Repository: a path is collection, slash and record key.
# Guess: MST.add() takes "com.example.note/~1.2-3_" and a key of 300 letters.
# Seen: ValueError "Invalid MST key" for both; the same with an underscore in place of the tilde and with 239 letters is taken.
# Why: ensure_valid_key() has a set of characters without the tilde, and a limit of 256 for the whole path.
# Wrong for a user: an account with such a record cannot be moved to the server or mirrored whole, though each of its records is valid.
# Instead: replace arroba.mst.ensure_valid_key by a check for the key syntax of the spec.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @atproto/repo@0.10.14 @atproto/syntax@0.7.7 multiformats@13.4.1 2>/dev/null
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install --no-compile --use-pep517 arroba==3.1
cat > second.mjs <<'JS'
import { MemoryBlockstore, MST } from '@atproto/repo';
import { isValidRecordKey } from '@atproto/syntax';
import { CID } from 'multiformats/cid';
const cid = CID.parse('bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy'), seen = [];
for (const key of JSON.parse(process.argv[2])) {
  let took = true; try { await (await MST.create(new MemoryBlockstore())).add(key, cid) } catch (e) { took = String(e) }
  seen.push([isValidRecordKey(key.split('/')[1]), took]);
}
console.log(JSON.stringify(seen));
JS
cat > run.py <<'PY'
import json, subprocess
from importlib.metadata import version
from multiformats import CID
from arroba.mst import MST
from arroba.storage import MemoryStorage
print('arroba', version('arroba'), '| @atproto/repo 0.10.14, @atproto/syntax 0.7.7')
cid = CID.decode('bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy')
keys = ['com.example.note/' + k for k in ('_1.2-3_', '~1.2-3_', 'a' * 239, 'a' * 240, 'a' * 300, 'a' * 512)]
others = json.loads(subprocess.check_output(['node', 'second.mjs', json.dumps(keys)])); seen = []
for key, (valid, took) in zip(keys, others):
    try: MST.create(storage=MemoryStorage()).add(key, cid); seen.append('taken')
    except ValueError as e: seen.append(str(e)[:15])
    print(key[:25], len(key), 'letters; valid record key:', valid, '| reference takes it:', took, '| arroba:', seen[-1])
no = 'Invalid MST key'
same = seen == ['taken', no, 'taken', no, no, no] and all(v and t is True for v, t in others)
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
