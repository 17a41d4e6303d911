#!/usr/bin/env bash
# robotspy hands the rules of one crawler to another that shares a group with it, in some runs and not in others, from the same
# robots.txt; and it never closes an address that contains at:// behind a question mark.
#
# What it is: robotspy, a reader of robots.txt for Python that follows RFC 9309.
# Versions: robotspy 0.13.0; protego 0.6.0 for comparison (PyPI).
# What the spec says: RFC 9309, 2.2.1: groups that name one crawler are combined for that crawler; no rule passes to another.
#   2.2.2: a path is matched octet by octet from the first one on.
# Guess: hourbot, which is named once, beside Disallow: /, is kept out of /data/; and /thread?uri=at://did:plc:abc is closed by its
#   own first half.
# Seen: with eight values of PYTHONHASHSEED, which Python draws anew for every process, hourbot may fetch /data/ in some runs, by
#   the Allow of archiver, and not in others. The address with at:// is open in all. Both crawlers are right where they share nothing.
# Why: the loop over the names of a group, in the order of a set, keeps adding the earlier rules of one name to the list that the next
#   name gets. Of the address, not of the rule, "//" is made one slash; http:// is mended, other schemes are not.
# Wrong claim for a user: "allowed" for pages from which the owner keeps this crawler out; a check today and the crawl tomorrow
#   disagree, and a failing test passes when it is run again.
# Instead: protego.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install --no-compile robotspy==0.13.0 protego==0.6.0
cat > run.py <<'PY'
import json
from protego import Protego
from robots import RobotsParser

SHARED = '''User-agent: archiver
Allow: /data/

User-agent: archiver
User-agent: hourbot
Disallow: /
'''
APART = SHARED.replace('User-agent: archiver\nUser-agent: hourbot', 'User-agent: hourbot')
THREAD = 'User-agent: *\nDisallow: /thread?uri=at://did:plc:abc\n'
cases = {'shared group': (SHARED, 'hourbot', '/data/day.csv'), 'groups of their own': (APART, 'hourbot', '/data/day.csv'),
         'archiver': (SHARED, 'archiver', '/data/day.csv'), 'at://': (THREAD, 'hourbot', '/thread?uri=at://did:plc:abc')}
print(json.dumps({name: [RobotsParser.from_string(text).can_fetch(agent, path), Protego.parse(text).can_fetch(path, agent)]
                  for name, (text, agent, path) in cases.items()}))
PY
for seed in 0 1 2 3 4 5 6 7; do PYTHONHASHSEED=$seed v/bin/python run.py; done > seen.txt
v/bin/python - <<'PY'
import json
from importlib.metadata import version
print('robotspy', version('robotspy'), '| protego', version('protego'))
runs = [json.loads(line) for line in open('seen.txt')]
seen = {name: ([run[name][0] for run in runs], [run[name][1] for run in runs]) for name in runs[0]}
for name, (ours, theirs) in seen.items():
    print(f'{name}, may fetch? expected (protego) {set(theirs)}; observed in eight runs', *ours)
expected = {'shared group': False, 'groups of their own': False, 'archiver': True, 'at://': False}
ok = all(set(theirs) == {expected[name]} for name, (_, theirs) in seen.items())
ok &= set(seen['shared group'][0]) == {True, False} and set(seen['at://'][0]) == {True}
ok &= set(seen['groups of their own'][0]) == {False} and set(seen['archiver'][0]) == {True}
print('still as stated' if ok else 'changed'); raise SystemExit(0 if ok else 1)
PY
