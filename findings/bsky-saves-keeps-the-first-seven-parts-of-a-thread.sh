#!/usr/bin/env bash
# bsky-saves keeps of a long thread the saved post and six more, notes that the thread has been fetched whole, and does not ask again.
#
# What it is: bsky-saves (Python) makes an archive of the posts that a Bluesky account has bookmarked; "hydrate threads" adds the same author's
#   further posts of each thread.
# Versions: bsky-saves 0.6.8, httpx 0.28.1 (PyPI), on a loopback server that answers as the lexicon says.
# What the spec says: lexicon app.bsky.feed.getPostThread: depth, "how many levels of reply depth", default 6, maximum 1000. Deeper posts are not in
#   the answer, and nothing in it says so but a replyCount without replies. README: "Hydrate every bookmark with same-author self-thread
#   descendants", and a finished entry is skipped by later runs.
# Guess: a thread of 12 posts, saved at the first, has 11 thread_replies, by a request with a depth or by further requests.
# Seen: 6; no depth is sent; the second run does nothing; the last post kept says replyCount 1.
# Wrong claim for a user: the archive of a text of 12 parts ends in its middle, without a mark, and when the account is deleted the rest
#   is lost; lengths of threads pile up at seven.
# Instead: ask for getPostThread with depth=1000 yourself, or go on from the last post while replyCount is above the replies given.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install httpx==0.28.1 certifi
v/bin/pip -q --disable-pip-version-check install --no-deps bsky-saves==0.6.8 2>/dev/null
cat > run.py <<'PY'
import contextlib, io, json, pathlib, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen
from bsky_saves import threads
print('bsky-saves', version('bsky-saves'))
author, n = {'did': 'did:plc:' + 'a' * 24, 'handle': 'alice.example.com'}, 12
uris = [f"at://{author['did']}/app.bsky.feed.post/3mbcdefghij2{'abcdefghijkl'[i]}" for i in range(n)]
def view(i, depth):
    post = {'uri': uris[i], 'cid': 'bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy', 'author': author, 'indexedAt': '2026-01-01T00:00:00.000Z',
        'replyCount': int(i + 1 < n), 'record': {'$type': 'app.bsky.feed.post', 'text': f'part {i + 1} of {n}', 'createdAt': '2026-01-01T00:00:00.000Z'}}
    return {'$type': 'app.bsky.feed.defs#threadViewPost', 'post': post} | ({'replies': [view(i + 1, depth - 1)] if i + 1 < n else []} if depth else {})
class AppView(BaseHTTPRequestHandler):
    log = []
    def log_message(self, *a): pass
    def do_GET(self):
        q = {k: v[0] for k, v in parse_qs(urlsplit(self.path).query).items()}; AppView.log.append(q)
        body = json.dumps({'thread': view(uris.index(q['uri']), int(q.get('depth', 6)))}).encode()
        self.send_response(200); self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
srv = ThreadingHTTPServer(('127.0.0.1', 0), AppView); threading.Thread(target=srv.serve_forever, daemon=True).start()
base = f'http://127.0.0.1:{srv.server_port}'
def parts(t): return [t['post']['record']['text']] + [p for r in t.get('replies', []) for p in parts(r)]
print('with depth=1000 the server gives', len(parts(json.load(urlopen(f'{base}/xrpc/app.bsky.feed.getPostThread?depth=1000&uri={uris[0]}'))['thread'])), 'parts')
path = pathlib.Path('saves.json'); AppView.log.clear()
path.write_text(json.dumps({'fetched_at': None, 'saves': [{'uri': uris[0], 'saved_at': '2026-01-01T00:00:00.000Z', 'post_text': f'part 1 of {n}', 'author': author, 'images': []}]}))
for run in (1, 2):
    err = io.StringIO()
    with contextlib.redirect_stderr(err): done = threads.hydrate_threads(path, appview=base)
    print('run', run, 'hydrated, failed, remaining:', done, '|', err.getvalue().strip().splitlines()[-1])
kept = [r['text'] for r in json.loads(path.read_text())['saves'][0]['thread_replies']]
print('requests', AppView.log); print('expected', n - 1, 'replies, observed', len(kept), 'the last is', kept[-1])
same = len(kept) == 6 and len(AppView.log) == 1 and 'depth' not in AppView.log[0]
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
