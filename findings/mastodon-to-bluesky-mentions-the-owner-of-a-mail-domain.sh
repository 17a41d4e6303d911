#!/usr/bin/env bash
# mastodon-to-bluesky makes a mention of the second half of an e-mail address: "write to press@example.org" notifies the account @example.org. A toot with a
# picture that has no description becomes an invalid record, and createdAt is the local time with a "Z".
#
# What it is: mastodon-to-bluesky (Python) copies the posts of a Mastodon account to Bluesky.
# Versions: mastodon-to-bluesky 1.0.0 (PyPI), on a loopback PDS; @atproto/api 0.21.0 (npm) detects mentions and checks the records for comparison.
# What the spec says: detection in @atproto/api: a mention begins at the start, after a blank or "(". Lexicon app.bsky.embed.images#image: alt is
#   required, and may be empty. Lexicon, datetime: "Z" means UTC.
# Guess: no mention; alt is ""; createdAt is now in UTC, whatever TZ is.
# Seen: a mention with the DID of example.org; no alt, which the check of @atproto/api, and so a PDS, refuses; with TZ=America/New_York a
#   createdAt five hours ago, so that the post is below all that was posted since.
# Why: the pattern "@name" has no condition for what stands before it; the key alt is left out; datetime.now() is taken for UTC.
# Wrong claim for a user: strangers are notified of posts that do not speak of them; posts with undescribed pictures are missing.
# Instead: put the mail address in a form without "@", describe each picture, and run with TZ=UTC.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @atproto/api@0.21.0 2>/dev/null
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install mastodon-to-bluesky==1.0.0
cat > run.py <<'PY'
import json, pathlib, subprocess, threading, types
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from mastodon_to_bluesky.bluesky import BlueskyClient
from mastodon_to_bluesky.models import MastodonPost
from mastodon_to_bluesky.transfer import TransferManager
print('mastodon-to-bluesky', version('mastodon-to-bluesky'))
cid, records = 'bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy', []
class Pds(BaseHTTPRequestHandler):
    def log_message(self, *a): pass
    def do_GET(self): self.answer({'did': 'did:plc:' + 'b' * 24})  # resolveHandle: example.org has an account
    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        if 'uploadBlob' in self.path: return self.answer({'blob': {'$type': 'blob', 'ref': {'$link': cid}, 'mimeType': 'image/jpeg', 'size': 3}})
        records.append(json.loads(body)['record']); self.answer({'uri': 'at://did:plc:' + 'a' * 24 + '/app.bsky.feed.post/3mbcdefghij2k', 'cid': cid})
    def answer(self, reply):
        body = json.dumps(reply).encode(); self.send_response(200); self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
srv = ThreadingHTTPServer(('127.0.0.1', 0), Pds); threading.Thread(target=srv.serve_forever, daemon=True).start()
bluesky = BlueskyClient('alice.example.com', ''); bluesky.pds_url = f'http://127.0.0.1:{srv.server_port}'; bluesky.did = 'did:plc:' + 'a' * 24
manager = TransferManager(types.SimpleNamespace(download_media=lambda url: b'jpg'), bluesky, pathlib.Path('state.json'))
def toot(i, html, **more): manager._transfer_post(MastodonPost(id=str(i), content=html, created_at=datetime(2026, 1, 1, tzinfo=timezone.utc), url='https://example.social/1', **more))
toot(1, '<p>write to press@example.org</p>'); toot(2, '<p>look</p>', media_attachments=[{'type': 'image', 'url': 'https://example.social/a.jpg', 'description': None}])
mentions = [records[0]['text'].encode()[f['index']['byteStart']:f['index']['byteEnd']].decode() + ' ' + f['features'][0].get('did', '') for f in records[0].get('facets', [])]
js = "import {RichText, lexicons, jsonToLex} from '@atproto/api'; const r = JSON.parse(process.argv[1]); const t = new RichText({text: r[0].text}); t.detectFacetsWithoutResolution(); console.log(JSON.stringify([(t.facets ?? []).length, ...r.map((x) => { try { lexicons.assertValidRecord('app.bsky.feed.post', jsonToLex(x)); return 'valid' } catch (e) { return e.message } })]))"
second = json.loads(subprocess.run(['node', '--input-type=module', '-e', js, json.dumps(records)], check=True, capture_output=True, text=True).stdout)
late = round((datetime.now(timezone.utc) - datetime.fromisoformat(records[0]['createdAt'].replace('Z', '+00:00'))).total_seconds() / 3600)
print('mentions: expected', second[0], 'observed', mentions); print('records for @atproto/api:', second[1:]); print('createdAt', records[0]['createdAt'], 'hours ago: expected 0, observed', late)
same = mentions == ['@example.org did:plc:' + 'b' * 24] and second[0] == 0 and second[1] == 'valid' and 'alt' in second[2] and late in (4, 5)
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
TZ=America/New_York v/bin/python run.py
