"""Verifies the log and the digests of an archive in a directory, with Python's standard library alone.

Written from the texts of C2SP (tlog-tiles, tlog-checkpoint, signed-note) and from RFC 6962 and RFC 8032, without the code
of Almanac. Prints "intact", or the first difference, and exits with 0 or 1.
"""

import base64
import hashlib
import json
import pathlib
import struct
import sys

P = 2**255 - 19
Q = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)


def recover_x(y, sign):
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - square) % P != 0 or (x == 0 and sign == 1):
        raise ValueError("not a point")
    return P - x if x & 1 != sign else x


def decode_point(encoded):
    number = int.from_bytes(encoded, "little")
    y, sign = number & (2**255 - 1), number >> 255
    x = recover_x(y, sign)
    return (x, y, 1, x * y % P)


def add(a, b):
    s, t = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    u, v = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = t - s, v - u, v + u, t + s
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def multiply(scalar, point):
    result = (0, 1, 1, 0)
    while scalar > 0:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


def is_signed(public, message, signature):
    base_y = 4 * pow(5, P - 2, P) % P
    base_x = recover_x(base_y, 0)
    base = (base_x, base_y, 1, base_x * base_y % P)
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or s >= Q:
        return False
    h = int.from_bytes(hashlib.sha512(r + public + message).digest(), "little") % Q
    left, right = multiply(s, base), add(decode_point(r), multiply(h, decode_point(public)))
    return (left[0] * right[2] - right[0] * left[2]) % P == 0 and (left[1] * right[2] - right[1] * left[2]) % P == 0


def sha256(data):
    return hashlib.sha256(data).digest()


def merkle_root(entries):
    if len(entries) == 0:
        return sha256(b"")
    if len(entries) == 1:
        return sha256(b"\x00" + entries[0])
    split = 1 << (len(entries) - 1).bit_length() - 1
    return sha256(b"\x01" + merkle_root(entries[:split]) + merkle_root(entries[split:]))


def place(index, width):
    digits = f"{index:03d}"
    digits = digits.zfill((len(digits) + 2) // 3 * 3)
    groups = [digits[i : i + 3] for i in range(0, len(digits), 3)]
    path = "/".join(["x" + group for group in groups[:-1]] + groups[-1:])
    return path if width == 256 else f"{path}.p/{width}"


def tile_widths(count):
    return [256] * (count // 256) + ([count % 256] if count % 256 else [])


def read_bundle(data, width):
    entries, at = [], 0
    while at < len(data):
        (length,) = struct.unpack_from(">H", data, at)
        entries.append(data[at + 2 : at + 2 + length])
        at += 2 + length
    if len(entries) != width or at != len(data):
        raise ValueError("an entry bundle is damaged")
    return entries


def open_checkpoint(note, key):
    name, identifier, encoded = key.split("+", 2)
    key_bytes = base64.b64decode(encoded, validate=True)
    public = key_bytes[1:]
    if key_bytes[0] != 1 or sha256(f"{name}\n".encode() + key_bytes)[:4].hex() != identifier:
        raise ValueError("the key is damaged")
    text, _, lines = note.rpartition("\n\n")
    for line in lines.splitlines():
        dash, signer, encoded_signature = line.split(" ")
        signature = base64.b64decode(encoded_signature, validate=True)
        if dash == "\u2014" and signer == name and signature[:4].hex() == identifier:
            if not is_signed(public, (text + "\n").encode(), signature[4:]):
                raise ValueError("the signature is invalid")
            origin, size, root = text.split("\n")[:3]
            if origin != name:
                raise ValueError("the checkpoint is of another log")
            return int(size), base64.b64decode(root, validate=True)
    raise ValueError("the key has not signed the checkpoint")


def verify(root):
    index = json.loads((root / "index.json").read_text())
    log = root / "log"
    size, tree = open_checkpoint((log / "checkpoint").read_text(), index["key"])
    entries = []
    for number, width in enumerate(tile_widths(size)):
        entries += read_bundle((log / "tile/entries" / place(number, width)).read_bytes(), width)
    if merkle_root(entries) != tree:
        raise ValueError("the entries do not have the root of the checkpoint")
    level, hashes = 0, [sha256(b"\x00" + entry) for entry in entries]
    while hashes:
        for number, width in enumerate(tile_widths(len(hashes))):
            tile = (log / "tile" / str(level) / place(number, width)).read_bytes()
            if tile != b"".join(hashes[number * 256 : number * 256 + width]):
                raise ValueError("a tile does not match the entries")
        level += 1
        span = 256**level
        hashes = [merkle_root(entries[i * span : (i + 1) * span]) for i in range(len(entries) // span)]
    for entry in entries:
        leaf = json.loads(entry)
        folder = root / "days" / leaf["day"]
        record = (folder / "day.json").read_bytes()
        if sha256(record).hex() != leaf["sha256"]:
            raise ValueError("the record of a day does not match the log")
        for file in json.loads(record)["files"]:
            if sha256((folder / file["name"]).read_bytes()).hex() != file["sha256"]:
                raise ValueError("a file does not match the record of its day")
    return size


try:
    count = verify(pathlib.Path(sys.argv[1]))
except (ValueError, KeyError, OSError, struct.error) as error:
    print(error)
    sys.exit(1)
print(f"intact: {count} days")
