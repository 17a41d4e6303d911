#!/usr/bin/env bash
# aniso8601 reads 2026-11-29T24:00Z, the end of the 29th, as the start of the 29th: 24 hours too early.
# The last hour of a day, written 23:00 to 24:00, ends before it begins.
#
# What it is: aniso8601 reads ISO 8601 dates, times, durations and intervals; web frameworks use it for input.
# Versions: aniso8601 10.0.1, python-dateutil 2.9.0.post0 for comparison (PyPI).
# What the spec says: ISO 8601-1 with Amendment 1 (2022), and the edition of 2004: 24:00 is the end of a
#   calendar day, the same instant as 00:00 of the next day. XML Schema dateTime says the same.
# Guess: the 30th at 00:00, or an error.
# Seen: the 29th at 00:00, with and without seconds and in the basic form. The interval 23:00/24:00 is read as
#   minus 23 hours. The repeating hour R2/...T23:00Z/...T24:00Z steps back 23 hours. 24:01 is refused,
#   so 24:00 is taken for valid. python-dateutil gives the 30th.
# Why: the time of day is built by itself: hour 24 becomes 0 there, then date and time are put together
#   and nothing adds the day. Its own error message says "24 representing midnight".
# Wrong time for a user: an "until the end of the 29th" loses that whole day, and sums over the intervals
#   of a day come out one day short. No error; the README does not speak of it.
# Instead: python-dateutil's isoparse, or write 00:00 of the next day.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v
v/bin/pip -q --disable-pip-version-check install --no-compile aniso8601==10.0.1 python-dateutil==2.9.0.post0 >/dev/null
cat > run.py <<'PY'
from datetime import datetime, timedelta, timezone
from importlib.metadata import version
from itertools import islice
import aniso8601
from dateutil.parser import isoparse
print('aniso8601', version('aniso8601'))
START = datetime(2026, 11, 29, tzinfo=timezone.utc)
END = START + timedelta(days=1)
same = True
for text in ('2026-11-29T24:00Z', '2026-11-29T24:00:00Z', '20261129T2400Z'):
    got, other = aniso8601.parse_datetime(text), isoparse(text)
    print(f'{text}: expected {END}, observed {got}; dateutil {other}')
    same = same and got == START and other == END
# Controls: the same instant written as the next day, and hour 24 with a minute.
same = same and aniso8601.parse_datetime('2026-11-30T00:00Z') == END
try:
    aniso8601.parse_datetime('2026-11-29T24:01Z')
    same = False
except aniso8601.exceptions.MidnightBoundsError:
    print('2026-11-29T24:01Z: refused, as it should')
for text, seen in (('2026-11-29T22:00Z/2026-11-29T23:00Z', 1), ('2026-11-29T23:00Z/2026-11-30T00:00Z', 1),
                   ('2026-11-29T23:00Z/2026-11-29T24:00Z', -23), ('2026-11-29T23:00Z/24:00Z', -23)):
    begin, end = aniso8601.parse_interval(text)
    hours = (end - begin) / timedelta(hours=1)
    print(f'{text}: expected 1 hour, observed {hours:g}')
    same = same and hours == seen
steps = list(islice(aniso8601.parse_repeating_interval('R2/2026-11-29T23:00Z/2026-11-29T24:00Z'), 2))
print('R2 of the last hour: expected 23:00 and then 00:00 of the 30th, observed', *map(str, steps))
same = same and steps == [START + timedelta(hours=23), START]
print('still as stated' if same else 'changed')
raise SystemExit(0 if same else 1)
PY
v/bin/python -W ignore run.py
