#!/usr/bin/env bash
# WHAT: the Python package libipld (the codec under the Python atproto SDK) looks inside every byte
#       string it encodes. If the bytes happen to parse as a CID, it writes a link (CBOR tag 42 with
#       a leading zero byte) instead of the byte string it was given.
# VERSIONS: libipld 3.5.0; dag-cbor 0.3.3 as the second opinion.
# WHAT THE SPEC SAYS: the AT Protocol data model has two separate types, "bytes" and "cid-link"
#       (data model spec, "Data Types"); DAG-CBOR writes bytes as major type 2 and keeps tag 42
#       for links only (IPLD DAG-CBOR spec, "Links"). The package's own doc for encode_dag_cbor speaks of
#       Python objects and says nothing of guessing.
# GUESS: bytes in, major type 2 out, whatever the bytes are; decode and re-encode gives the same block.
# SEEN: any byte string that reads as "version, codec, hash code, length, digest" is written as a link,
#       also when bytes are left over after the digest and when codec and hash code do not exist. Of
#       random 64-byte values (the size of every label and commit signature) about one in 1,100 is hit.
# WHY IT HURTS: a record, label or commit carrying such bytes is re-encoded to other bytes. Its CID then
#       does not match, a signature over it does not verify, and a re-published label carries a link in
#       "sig". It shows up as a rare, seemingly random loss of about 0.09 % of signed objects.
# INSTEAD: never re-encode what was received: hash, verify and store the original slice. Where encoding is
#       needed and fields hold bytes, use a codec with a CID class of its own (dag-cbor, cbrrr).
set -euo pipefail
command -v python3 >/dev/null
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
cd "$T"
python3 -m venv v
v/bin/pip -q --disable-pip-version-check install --no-compile libipld==3.5.0 dag-cbor==0.3.3
cat > probe.py <<'PY'
import random, sys
from importlib.metadata import version
import libipld, dag_cbor
print('libipld', version('libipld'), '| dag-cbor', version('dag-cbor'))
# a 64-byte value of the shape of a signature, wrapped as in a signed label
sig = bytes.fromhex('01020310') + bytes(range(60))
block = dag_cbor.encode({'sig': sig, 'val': 'spam'})
back = libipld.encode_dag_cbor(libipld.decode_dag_cbor(block))
print('valid block      ', block[:14].hex(), '...', len(block), 'bytes')
print('expected again   ', block[:14].hex(), '...', len(block), 'bytes')
print('observed         ', back[:14].hex(), '...', len(back), 'bytes')
changed = back != block
link = back[5:7] == bytes.fromhex('d82a')
# how often with random signatures (fixed seed)
rng = random.Random(20260101)
n, hit = 200_000, 0
for _ in range(n):
    if libipld.encode_dag_cbor(rng.randbytes(64))[0] == 0xd8:
        hit += 1
print(f'random 64-byte values written as links: expected 0 of {n}, observed {hit} (one in {n // max(hit, 1)})')
sys.exit(0 if changed and link and 100 <= hit <= 240 else 1)
PY
if v/bin/python probe.py; then echo 'STILL SO: bytes were turned into a link'; else echo 'CHANGED'; exit 1; fi
