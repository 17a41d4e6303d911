#!/usr/bin/env bash
# WHAT: turning a record into a model of the Python SDK and back adds "$type" to nested objects that had none, so a record
#       that was only read and written again has another CID.
# VERSIONS: atproto 0.0.73, dag-cbor 0.3.3 (encodes both for the comparison).
# WHAT THE SPEC SAYS: "$type" is needed at the top of a record and in unions; an object reached by a plain reference, such
#       as the subject of a like (com.atproto.repo.strongRef), is usually written without it (AT Protocol data model
#       and Lexicon spec, "ref" and "union"). A record's CID is the hash of its exact data.
# GUESS: get_model_as_dict(get_or_create(record, strict=False)) equals the record.
# SEEN: the like's subject and a reply's references come back with "$type" in them. In a recorded sample of 146 firehose records
#       all the likes and reposts (120) changed; a follow, which has no nested object, does not. Labels get one as well, though
#       the label spec ("Signatures") keeps "$type" out of what is signed.
# WHY IT HURTS: the CID computed from the model never equals the one in the event, so "verify by re-hashing" rejects good records,
#       copies of records to another repository change, and a reference built from such a CID points nowhere.
# INSTEAD: keep the decoded dictionary (or the raw block) beside the model; use the model for reading only.
set -euo pipefail
command -v python3 >/dev/null
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
cd "$T"
python3 -m venv v
v/bin/pip -q --disable-pip-version-check install --no-compile atproto==0.0.73 dag-cbor==0.3.3
cat > probe.py <<'PY'
import hashlib, sys
from importlib.metadata import version
import dag_cbor
from atproto_client.models.utils import get_model_as_dict, get_or_create

did, cid = 'did:plc:aaaabbbbccccddddeeeeffff', 'bafyreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku'
ref = {'cid': cid, 'uri': f'at://{did}/app.bsky.feed.post/3l3qo2vuowo2b'}
at = '2026-01-01T00:00:00.000Z'
records = {
    'like': {'$type': 'app.bsky.feed.like', 'createdAt': at, 'subject': ref},
    'repost': {'$type': 'app.bsky.feed.repost', 'createdAt': at, 'subject': ref},
    'reply': {'$type': 'app.bsky.feed.post', 'createdAt': at, 'text': 'yes', 'reply': {'root': ref, 'parent': ref}},
    'follow': {'$type': 'app.bsky.graph.follow', 'createdAt': at, 'subject': did},
}
sha = lambda v: hashlib.sha256(dag_cbor.encode(v)).hexdigest()[:16]
print('atproto', version('atproto'))
changed = {}
for name, rec in records.items():
    back = get_model_as_dict(get_or_create(rec, strict=False))
    changed[name] = sha(back) != sha(rec)
    print(f'{name:7} expected sha256 {sha(rec)}, 1 "$type" | observed {sha(back)}, {str(back).count("$type")} "$type"')
want = {'like': True, 'repost': True, 'reply': True, 'follow': False}
sys.exit(0 if changed == want else 1)
PY
if v/bin/python probe.py; then echo 'STILL SO: the round trip adds $type'; else echo 'CHANGED'; exit 1; fi
