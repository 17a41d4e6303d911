#!/usr/bin/env bash
# The hourly history of followers that statsbadge-bluesky keeps has no place for an hour without a reading: each restart adds an "hour", and an outage
# of days is none, so four points of five minutes, and two with two days between them, are both drawn an hour apart.
#
# What it is: statsbadge shows numbers on a badge; this plug-in asks the public app view for the counters of Bluesky accounts and keeps 48 hours of each.
# Versions: statsbadge-bluesky 2.0.0, statsbadge 3.0.0 (PyPI), on a loopback server.
# What the docs say: README: the counters "are kept hourly, so a graph of any of them covers the last two days". statsbadge, Source.series(): a ring is "points",
#   oldest to newest, None "where there was no reading", and every_ms, "how far apart they are".
# Guess: after four starts within five minutes one or two points; after an outage of 48 hours None for the hours that are missing.
# Seen: four points with every_ms 3600000; after the outage the next point directly behind the last one, no None. With two accounts, of which one
#   could not be asked, the age of the other's newest point is given for both.
# Why: the time of the next point is kept in memory and starts at nought; a point is appended, whatever time has passed.
# Wrong claim for a user: growth per hour is that of minutes or of days; a laptop that sleeps at night shows a smooth curve without nights.
# Instead: record time and counter yourself at each reading; draw by time.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install --no-deps statsbadge==3.0.0 statsbadge-bluesky==2.0.0 2>/dev/null
cat > run.py <<'PY'
import json, threading, types
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
import statsbadge_bluesky as plugin
from statsbadge import state
print('statsbadge-bluesky', version('statsbadge-bluesky'), 'statsbadge', version('statsbadge'))
now = {'s': 1000.0}; plugin.time = types.SimpleNamespace(monotonic=lambda: now['s'])  # a clock to move by hand
down = set()
class Server(BaseHTTPRequestHandler):
    followers = 100
    def log_message(self, *a): pass
    def do_GET(self):
        who = self.path.rsplit('actor=')[1].split('&')[0]
        body = json.dumps({'feed': []} if 'getAuthorFeed' in self.path else {'did': 'did:plc:' + 'a' * 24, 'handle': who, 'followersCount': Server.followers, 'followsCount': 1, 'postsCount': 1}).encode()
        self.send_response(503 if who in down else 200); self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
srv = ThreadingHTTPServer(('127.0.0.1', 0), Server); threading.Thread(target=srv.serve_forever, daemon=True).start()
plugin.APPVIEW = f'http://127.0.0.1:{srv.server_port}/xrpc'
def source(path):
    s = plugin.Bluesky({'handles': 'alice.example.com, bob.example.com', 'images': 'off'})
    s.store = state.Store(path); plugin.PollingSource.start = lambda self: None  # poll() is called here, not by a thread
    s.start(); return s
def ring(s, who): return s.series()[f'bsky_{who}_example_com.followers']
for minute in range(4):  # four starts, a hundred seconds apart
    now['s'] = 1000.0 + 100 * minute; Server.followers += 1; s = source('one.json'); s.poll()
restarts = ring(s, 'alice'); print('four starts in five minutes: expected at most 2 points, observed', restarts['points'], 'every_ms', restarts['every_ms'])
s = source('two.json'); now['s'] += 200; s.poll()
down.update({'alice.example.com', 'bob.example.com'})
for _ in range(48): now['s'] += 3600; s.poll()
down.discard('alice.example.com'); now['s'] += 3600; Server.followers += 4000; s.poll()
out, other = ring(s, 'alice'), ring(s, 'bob'); print('49 hours apart: expected 48 times None between them, observed', out['points'], 'every_ms', out['every_ms'])
print('bob, not heard of for 49 hours: expected an age_ms of 176400000, observed', other)
same = len(restarts['points']) == 4 and out['points'] == [104, 4104] and restarts['every_ms'] == out['every_ms'] == 3600000 and other['age_ms'] == 0
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
