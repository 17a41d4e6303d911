#!/usr/bin/env bash
# blueskysight gives each post of a thread that was published at once the CVE numbers of all posts of that thread: three posts that name one
# CVE each become nine sightings.
#
# What it is: blueskysight (Python) reads the firehose of the AT Protocol and reports to a Vulnerability-Lookup server which post names which CVE.
# Versions: blueskysight 1.2.0, websockets 15.0.1, httpx 0.28.1 (PyPI); @atproto/repo 0.10.14 and @ipld/dag-cbor 9.2.5 (npm) make the frame; its
#   readers give the expected pairs.
# What the spec says: atproto.com, Event Stream and Repository: a commit can hold many operations; each op of #commit has a path and the cid of
#   its record, which is the key of the block. com.atproto.repo.applyWrites, with which clients publish threads, makes one such commit.
# Guess: three sightings, one per post.
# Seen: nine; the post that names CVE-2026-0001 is a source for the other two as well.
# Why: the cid of the operation is not used; for each op all post blocks of the message are searched.
# Wrong claim for a user: sightings per CVE grow with the length of threads, and a link leads to a post that does not name the CVE.
# Instead: look the block up by op["cid"].
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @atproto/repo@0.10.14 @atproto/crypto@0.5.5 @ipld/dag-cbor@9.2.5 2>/dev/null
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install websockets==15.0.1 httpx==0.28.1
v/bin/pip -q --disable-pip-version-check install --no-deps blueskysight==1.2.0 2>/dev/null
cat > make.mjs <<'JS'
import { writeFileSync } from 'node:fs';
import { MemoryBlockstore, Repo, WriteOpAction, blocksToCarFile, cborToLexRecord, readCarWithRoot } from '@atproto/repo';
import { Secp256k1Keypair } from '@atproto/crypto';
import * as cbor from '@ipld/dag-cbor';
const did = 'did:plc:aaaabbbbccccddddeeeeffff', key = await Secp256k1Keypair.create(), $type = 'app.bsky.feed.post';
const repo = await Repo.create(new MemoryBlockstore(), did, key);
const commit = await repo.formatCommit([1, 2, 3].map((n) => ({ action: WriteOpAction.Create, collection: $type, rkey: '3mbcdefghij2' + 'abc'[n - 1], record: { $type, text: `part ${n}: CVE-2026-000${n}`, createdAt: '2026-01-01T00:00:00.000Z' } })), key);
const after = await repo.applyCommit(commit), ops = [];
for await (const r of after.walkRecords()) ops.push({ action: 'create', path: `${r.collection}/${r.rkey}`, cid: r.cid });
const blocks = await blocksToCarFile(commit.cid, commit.newBlocks);
const { blocks: read } = await readCarWithRoot(blocks);
for (const op of ops) console.log('@atproto/repo:', op.path, '->', cborToLexRecord(read.get(op.cid)).text);
const body = { seq: 1, rebase: false, tooBig: false, repo: did, commit: commit.cid, rev: commit.rev, since: commit.since, blocks, ops, blobs: [], time: '2026-01-01T00:00:00.000Z' };
writeFileSync('frame', Buffer.concat([cbor.encode({ op: 1, t: '#commit' }), cbor.encode(body)]));
JS
cat > run.py <<'PY'
import asyncio, sys, types
from importlib.metadata import version
for name, attrs in (('valkey', ['Valkey']), ('pyvulnerabilitylookup', ['PyVulnerabilityLookup'])):  # the two databases that it would write to
    sys.modules[name] = types.ModuleType(name); [setattr(sys.modules[name], a, lambda *x, **y: None) for a in attrs]
from blueskysight import firehose
print('blueskysight', version('blueskysight'))
seen = []
async def same_url(uri): return uri
firehose.get_post_url = same_url
firehose.push_sighting_to_vulnerability_lookup = lambda source, ids, content=None: seen.extend((source[-1], i) for i in ids)
header, body = firehose.read_firehose_frame(open('frame', 'rb').read())
asyncio.run(firehose.process_commit_frame(body))
print('sightings expected 3, observed', len(seen)); print(sorted(seen))
same = len(body['ops']) == 3 and len(set(seen)) == 9
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
node make.mjs; conf=$(v/bin/python -c "import importlib.util as u; print(u.find_spec('blueskysight').submodule_search_locations[0])"); BLUESKYSIGHT_CONFIG="$conf/conf_sample.py" v/bin/python run.py
