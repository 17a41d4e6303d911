#!/usr/bin/env bash
# skymarshal asks for the likes of 100 posts at once where 25 are the limit, takes the error for an answer and shows, stores and caches 0 likes, 0 reposts and
# 0 replies: an account with 25 posts has its numbers, one with 26 none.
#
# What it is: skymarshal (Python) loads the posts of a Bluesky account, ranks them by engagement and deletes those with little of it.
# Versions: skymarshal-cli 0.1.3, atproto 0.0.73 (PyPI), on a loopback server that keeps the limit; @atproto/api 0.21.0 (npm) says that there is one.
# What the spec says: lexicon app.bsky.feed.getPosts: uris has maxLength 25; a longer list is answered with 400, if a client sends it at all.
# Guess: 26 posts of 7 likes each have 7 likes each, by two requests.
# Seen: 25 posts: 7 each. 26 posts: 0 each, no message, and no request, as the client library knows the limit and raises; loaded again, the 0 comes
#   from the cache, for posts of more than 90 days a week long.
# Why: the batch size is 100 by default, and every error but one of the login counts as a batch that is done. The 0 is stored as a count.
# Wrong claim for a user: all posts of an active account are "dead", and a clean-up by few likes offers every one for deletion.
# Instead: set hydrate_batch_size to 25 in the settings file and delete engagement_cache.db before anything is cleaned up.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @atproto/api@0.21.0 2>/dev/null
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install skymarshal-cli==0.1.3 atproto==0.0.73
cat > run.py <<'PY'
import json, pathlib, subprocess, threading, types
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from urllib.parse import parse_qs, urlsplit
from atproto import Client
from skymarshal.data_manager import DataManager
from skymarshal.models import ContentItem, UserSettings
print('skymarshal-cli', version('skymarshal-cli'), 'atproto', version('atproto'))
author, at = {'did': 'did:plc:' + 'a' * 24, 'handle': 'alice.example.com'}, '2026-01-01T00:00:00.000Z'
cid, letters = 'bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy', '234567abcdefghijklmnopqrstuvwxyz'
class AppView(BaseHTTPRequestHandler):
    log = []
    def log_message(self, *a): pass
    def do_GET(self):
        uris = parse_qs(urlsplit(self.path).query)['uris']; ok = len(uris) <= 25
        reply = {'posts': [{'uri': u, 'cid': cid, 'author': author, 'indexedAt': at, 'likeCount': 7, 'repostCount': 2, 'replyCount': 1, 'record': {'$type': 'app.bsky.feed.post', 'text': 'hello', 'createdAt': at}} for u in uris]}
        body = json.dumps(reply if ok else {'error': 'InvalidRequest', 'message': 'Error: uris must not have more than 25 elements'}).encode()
        AppView.log.append((len(uris), 200 if ok else 400)); self.send_response(200 if ok else 400); self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
srv = ThreadingHTTPServer(('127.0.0.1', 0), AppView); threading.Thread(target=srv.serve_forever, daemon=True).start()
auth = types.SimpleNamespace(client=Client(f'http://127.0.0.1:{srv.server_port}/xrpc'), is_authenticated=lambda: True)
js = "import {lexicons as l} from '@atproto/api'; for (const n of [25, 26]) { try { l.assertValidXrpcParams('app.bsky.feed.getPosts', {uris: Array(n).fill('at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/app.bsky.feed.post/3mbcdefghij2k')}); console.log('@atproto/api:', n, 'valid') } catch (e) { console.log('@atproto/api:', n, e.message) } }"
print(subprocess.run(['node', '--input-type=module', '-e', js], check=True, capture_output=True, text=True).stdout.strip())
def load(n, name):
    home = pathlib.Path(name); home.mkdir(exist_ok=True); AppView.log.clear()
    items = [ContentItem(uri=f"at://{author['did']}/app.bsky.feed.post/3mbcdefghij2{letters[i]}", cid=cid, content_type='post', text='hello', created_at=at) for i in range(n)]
    DataManager(auth, UserSettings(), home, home, home).hydrate_items(items)
    likes = {i.like_count for i in items}
    cached = len(DataManager(auth, UserSettings(), home, home, home).engagement_cache.get_batch([i.uri for i in items]))
    print(n, 'posts of 7 likes: observed likes', likes, 'requests', AppView.log, 'in the cache', cached); return likes
seen = [load(25, 'a'), load(26, 'b'), load(26, 'b')]
same = seen == [{7}, {0}, {0}] and not AppView.log
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
