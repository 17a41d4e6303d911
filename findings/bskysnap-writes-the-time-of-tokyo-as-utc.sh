#!/usr/bin/env bash
# bskysnap takes the offset off a post's time and writes "Z" in its place: a post of midnight UTC, written as 09:00 in Tokyo, is one of 09:00 UTC. And told to
# leave reposts out, it says "No posts found." for an account with fifty fresh reposts in front of its posts.
#
# What it is: bskysnap (Python), a command that gives the posts of a Bluesky account as text, JSON or CSV, made for pipelines and agents.
# Versions: bskysnap 0.2.0, httpx 0.28.1 (PyPI), on a loopback server; second opinion: the Date of Node.
# What the spec says: atproto.com, Lexicon, datetime: any offset is valid, "Z" is only preferred. RFC 3339, 4.2: "Z" means the offset 00:00.
#   app.bsky.feed.getAuthorFeed: pages with a cursor; a client goes on until it has what it needs or there is no cursor.
# Guess: created_at is "2026-01-01T00:00:00Z"; with --no-reposts the one post of the second page is listed.
# Seen: "2026-01-01T09:00:00Z"; CSV has 09:00 and no zone beside 00:00 for the twin post with Z; one request, for 50 entries, then no posts.
# Why: strftime with a literal Z on a time that keeps its offset; one page is fetched and filtered, and the cursor is not read.
# Wrong claim for a user: two posts of one moment are nine hours apart, a chart by hour of day shows offsets; a busy reposter "has not posted".
# Instead: take createdAt from getAuthorFeed and parse it with its offset; page by cursor, with the server's own filters.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install bskysnap==0.2.0 httpx==0.28.1 click==8.1.8
cat > run.py <<'PY'
import json, subprocess, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from urllib.parse import parse_qs, urlsplit
from bskysnap import fetcher, cli
from click.testing import CliRunner
print('bskysnap', version('bskysnap'))
author = {'did': 'did:plc:' + 'a' * 24, 'handle': 'alice.example.com'}
cid = 'bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy'
def item(text, at, **more): return {'post': {'uri': f"at://{author['did']}/app.bsky.feed.post/3mbcdefghij2z", 'cid': cid, 'author': author, 'indexedAt': at, 'record': {'$type': 'app.bsky.feed.post', 'text': text, 'createdAt': at}}} | more
utc, tokyo = '2026-01-01T00:00:00.000Z', '2026-01-01T09:00:00.000+09:00'
repost = item('of others', utc, reason={'$type': 'app.bsky.feed.defs#reasonRepost', 'by': author, 'indexedAt': utc})
pages = {}
class Server(BaseHTTPRequestHandler):
    log = []
    def log_message(self, *a): pass
    def do_GET(self):
        url = urlsplit(self.path); q = {k: v[0] for k, v in parse_qs(url.query).items()}; Server.log.append(q)
        if url.path.endswith('getProfile'): reply = author
        else:
            at, n = int(q.get('cursor', 0)), int(q['limit'])
            reply = {'feed': pages['all'][at:at + n]} | ({'cursor': str(at + n)} if at + n < len(pages['all']) else {})
        body = json.dumps(reply).encode(); self.send_response(200); self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
srv = ThreadingHTTPServer(('127.0.0.1', 0), Server); threading.Thread(target=srv.serve_forever, daemon=True).start()
fetcher.BASE_URL = f'http://127.0.0.1:{srv.server_port}/xrpc'
def run(*args):
    r = CliRunner().invoke(cli.main, ['alice.example.com', *args]); return r.output
pages['all'] = [item('with Z', utc), item('with +09:00', tokyo)]
made = [p['created_at'] for p in json.loads(run('-o', 'json'))['posts']]
node = subprocess.run(['node', '-p', f"new Date('{tokyo}').toISOString()"], capture_output=True, text=True).stdout.strip()
print('CSV dates', [line.split(',')[0] for line in run('-o', 'csv').splitlines()[1:]])
print('createdAt', [utc, tokyo], 'observed', made, 'expected the same time twice; Node says', node)
pages['all'] = [repost] * 50 + [item('my own post', utc)]; Server.log.clear()
text = run('--no-reposts'); print(text); print('requests with a cursor:', sum('cursor' in q for q in Server.log), 'of', len(Server.log))
same = made == ['2026-01-01T00:00:00Z', '2026-01-01T09:00:00Z'] and node == utc and 'No posts found' in text
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
