#!/usr/bin/env bash
# The Python package rfc3339 writes a Unix timestamp an hour off where the zone of the machine had another offset then than now:
# 1325376000, the first second of 2012, is 01:00:00Z of that day in Moscow and 23:00:00Z of the day before in Istanbul.
#
# What it is: rfc3339 formats dates "according to the RFC 3339", from a datetime, a date or "a timestamp as returned by time.time()".
# Versions: rfc3339 6.2, tzdata 2025.2 for the zones (PyPI); the standard library's datetime for comparison.
# What the spec says: RFC 3339, 4.2: the offset is that between this local time and UTC; its docs: utc=True "normalizes timestamp to
#   the UTC date". A Unix timestamp is one instant and does not depend on a zone.
# Guess: 2012-01-01T00:00:00Z with utc=True everywhere; without it local times with the offsets of their day.
# Seen: an hour late in Moscow (2011 to 2014 at +04:00) and, in summer, in Sao Paulo (which had summer time until 2019), an hour early in
#   winter in Istanbul (+02:00 until 2016); with utc=False the same hour by the offset. Times of now, and UTC, New York and
#   Kolkata, are right. A datetime without a zone is treated alike; one with a zone is right.
# Why: the offset is time.timezone, or time.altzone in summer, which are those of the zone today; only whether it was summer is
#   asked for the time in question.
# Wrong number for a user: hours of old years go to a neighbour when they are exported on one machine, midnight to another day, and
#   the newest ones, with which one tests, are right.
# Instead: datetime.fromtimestamp(t, timezone.utc).isoformat(), or use_system_timezone=False for timestamps.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install --no-compile rfc3339==6.2 tzdata==2025.2
cat > run.py <<'PY'
import os
from datetime import datetime, timezone
from rfc3339 import rfc3339

for stamp in (1325376000, 1420070400, 1436000000, 1767225600):
    expected = datetime.fromtimestamp(stamp, timezone.utc)
    utc, local, plain = rfc3339(stamp, utc=True), rfc3339(stamp), rfc3339(stamp, utc=True, use_system_timezone=False)
    off = [int((datetime.fromisoformat(text) - expected).total_seconds()) for text in (utc, local, plain)]
    print(f"{os.environ['TZ']} {stamp}: expected {expected:%Y-%m-%dT%H:%M:%SZ}; observed {utc} and {local}; seconds off {off[0]} {off[1]} {off[2]}")
PY
export TZDIR=$PWD/$(v/bin/python -c 'import os.path, tzdata; print(os.path.relpath(os.path.dirname(tzdata.__file__)))')/zoneinfo
echo "rfc3339 6.2; the last number is that of use_system_timezone=False"
for zone in Europe/Moscow Europe/Istanbul America/Sao_Paulo Asia/Kolkata America/New_York UTC; do TZ=$zone v/bin/python -W ignore run.py; done | tee seen.txt
observed=$(sed 's/.*seconds off //' seen.txt | paste -sd';')
stated='3600 3600 0;0 0 0;0 0 0;0 0 0;-3600 -3600 0;-3600 -3600 0;0 0 0;0 0 0;3600 3600 0;3600 3600 0;0 0 0;0 0 0'
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do stated="$stated;0 0 0"; done
if [ "$observed" = "$stated" ]; then echo 'still as stated'; else echo 'changed'; exit 1; fi
