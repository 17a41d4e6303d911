"""Verifies the log and the digests of an archive in a directory, with Python's standard library alone.

Written from the texts of C2SP (tlog-tiles, tlog-checkpoint, signed-note) and from RFC 6962 and RFC 8032, without the code
of Almanac. Prints a line for each directory: "intact", or the first difference after a word for its kind. Exits with 0 if
all are intact, with 2 if an option is wrong, otherwise with 1. `--key` is a key that the publisher named elsewhere,
`--checkpoint` the file that an earlier verification kept.
"""

import argparse
import base64
import datetime
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
        raise ValueError("the bytes do not encode a point")
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
        raise ValueError("an entry bundle is malformed")
    return entries


class Difference(Exception):
    """A difference between an archive and the specifications, with a word that classifies it."""

    def __init__(self, kind, message):
        super().__init__(f"{kind}: {message}")


def read(path):
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise Difference("missing", path.name) from None


def parse_key(key):
    name, identifier, encoded = key.split("+", 2)
    key_bytes = base64.b64decode(encoded, validate=True)
    if key_bytes[:1] != b"\x01" or sha256(f"{name}\n".encode() + key_bytes)[:4].hex() != identifier:
        raise ValueError("the key is malformed")
    return name, identifier, key_bytes[1:]


def open_checkpoint(note, key):
    name, identifier, public = parse_key(key)
    text, split, lines = note.rpartition("\n\n")
    if not split:
        raise Difference("signature", "the checkpoint is not a signed note")
    for line in lines.splitlines():
        dash, signer, encoded_signature = line.split(" ")
        signature = base64.b64decode(encoded_signature, validate=True)
        if dash == "\u2014" and signer == name and signature[:4].hex() == identifier:
            if not is_signed(public, (text + "\n").encode(), signature[4:]):
                raise Difference("signature", "the signature is invalid")
            origin, size, root = text.split("\n")[:3]
            if origin != name:
                raise Difference("signature", "the checkpoint belongs to another log")
            return int(size), base64.b64decode(root, validate=True)
    raise Difference("signature", "the key has not signed the checkpoint")


def read_entries(log, size):
    entries = []
    for number, width in enumerate(tile_widths(size)):
        path = log / "tile/entries" / place(number, width)
        try:
            entries += read_bundle(read(path), width)
        except (ValueError, struct.error):
            raise Difference("log", "an entry bundle is malformed") from None
    return entries


def verify_tiles(log, entries):
    level, hashes = 0, [sha256(b"\x00" + entry) for entry in entries]
    while hashes:
        for number, width in enumerate(tile_widths(len(hashes))):
            tile = read(log / "tile" / str(level) / place(number, width))
            if tile != b"".join(hashes[number * 256 : number * 256 + width]):
                raise Difference("log", "a tile does not match the entries")
        level += 1
        span = 256**level
        hashes = [merkle_root(entries[i * span : (i + 1) * span]) for i in range(len(entries) // span)]


def verify_log(log, key, kept):
    """Returns the entries of a log. The kept checkpoint must belong to the same log or to an earlier state of it."""
    checkpoint = log / "checkpoint"
    if kept is not None and not checkpoint.exists():
        raise Difference("rollback", "the log no longer has a checkpoint")
    size, tree = open_checkpoint(read(checkpoint).decode(), key)
    old_size, old_tree = (0, None) if kept is None else open_checkpoint(kept["note"], key)
    if old_size > size:
        raise Difference("rollback", "the log is smaller than the kept checkpoint")
    entries = read_entries(log, size)
    if merkle_root(entries) != tree:
        raise Difference("log", "the entries do not match the root in the checkpoint")
    if old_tree is not None and merkle_root(entries[:old_size]) != old_tree:
        raise Difference("fork", "the log does not continue the kept checkpoint")
    verify_tiles(log, entries)
    return entries


def verify_days(root, entries):
    previous = None
    for entry in entries:
        leaf = json.loads(entry)
        day = datetime.date.fromisoformat(leaf["day"])
        if previous is not None and day != previous + datetime.timedelta(days=1):
            raise Difference("order", f"{day} follows {previous}")
        previous = day
    for entry in entries:
        leaf = json.loads(entry)
        folder = root / "days" / leaf["day"]
        record = read(folder / "day.json")
        if sha256(record).hex() != leaf["sha256"]:
            raise Difference("altered", "the record of a day does not match the log")
        for file in json.loads(record)["files"]:
            if sha256(read(folder / file["name"])).hex() != file["sha256"]:
                raise Difference("altered", "a file does not match the record of its day")


def verify(root, key, kept):
    try:
        named = json.loads(read(root / "index.json"))["key"]
    except (ValueError, KeyError):
        raise Difference("malformed", "the index names no key") from None
    trusted = key or (kept and kept["key"]) or named
    try:
        parse_key(trusted)
    except ValueError:
        place = "kept checkpoint" if kept else "index"
        raise Difference("malformed", f"the key in the {place} is malformed") from None
    if named != trusted:
        raise Difference("key", "the archive names another key")
    public_key = root / "log/vkey"
    if public_key.exists() and public_key.read_bytes() != f"{trusted}\n".encode():
        raise Difference("key", "the log names another key")
    entries = verify_log(root / "log", trusted, kept)
    verify_days(root, entries)
    return len(entries)


def describe(root, key=None, kept=None):
    try:
        return f"intact: {verify(root, key, kept)} days"
    except (Difference, ValueError, KeyError, OSError, struct.error) as error:
        return str(error)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--key")
parser.add_argument("--checkpoint", type=pathlib.Path)
parser.add_argument("directories", nargs="+", type=pathlib.Path)
options = parser.parse_args()
if options.key is not None:
    try:
        parse_key(options.key)
    except ValueError:
        parser.error("the key of --key is malformed")
checkpoint = options.checkpoint and json.loads(options.checkpoint.read_text())
lines = [describe(root, options.key, checkpoint) for root in options.directories]
print("\n".join(lines))
sys.exit(0 if all(line.startswith("intact: ") for line in lines) else 1)
