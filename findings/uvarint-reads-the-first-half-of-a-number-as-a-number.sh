#!/usr/bin/env bash
# uvarint reads a number that is cut at the end of a buffer as another, larger one: of 300, cut
# after its first byte, it makes 22060, and expect() counts it as read.
#
# What it is: a Python package for the unsigned varints of the multiformats (CIDs, CAR files,
#   frames of a stream).
# Versions: uvarint 1.2.0; protobuf 5.29.5's decoder (PyPI) to compare with.
# What the docs say: expect(): "Should the buffer not contain the expected amount of uvarints,
#   ValueError will be raised." The spec: a byte with the top bit set is followed by another.
# Guess: ValueError, so that a reader of a stream knows to wait for the next chunk.
# Seen: a number, and bytes_read says that the whole buffer is used up. The last byte is added
#   with its top bit still set. The reader goes on with the second half, 02, as a number of
#   its own: 1, 300, 7 in two chunks are read as 1, 22060, 2, 7. An empty buffer does raise.
# Wrong number for a user: a block length of 22060 instead of 300, or two counts for one; which
#   it is depends on where the network cuts.
# Instead: look whether the last byte of the buffer is below 128 before decoding.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install uvarint==1.2.0 protobuf==5.29.5
cat > run.py <<'PY'
from importlib.metadata import version
import uvarint
from google.protobuf.internal.decoder import _DecodeVarint
print('uvarint', version('uvarint'), 'protobuf', version('protobuf'))
raw = b''.join(uvarint.encode(n) for n in (1, 300, 7))
print('bytes', raw.hex(' '), '; whole:', uvarint.expect(3, raw).integers)
def ours(part):
    try: return uvarint.decode(part)[0]
    except Exception as e: return type(e).__name__
def theirs(part):
    try: return _DecodeVarint(part, 0)[0]
    except Exception as e: return type(e).__name__
first, second = raw[:2], raw[2:]                 # the network cuts inside of 300
print('300 cut: expected ValueError, observed', ours(raw[1:2]), '; protobuf', theirs(raw[1:2]), '; empty buffer', ours(b''))
try: got = uvarint.expect(2, first)
except ValueError as e: got = 'ValueError'
print('expect(2) of the first chunk: expected ValueError, observed', got)
def read_all(chunk):
    out = []
    while chunk:
        n, used = uvarint.decode(chunk); out.append(n); chunk = chunk[used:]
    return out
both = read_all(first) + read_all(second)
print('both chunks: expected [1, 300, 7], observed', both)
ok = ours(raw[1:2]) == 22060 and both == [1, 22060, 2, 7] and got == ([1, 22060], 2) and theirs(raw[1:2]) != 300 and isinstance(theirs(raw[1:2]), str) and ours(b'') == 'ValueError'
print('still as stated' if ok else 'changed'); raise SystemExit(0 if ok else 1)
PY
v/bin/python run.py
