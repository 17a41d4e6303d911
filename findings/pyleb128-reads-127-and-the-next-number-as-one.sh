#!/usr/bin/env bash
# pyleb128 takes the byte 0x7f for a byte with more to come: in a stream, 127 followed by 5 is
# read as the one number 767, and the number after it is gone.
#
# What it is: a Python package for LEB128 numbers, the varints of DEX, WebAssembly, protobuf and,
#   unsigned, of the multiformats (CIDs, CAR files): uleb128.decode_stream(file).
# Versions: pyleb128 0.2.4; uvarint 1.2.0 (PyPI) to compare with.
# What the spec says: multiformats unsigned-varint, DWARF 5 section 7.6: the top bit of a byte says
#   that more follow; 0x7f has it not set, so 127 is the one byte 7f.
# Guess: a stream of written numbers reads back as it was written.
# Seen: the test is "below 0x7f" instead of "below 0x80". Every number whose last byte is 7f (127, 16256
#   to 16383, 2,080,768 to 2,097,151 ...) swallows what follows it; decode() of 127's own
#   bytes raises IndexError. And 2 to the 32 plus 5 is written as 5, without a word in the
#   README, which calls the format "Unsigned LEB128" and has its 32-bit DEX cousin apart.
# Wrong number for a user: 127 stars and 5 forks become 767 stars and the forks of the next
#   repository; lengths of blocks in a CAR of 127 bytes run into the block.
# Instead: uvarint, or leb128 (PyPI).
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install pyleb128==0.2.4 uvarint==1.2.0
cat > run.py <<'PY'
import io
from importlib.metadata import version
import uvarint
from pyleb128 import uleb128
print('pyleb128', version('pyleb128'), 'uvarint', version('uvarint'))
def stream(numbers):
    raw = b''.join(uvarint.encode(n) for n in numbers)
    assert raw == b''.join(bytes(uleb128(n).encoded) for n in numbers)      # both write the same bytes
    f, out = io.BytesIO(raw), []
    while f.tell() < len(raw): out.append(int(uleb128.decode_stream(f)))
    return out, uvarint.expect(len(numbers), raw).integers
ok = True
for numbers, stated in (([126, 5, 6], [126, 5, 6]), ([127, 5, 6], [767, 6]), ([16383, 5, 6], [98303, 6]), ([128, 5, 6], [128, 5, 6])):
    got, other = stream(numbers); ok &= got == stated and other == numbers
    print('stream expected', numbers, 'observed', got, ' uvarint', other)
def whole(n):
    try: return int(uleb128.decode(uleb128(n).encoded))
    except Exception as e: return type(e).__name__
wrong = [n for n in range(20000) if whole(n) != n]
print('decode(encode(n)) wrong below 20000: expected none, observed', [(n, whole(n)) for n in wrong])
big = 2 ** 32 + 5
print('2**32 + 5 written: expected', uvarint.encode(big).hex(), 'observed', bytes(uleb128(big).encoded).hex())
ok &= wrong == [127] and whole(127) == 'IndexError' and bytes(uleb128(big).encoded) == b'\x05'
print('still as stated' if ok else 'changed'); raise SystemExit(0 if ok else 1)
PY
v/bin/python run.py
