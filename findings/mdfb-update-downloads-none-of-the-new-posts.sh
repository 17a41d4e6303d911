#!/usr/bin/env bash
# "mdfb download --update", which promises all posts since the last download, finds none of them as soon as a known post follows on the same page: three new
# posts in front of the known ones are dropped, and the same happens the next day.
#
# What it is: mdfb (Python) downloads the posts, likes and reposts of a Bluesky account and remembers in a database which it has.
# Versions: mdfb 1.7.2 with atproto 0.0.68 (PyPI), on a loopback server that answers com.atproto.repo.listRecords.
# What the docs say: README: --update "downloads all of the latest posts that haven't been downloaded". Lexicon com.atproto.repo.listRecords: records come
#   newest first (reverse turns that round), 50 to a page by default, 100 at most.
# Guess: the database knows 97 posts of 100; --update gives the 3 new ones.
# Seen: none. With 103 new ones, the 100 of the first page; the other 3 never, once the 100 are known.
# Why: at the first known post the new ones of that page are returned if there are none, and given up if there are some.
# Wrong claim for a user: an archive that is updated daily stays as it was on its first day, and says that there is nothing new.
# Instead: --limit with a number above that of the new posts, in the place of --update.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; mkdir home
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install mdfb==1.7.2 atproto==0.0.68
cat > run.py <<'PY'
import json, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from urllib.parse import parse_qs, urlsplit
import atproto
from mdfb.core import uri_fetcher
from mdfb.core.get_post_identifiers import PostIdentifierFetcher
from mdfb.utils.database import Database
print('mdfb', version('mdfb'), 'atproto', version('atproto'))
did, letters = 'did:plc:' + 'a' * 24, '234567abcdefghijklmnopqrstuvwxyz'
def uri(i): return f'at://{did}/app.bsky.feed.post/3mbcdefg{letters[i // 32]}{letters[i % 32]}222'
shelf = {'newest': 99}
class Pds(BaseHTTPRequestHandler):
    def log_message(self, *a): pass
    def do_GET(self):
        q = {k: v[0] for k, v in parse_qs(urlsplit(self.path).query).items()}
        known = [i for i in range(shelf['newest'], -1, -1) if not q.get('cursor') or uri(i).rsplit('/')[-1] < q['cursor']][:int(q.get('limit', 50))]
        records = [{'uri': uri(i), 'cid': 'bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy', 'value': {'$type': 'app.bsky.feed.post', 'text': f'post {i}', 'createdAt': '2026-01-01T00:00:00.000Z'}} for i in known]
        body = json.dumps({'records': records} | ({'cursor': uri(known[-1]).rsplit('/')[-1]} if known else {})).encode()
        self.send_response(200); self.send_header('Content-Type', 'application/json'); self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
srv = ThreadingHTTPServer(('127.0.0.1', 0), Pds); threading.Thread(target=srv.serve_forever, daemon=True).start()
client = atproto.Client(f'http://127.0.0.1:{srv.server_port}/xrpc'); uri_fetcher.Client = lambda *a: client; uri_fetcher.DELAY = 0
db = Database()
def fetch(**how): return PostIdentifierFetcher(did, 'post', db).fetch(**how)
def learn(posts): db.insert_post([(did, p['user_post_uri'][0], 'post', p['poster_post_uri']) for p in posts]); db.connection.commit()
first = fetch(archive=True); print('first download:', len(first), 'posts'); learn([p for p in first if p['poster_post_uri'] <= uri(96)])
three = len(fetch(archive=True, update=True)); print('3 new posts: expected 3, observed', three)
learn(first); shelf['newest'] = 202
many = fetch(archive=True, update=True); learn(many); rest = len(fetch(archive=True, update=True))
print('103 new posts: expected 103, observed', len(many), 'and in the next run', rest)
same = (len(first), three, len(many), rest) == (100, 0, 100, 0)
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
HOME=$T/home XDG_DATA_HOME=$T/home v/bin/python run.py
