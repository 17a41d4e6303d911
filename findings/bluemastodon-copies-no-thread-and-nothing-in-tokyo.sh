#!/usr/bin/env bash
# bluemastodon copies no reply of a thread, though threads are a feature that is on by default; and with the look-back of 6 hours of its README it
# never copies anything on a machine that is set to Tokyo time, nor, in Berlin in winter, what is older than 5.
#
# What it is: bluemastodon copies the posts of a Bluesky account to Mastodon, run now and then by a scheduler.
# Versions: bluemastodon 0.9.11, atproto 0.0.73 (PyPI); Bluesky's service is played by a small server on loopback.
# What the docs say: README: "Thread Support: Supports self-replies (threads) from Bluesky"; "Automatic Synchronization: Fetches recent Bluesky posts";
#   its example: lookback_hours=6; hours_back: "How many hours to look back". Lexicon app.bsky.feed.post#replyRef: parent is a strongRef, which has uri and cid, no author.
# Guess: all three posts of the last two hours (a post, a reply to it by the same account, a third one) are found, whatever TZ says.
# Seen: two with TZ=UTC and TZ=America/New_York, none with TZ=Asia/Tokyo. The reply is left out in silence, as its parent has no "author". The limit
#   is local time without a zone, which is then called UTC: 9 hours too late in Tokyo, 5 too early in New York.
# Wrong for a user: the first post of every thread stands alone on Mastodon; east of Greenwich posts are missed for good, since a run only looks at the
#   last hours, and the program says that it has synchronized.
# Instead: run it with TZ=UTC; copy threads by hand.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install bluemastodon==0.9.11 atproto==0.0.73
cat > run.py <<'PY'
import json, sys, threading
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from atproto import Client
from loguru import logger
from bluemastodon.bluesky import BlueskyClient
from bluemastodon.config import BlueskyConfig
logger.remove()
did, cid, now = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz', 'bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a', datetime.now(timezone.utc)
def view(rkey, hours, text, **more):
    time = (now - timedelta(hours=hours)).strftime('%Y-%m-%dT%H:%M:%S.000Z')
    return {'post': {'uri': f'at://{did}/app.bsky.feed.post/{rkey}', 'cid': cid, 'author': {'did': did, 'handle': 'alice.example.com'}, 'indexedAt': time,
                     'record': {'$type': 'app.bsky.feed.post', 'text': text, 'createdAt': time, **more}}}
first = {'uri': f'at://{did}/app.bsky.feed.post/3jzfcijpj2z2a', 'cid': cid}
feed = [view('3jzfcijpj2z2c', 1, 'third'), view('3jzfcijpj2z2b', 1.5, 'second, part of a thread', reply={'root': first, 'parent': first}), view('3jzfcijpj2z2a', 2, 'first')]
class Service(BaseHTTPRequestHandler):
    def log_message(self, *a): pass
    def do_GET(self):
        body = json.dumps({'feed': feed} if 'getAuthorFeed' in self.path else {'did': did, 'handle': 'alice.example.com'}).encode()
        self.send_response(200); self.send_header('Content-Type', 'application/json'); self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
service = ThreadingHTTPServer(('127.0.0.1', 0), Service); threading.Thread(target=service.serve_forever, daemon=True).start()
reader = BlueskyClient(BlueskyConfig(username='alice.example.com', password='secret'))
reader.client, reader._authenticated = Client(base_url=f'http://127.0.0.1:{service.server_port}/xrpc'), True
print(json.dumps([post.content for post in reader.get_recent_posts(hours_back=6, include_threads=True)]))
PY
v/bin/pip list 2>/dev/null | grep -E '^(bluemastodon|atproto) '
for zone in UTC Asia/Tokyo America/New_York; do echo "TZ=$zone $(TZ=$zone v/bin/python run.py)"; done | tee seen.txt
cat > expected.txt <<'TXT'
TZ=UTC ["third", "first"]
TZ=Asia/Tokyo []
TZ=America/New_York ["third", "first"]
TXT
if cmp -s seen.txt expected.txt; then echo still as stated; else echo changed; exit 1; fi
