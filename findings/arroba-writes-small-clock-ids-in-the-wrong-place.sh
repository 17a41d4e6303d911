#!/usr/bin/env bash
# WHAT: arroba (Python) pads the clock id of a TID on the wrong side: clock id 1 is written as 32, 5 as 160, 31 as 992; and
#       pairs of different ids, such as 5 and 160, give one and the same TID.
# VERSIONS: arroba 3.1 (PyPI), @atproto/common-web 0.5.15 and @atcute/tid 1.1.4 (npm) as the second opinions.
# WHAT THE SPEC SAYS: TID spec: a 64-bit integer, a zero bit, 53 bits of microseconds and 10 bits of clock id, big-endian, in 13
#       letters; the clock id is there so that several writers do not give out the same TID in the same microsecond.
# GUESS: int_to_tid(t, clock_id=c) and datetime_to_tid(t, clock_id=c) are what the other libraries make of the same t and c.
# SEEN: right for 0 and for ids above 31. From 1 to 31, the range that arroba itself draws its ids from, the two letters are "32"
#       to "z2" where the others write "23" to "2z".
# WHY IT HURTS: two writers numbered 5 and 160 overwrite each other's records; a reader that groups TIDs by clock id to tell
#       writers or software apart (the reference implementation draws ids below 32 too) finds next to none of arroba's there.
# INSTEAD: replace the last two letters by "2" and the one letter of the id, or use ids from 32 to 1023 only.
set -euo pipefail
command -v python3 >/dev/null; command -v node >/dev/null
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
cd "$T"
python3 -m venv v
v/bin/pip -q --disable-pip-version-check install --no-compile --use-pep517 arroba==3.1
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund @atproto/common-web@0.5.15 @atcute/tid@1.1.4 >/dev/null
cat > others.mjs <<'JS'
import { TID } from '@atproto/common-web';
import * as atcute from '@atcute/tid';
const ids = process.argv.slice(2).map(Number);
console.log(JSON.stringify(ids.map((id) => [TID.fromTime(1767225600000000, id).toString(), atcute.create(1767225600000000, id)])));
JS
cat > probe.py <<'PY'
import json, subprocess, sys
from datetime import datetime, timezone
from importlib.metadata import version
from arroba.util import datetime_to_tid, int_to_tid
print('arroba', version('arroba'), '| @atproto/common-web 0.5.15 | @atcute/tid 1.1.4')
ids = [0, 1, 5, 31, 32, 160, 992, 1023]
others = json.loads(subprocess.check_output(['node', 'others.mjs', *map(str, ids)]))
time = datetime(2026, 1, 1, tzinfo=timezone.utc)
wrong = []
for clock_id, (official, atcute) in zip(ids, others):
    tid = int_to_tid(1767225600000000, clock_id=clock_id)
    assert official == atcute and tid == datetime_to_tid(time, clock_id=clock_id)
    print(f'clock id {clock_id:4}: expected {official}, observed {tid}')
    if tid != official:
        wrong.append(clock_id)
same = int_to_tid(1767225600000000, clock_id=5) == int_to_tid(1767225600000000, clock_id=160)
print('TIDs of the clock ids 5 and 160: expected two, observed', 'one' if same else 'two')
sys.exit(0 if wrong == [1, 5, 31] and same else 1)
PY
if v/bin/python probe.py; then echo 'STILL SO: clock ids below 32 are multiplied by 32'; else echo 'CHANGED'; exit 1; fi
