#!/usr/bin/env bash
# "skycoll posts" leaves every quote post out of the archive, though it counts it among the records written, and files each repost as a post of
# the account itself, under the address, time and text of the other author.
#
# What it is: skycoll (Python) downloads the posts of a Bluesky account to HANDLE.twt and builds threads and graphs from it.
# Versions: skycoll 0.3.8 (PyPI), on a loopback server that answers app.bsky.feed.getAuthorFeed; the answer passes the lexicon check of
#   @atproto/api 0.21.0 (npm).
# What the spec says: lexicon app.bsky.feed.defs#feedViewPost: reason is a union, its $type for a repost "app.bsky.feed.defs#reasonRepost". README of
#   skycoll: the first column of the file "is post, repost, or quote".
# Guess: four lines: post, quote, quote (with a picture), repost.
# Seen: three lines, all "post": the plain quote is gone, the repost and the quote with a picture are posts; the last message says 4 records.
# Why: the feed reader names the collection of a quote "quote", which the writer does not know and passes over; it compares the reason with
#   "#ReasonRepost", in a capital; and it looks at app.bsky.embed.record only.
# Wrong claim for a user: an account "never quotes", its posts per day are too few or, for one that mostly reposts, many times too many, and
#   words and reply threads of others are its own.
# Instead: go through the answers of getAuthorFeed by hand; trust a line only where its address starts with the DID of the account.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null; mkdir home
npm i --silent --no-audit --no-fund --ignore-scripts @atproto/api@0.21.0 2>/dev/null
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install httpx==0.28.1 cryptography==44.0.3
v/bin/pip -q --disable-pip-version-check install --no-deps skycoll==0.3.8 2>/dev/null
cat > run.py <<'PY'
import json, os, subprocess, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from skycoll.commands import posts
print('skycoll', version('skycoll'))
me, other = ({'did': f'did:plc:{c * 24}', 'handle': f'{n}.example.com'} for c, n in (('a', 'alice'), ('b', 'bob')))
cid, at, n = 'bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy', '2026-01-01T00:00:00.000Z', 'app.bsky.'
ref = {'uri': f"at://{other['did']}/app.bsky.feed.post/3mbcdefghij2z", 'cid': cid}
def item(key, text, who=me, embed=None, **more):
    record = {'$type': n + 'feed.post', 'text': text, 'createdAt': at} | ({'embed': embed} if embed else {})
    return {'post': {'uri': f"at://{who['did']}/app.bsky.feed.post/3mbcdefghij2{key}", 'cid': cid, 'author': who, 'indexedAt': at, 'record': record}} | more
quote, images = {'$type': n + 'embed.record', 'record': ref}, {'$type': n + 'embed.images', 'images': []}
feed = {'feed': [item('a', 'plain'), item('b', 'my quote', embed=quote),
    item('c', 'my quote with a picture', embed={'$type': n + 'embed.recordWithMedia', 'record': {'record': ref}, 'media': images}),
    item('z', 'words of Bob', other, reason={'$type': n + 'feed.defs#reasonRepost', 'by': me, 'indexedAt': at})]}
class Server(BaseHTTPRequestHandler):
    def log_message(self, *a): pass
    def do_GET(self):
        body = json.dumps(feed).encode(); self.send_response(200); self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
srv = ThreadingHTTPServer(('127.0.0.1', 0), Server); threading.Thread(target=srv.serve_forever, daemon=True).start()
js = "import {lexicons as l} from '@atproto/api'; l.assertValidXrpcOutput('app.bsky.feed.getAuthorFeed', JSON.parse(process.argv[1])); console.log('@atproto/api: the answer is valid')"
print(subprocess.run(['node', '--input-type=module', '-e', js, json.dumps(feed)], check=True, capture_output=True, text=True).stdout.strip())
posts.resolve = lambda handle: {'did': me['did'], 'handle': handle, 'pds': f'http://127.0.0.1:{srv.server_port}'}
posts.run('alice.example.com')
rows = [line.split('\t') for line in open('alice.example.com.twt').read().splitlines()]
for row in rows: print('line of the file:', row[0], '|', row[1], '|', row[5])
print("expected ['post', 'quote', 'quote', 'repost'], observed", [r[0] for r in rows])
same = [(r[0], r[5]) for r in rows] == [('post', 'plain'), ('post', 'my quote with a picture'), ('post', 'words of Bob')] and other['did'] in rows[2][1]
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
HOME=$T/home v/bin/python run.py
