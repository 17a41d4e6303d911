#!/usr/bin/env bash
# pychronotab, a "drop-in replacement" for croniter, runs "0 0 1,15 * 1" on Mondays that are a 1st or a 15th only, ignores day_or,
# leaves out one hour when the clock is set back, and gives one instant twice when it is set forward.
#
# What it is: a Python package that tells the next dates of a cron expression, with croniter's interface.
# Versions: pychronotab 1.0.7; croniter 7.0.0 (PyPI) to compare with.
# What the docs say: "full croniter API compatibility", "Simply change your import ... Everything else stays the same!"; day_or: "If
#   True, day_of_month and day_of_week are OR'd (standard behavior)"; True is the default. crontab(5) says the same.
# Guess: the dates of croniter.
# Seen: the two days are ANDed whatever day_or is: the next date is in June, not next Monday. "0 * * * *" in Berlin, 25 October
#   2026: 02:00+02:00 is followed by 03:00+01:00, two hours later. On 29 March it gives 02:00+01:00, a time that no clock
#   in Berlin shows, and then 03:00+02:00: the same instant.
# Wrong claim for a user: with the import changed, a job of each Monday and each 1st and 15th runs a few times a year; an hourly
#   series has one row too few in October and one hour twice in March.
# Instead: croniter or cronsim; or two expressions, one for each kind of day, and hourly schedules in UTC.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install pychronotab==1.0.7 croniter==7.0.0 tzdata==2025.2
cat > run.py <<'PY'
from datetime import datetime, timezone
from importlib.metadata import version
from zoneinfo import ZoneInfo
import croniter as old, pychronotab as new
print('pychronotab', version('pychronotab'), 'croniter', version('croniter'))
berlin, utc = ZoneInfo('Europe/Berlin'), timezone.utc
def dates(module, exp, start, n, **more):
    it = module.croniter(exp, start, **more)
    return [it.get_next(datetime) for _ in range(n)]
ok = True
start = datetime(2026, 1, 15, tzinfo=utc)
for day_or in (True, False):
    a, b = (' '.join(d.date().isoformat() for d in dates(m, '0 0 1,15 * 1', start, 4, day_or=day_or)) for m in (old, new))
    print(f'0 0 1,15 * 1, day_or={day_or}: croniter', a, '; pychronotab', b)
    ok = ok and b == '2026-06-01 2026-06-15 2027-02-01 2027-02-15' and (a == b) == (not day_or)
for name, start, gaps in (('clock set back', datetime(2026, 10, 25, 0, 30, tzinfo=berlin), [1, 2, 1, 1]),
                          ('clock set forward', datetime(2026, 3, 29, 0, 30, tzinfo=berlin), [1, 0, 1, 1])):
    for m in (old, new):
        got = dates(m, '0 * * * *', start, 5)
        at = [d.astimezone(utc) for d in got]
        hours = [round((y - x).total_seconds() / 3600) for x, y in zip(at, at[1:])]
        print(f'{name}, {m.__name__}:', ' '.join(d.isoformat()[11:16] + d.isoformat()[19:22] for d in got), '; hours between', hours)
        ok = ok and hours == ([1, 1, 1, 1] if m is old else gaps)
print('still as stated' if ok else 'changed'); raise SystemExit(0 if ok else 1)
PY
TZ=UTC v/bin/python run.py
