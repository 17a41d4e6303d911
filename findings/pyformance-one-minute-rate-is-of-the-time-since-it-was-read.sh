#!/usr/bin/env bash
# The one-minute rate of a pyformance meter covers the time since somebody last read it: after an hour of
# silence, a meter that is read once an hour says that events still arrive.
#
# What it is: a Python port of the Metrics library, with meters for events per second.
# Versions: pyformance 0.4 (PyPI).
# What the docs say: the meter's docstring promises one-, five- and fifteen-minute exponentially weighted
#   moving averages. In the library that it ports, and in the load average of Unix, such an average is
#   updated every five seconds, so that events of an hour ago weigh e^-60.
# Guess: 10 events a second for five minutes, then silence for an hour: about 0 events a second, whoever
#   asks and however often.
# Seen: the meter that is read every five seconds says 0. The one that is read for the first time says 0.77,
#   which is the mean of the whole 65 minutes; so do its five- and fifteen-minute rates. The average is
#   updated only within the read, with everything since the read before as one interval.
# Wrong number for a user: a scrape or a report at long intervals shows traffic in a silent hour, and a
#   burst just before a read as nearly nothing.
# Instead: read or tick() each meter every five seconds, or publish the counter and compute rates from it.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install pyformance==0.4
cat > run.py <<'PY'
from importlib.metadata import version
from pyformance.meters import Meter
print('pyformance', version('pyformance'))

class Clock:
    now = 0.0
    def time(self):
        return self.now

def rates(reads_every_five_seconds):
    clock = Clock()
    meter = Meter(clock=clock)
    for second in range(1, 3901):
        clock.now = float(second)
        if second <= 300:
            meter.mark(10)
        if reads_every_five_seconds and second % 5 == 0:
            meter.get_one_minute_rate()
    return round(meter.get_one_minute_rate(), 2), meter.get_count()

often, rarely = rates(True), rates(False)
print('read every 5 s: rate in the last minute', often[0], 'of', often[1], 'events')
print('read once:      rate in the last minute', rarely[0], 'of', rarely[1], 'events; expected 0')
same = often == (0.0, 3000.0) and rarely == (0.77, 3000.0)
print('still as stated' if same else 'changed')
raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
