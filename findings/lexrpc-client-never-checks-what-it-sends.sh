#!/usr/bin/env bash
# A lexrpc client, told to validate and to truncate, does neither with what it sends: only bodies of subscriptions, which have none,
# are checked. A post of 305 characters and a record without its required fields go out as they are.
#
# What it is: lexrpc is a Python client and server for the XRPC methods of the AT Protocol, with checks against the lexicons.
# Versions: lexrpc 3.0 (PyPI); the host is a small server on loopback.
# What the docs say: Client(validate=True, the default): "whether to validate schemas, parameters, and input and output bodies"; truncate:
#   "whether to truncate string values that are longer than their maxGraphemes or maxLength"; call() raises ValidationError "if the
#   parameters, input, or returned output don't validate". The lexicon of app.bsky.feed.post: text has at most 300 graphemes.
# Guess: the post arrives with 300 characters and an ellipsis at its end; a follow without subject raises ValidationError, unsent.
# Seen: the host receives 305 characters and the follow without subject, and even an input without repo and collection. validate()
#   called by hand with the same two records truncates the one and raises for the other; a bad parameter of a query does raise.
# Why: the condition is turned round: input is validated if the type of the method is "subscription".
# Wrong for a user: who relies on truncate loses long posts (the host refuses them), and hosts that do not know the lexicon store
#   invalid records for good, which other readers then refuse.
# Instead: call client.validate("app.bsky.feed.post", "record", record) and .validate(method, "input", input) before client.call.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install lexrpc==3.0
cat > run.py <<'PY'
import copy, json, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from lexrpc import Client
from lexrpc.base import ValidationError
print('lexrpc', version('lexrpc'))
got, CREATE = [], 'com.atproto.repo.createRecord'
class Host(BaseHTTPRequestHandler):
    def log_message(self, *a): pass
    def do_POST(self):
        got.append(json.loads(self.rfile.read(int(self.headers['Content-Length']))))
        body = json.dumps({'uri': 'at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3jzfcijpj2z2a', 'cid': 'bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a'}).encode()
        self.send_response(200); self.send_header('Content-Type', 'application/json'); self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
host = ThreadingHTTPServer(('127.0.0.1', 0), Host); threading.Thread(target=host.serve_forever, daemon=True).start()
address, time, did = f'http://127.0.0.1:{host.server_port}', '2026-01-01T00:00:00Z', 'did:plc:ewvi7nxzyoun6zhxrhs64oiz'
post = {'$type': 'app.bsky.feed.post', 'text': 'x' * 305, 'createdAt': time}
follow = {'$type': 'app.bsky.graph.follow', 'createdAt': time}
def attempt(name, act):
    try: result = act()
    except (ValidationError, TypeError) as e: result = f'{type(e).__name__}: {str(e)[:70]}'
    print(name, '->', result); return str(result)
def send(client, input):
    got.clear(); client.call(CREATE, input=input)
    record = got[0].get('record', {})
    return f'sent, text of {len(record["text"])}' if 'text' in record else f'sent {json.dumps(got[0])}'
strict, cut = Client(address), Client(address, truncate=True)
seen = [attempt('call, 305 characters, truncate', lambda: send(cut, {'repo': did, 'collection': 'app.bsky.feed.post', 'record': copy.deepcopy(post)})),
  attempt('call, 305 characters', lambda: send(strict, {'repo': did, 'collection': 'app.bsky.feed.post', 'record': copy.deepcopy(post)})),
  attempt('call, follow without subject', lambda: send(strict, {'repo': did, 'collection': 'app.bsky.graph.follow', 'record': follow})),
  attempt('call, input without repo', lambda: send(strict, {'record': {}}))]
hand = [attempt('validate by hand, truncate', lambda: len(cut.validate('app.bsky.feed.post', 'record', copy.deepcopy(post))['text'])),
  attempt('validate by hand, follow', lambda: strict.validate('app.bsky.graph.follow', 'record', follow)),
  attempt('query with a bad parameter', lambda: strict.call('com.atproto.repo.listRecords', repo=did, collection='app.bsky.feed.post', limit=1000))]
same = seen[:2] == ['sent, text of 305'] * 2 and all(s.startswith('sent') for s in seen) and hand[0] == '300' and all(h.startswith('ValidationError') for h in hand[1:])
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
