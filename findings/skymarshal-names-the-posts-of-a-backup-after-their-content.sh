#!/usr/bin/env bash
# skymarshal reads a backup (CAR file) of an account and gives each post an address that ends in the hash of its content in the place of the record key: none of them
# leads to a post, and two posts or likes with the same content are one.
#
# What it is: skymarshal (Python) imports the repository of a Bluesky account to search it, to count likes and to delete posts.
# Versions: skymarshal-cli 0.1.3, atproto 0.0.73 (PyPI); @atproto/repo 0.10.14 (npm) writes the repository, checks it and lists its records.
# What the spec says: atproto.com, Repository: the key of a record is in the tree (the "k" of the node entries, with prefixes left out); a CID may stand
#   at several keys. The commit object of a repository has no list of operations, that is a thing of the event stream.
# Guess: 20 posts and 2 equal likes, with the addresses that @atproto/repo gives.
# Seen: 20 posts and 1 like, all with addresses such as at://DID/app.bsky.feed.post/bafyrei...; 0 of 22 are right.
# Why: a map from CID to path is made of the "ops" of the commit, which is empty; the fallback is the CID. The tree is not read.
# Wrong claim for a user: counts of likes cannot be found for any post, so all have none; links lead nowhere; what is deleted by such an address
#   stays where it is.
# Instead: list the records with com.atproto.repo.listRecords, or walk the tree (@atproto/repo, atmst).
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @atproto/repo@0.10.14 @atproto/crypto@0.5.5 2>/dev/null
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install skymarshal-cli==0.1.3 atproto==0.0.73
cat > make.mjs <<'JS'
import { writeFileSync } from 'node:fs';
import { MemoryBlockstore, Repo, WriteOpAction, getFullRepo, verifyRepoCar } from '@atproto/repo';
import { Secp256k1Keypair } from '@atproto/crypto';
const did = 'did:plc:aaaabbbbccccddddeeeeffff', key = await Secp256k1Keypair.create(), store = new MemoryBlockstore(), createdAt = '2026-01-01T00:00:00.000Z';
const write = (kind, i, record) => ({ action: WriteOpAction.Create, collection: `app.bsky.feed.${kind}`, rkey: `3mbcdefgh${'abcdefghijklmnopqrst'[i]}222`, record: { $type: `app.bsky.feed.${kind}`, createdAt, ...record } });
const subject = { uri: 'at://did:plc:gggghhhhiiiijjjjkkkkllll/app.bsky.feed.post/3mbcdefghij2k', cid: 'bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy' };
const writes = [...Array(20).keys()].map((i) => write('post', i, { text: `post ${i}` })).concat([0, 1].map((i) => write('like', i, { subject })));
const repo = await Repo.create(store, did, key, writes), chunks = [];
for await (const chunk of getFullRepo(store, repo.cid)) chunks.push(chunk);
writeFileSync('repo.car', Buffer.concat(chunks));
const { creates } = await verifyRepoCar(Buffer.concat(chunks), did, key.did());
writeFileSync('expected.json', JSON.stringify(creates.map((c) => `at://${did}/${c.collection}/${c.rkey}`).sort()));
JS
cat > run.py <<'PY'
import json, pathlib, types
from importlib.metadata import version
from skymarshal.data_manager import DataManager
from skymarshal.models import UserSettings
print('skymarshal-cli', version('skymarshal-cli'), 'atproto', version('atproto'))
auth = types.SimpleNamespace(client=None, current_did='did:plc:aaaabbbbccccddddeeeeffff', is_authenticated=lambda: False)
home = pathlib.Path('home'); home.mkdir()
out = DataManager(auth, UserSettings(), home, home, home).import_backup_replace(pathlib.Path('repo.car'), handle='alice.example.com')
data = json.loads(out.read_text()); expected = json.load(open('expected.json'))
observed = [x['uri'] for kind in ('posts', 'likes', 'reposts') for x in data[kind]]
print('expected', len(expected), 'records, such as', expected[0], expected[-1]); print('observed', len(observed), 'records, such as', observed[0], observed[-1])
right = len(set(observed) & set(expected)); print('addresses that are right:', right)
same = len(expected) == 22 and len(data['posts']) == 20 and len(data['likes']) == 1 and right == 0
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
node make.mjs; v/bin/python run.py
