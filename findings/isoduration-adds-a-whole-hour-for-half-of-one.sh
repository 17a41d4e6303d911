#!/usr/bin/env bash
# A start plus the duration PT0.5H is a whole hour later with isoduration, PT0.25H adds nothing, and each addition
# takes the fraction of a second from the start.
#
# What it is: isoduration parses ISO 8601 durations and adds them to datetimes; jsonschema uses it to check formats.
# Versions: isoduration 20.11.0, isodate 0.7.2 for comparison (PyPI).
# What the spec says: ISO 8601-1:2019, 5.5.2.3: the last component of a duration may have a decimal fraction. XML Schema
#   part 2, appendix E, which the code names as its source: seconds are added as decimals, and their
#   fraction stays.
# Guess: parsed as half an hour (it is: hours is Decimal("0.5")), so the sum is 30 minutes later.
# Seen: 10:20:30 + PT0.5H is 11:20:30, + PT0.25H is 10:20:30, + PT1.5M is 10:22:30, + PT6.5S is 10:20:37.
#   10:20:30.250 + PT1H is 11:20:30, + P0D is 10:20:30. PT30M, PT36H and P1M from a whole second are right.
# Why: each component is computed as a decimal and then rounded half up alone, nothing is carried down to the next;
#   the new datetime is built without microseconds.
# Wrong number for a user: windows of half an hour become an hour and overlap; a step of a quarter never advances; an
#   instant moved by nothing no longer equals itself, so a comparison with its event's time fails.
# Instead: write whole units (PT30M), or use isodate, and keep the fraction of the start apart.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v
v/bin/pip -q --disable-pip-version-check install --no-compile isoduration==20.11.0 isodate==0.7.2 >/dev/null
cat > run.py <<'PY'
from datetime import datetime
from decimal import Decimal
from importlib.metadata import version
import isodate
from isoduration import parse_duration

print('isoduration', version('isoduration'))
WHOLE, FRACTION = '2026-11-10T10:20:30', '2026-11-10T10:20:30.250000'
CASES = [  # start, duration, expected, stated
    (WHOLE, 'PT30M', '2026-11-10T10:50:30', '2026-11-10T10:50:30'),
    (WHOLE, 'PT36H', '2026-11-11T22:20:30', '2026-11-11T22:20:30'),
    (WHOLE, 'P1M', '2026-12-10T10:20:30', '2026-12-10T10:20:30'),
    (WHOLE, 'PT0.5H', '2026-11-10T10:50:30', '2026-11-10T11:20:30'),
    (WHOLE, 'PT0.25H', '2026-11-10T10:35:30', '2026-11-10T10:20:30'),
    (WHOLE, 'PT1.5M', '2026-11-10T10:22:00', '2026-11-10T10:22:30'),
    (WHOLE, 'P0.5D', '2026-11-10T22:20:30', '2026-11-11T10:20:30'),
    (WHOLE, 'PT6.5S', '2026-11-10T10:20:36.500000', '2026-11-10T10:20:37'),
    (FRACTION, 'PT1H', '2026-11-10T11:20:30.250000', '2026-11-10T11:20:30'),
    (FRACTION, 'P0D', FRACTION, '2026-11-10T10:20:30'),
]
same = parse_duration('PT0.5H').time.hours == Decimal('0.5')
for start, duration, expected, stated in CASES:
    at = datetime.fromisoformat(start)
    observed = (at + parse_duration(duration)).isoformat()
    print(f'{start} + {duration}: expected {expected}; observed {observed}')
    same = same and observed == stated and (at + isodate.parse_duration(duration)).isoformat() == expected
print('still as stated' if same else 'changed')
raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
