#!/usr/bin/env bash
# The Python package jetblack-iso8601 writes every instant with fewer than 100 milliseconds in its second too late, one
# millisecond as .01 and 99 as .99; and it writes a duration of half a second as "P0D".
#
# What it is: jetblack-iso8601 reads and writes ISO 8601 instants and durations, for JSON above all.
# Versions: jetblack-iso8601 2.0.0 (PyPI); datetime.isoformat of Python for comparison.
# What the docs say: the README shows instants and durations written and read back to the same value. ISO 8601-1:2019, 5.3.1.4: the
#   digits after the sign are a decimal fraction of the second, so that .01 is ten milliseconds. 5.5.2: seconds may have one.
# Guess: 12:00:00.001 for one millisecond, and the same value when read back; PT0.5S for half a second.
# Seen: 1, 12 and 99 ms are written .01, .12 and .99, and its own reader takes that for 10, 120 and 990 ms. From 100 ms on it
#   is right. Half a second becomes P0D, 1.999 s PT1S. The reader raises an error for PT36.5S and returns None for PT0.5H.
# Why: the milliseconds are written as a whole number, filled up to two digits in place of three.
# Wrong number for a user: a tenth of all events move by up to 0.9 s, past others of the same second: sorted by
#   time their order changes, the youngest may lie in the future, and a cursor taken from one skips what lies between.
# Instead: datetime.isoformat(timespec="milliseconds"); for durations isodate.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v
v/bin/pip -q --disable-pip-version-check install --no-compile jetblack-iso8601==2.0.0 >/dev/null
cat > run.py <<'PY'
from datetime import datetime, timedelta, timezone
from importlib.metadata import version
from jetblack_iso8601 import datetime_to_iso8601, iso8601_to_datetime, iso8601_to_timedelta, timedelta_to_iso8601

print('jetblack-iso8601', version('jetblack-iso8601'))
same = True
for millis, stated in ((0, 0), (1, 10), (12, 120), (99, 990), (100, 100), (123, 123)):
    instant = datetime(2026, 11, 29, 12, 0, 0, millis * 1000, tzinfo=timezone.utc)
    text = datetime_to_iso8601(instant)
    own = iso8601_to_datetime(text).microsecond // 1000
    fraction = int(text.split('.')[1].rstrip('Z').ljust(3, '0'))
    print(f'{millis} ms: expected {instant.isoformat(timespec="milliseconds")}, observed {text}, which is {own} ms')
    same = same and own == stated and fraction == stated
for duration, expected, stated in (
    (timedelta(seconds=90), 'PT1M30S', 'PT1M30S'),
    (timedelta(milliseconds=500), 'PT0.5S', 'P0D'),
    (timedelta(seconds=1, milliseconds=999), 'PT1.999S', 'PT1S'),
):
    observed = timedelta_to_iso8601(duration)
    print(f'{duration}: expected {expected}, observed {observed}')
    same = same and observed == stated
try:
    observed = iso8601_to_timedelta('PT36.5S')
    same = False
except ValueError as error:
    observed = f'error: {error}'
print('PT36.5S: expected 36.5 s, observed', observed)
same = same and iso8601_to_timedelta('PT0.5H') is None and iso8601_to_timedelta('PT36S') == timedelta(seconds=36)
print('still as stated' if same else 'changed')
raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
