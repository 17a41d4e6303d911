#!/usr/bin/env bash
# Flask-RangeRequest gives every range of a file another ETag, so a download can be resumed
# once at most: the tag of a part matches nothing, and the whole file is sent again and again.
#
# What it is: a helper that adds Range and If-Range to a Flask view.
# Versions: Flask-RangeRequest 0.0.2, Flask 3.1.1 (PyPI).
# What the spec says: RFC 9110 section 15.3.7: a 206 MUST carry the ETag that a 200 to the same
#   request would have carried; section 15.3.7.3: parts may be combined only if they share one
#   strong validator.
# Guess: one file, one ETag, whatever part of it is sent.
# Seen: three parts of an unchanged file come under three tags. A client that resumes from a part
#   (Range with If-Range: the tag of the part it holds) gets 200 and the whole file, and one that
#   compares the tags before joining, as it must, sees four different files.
# Wrong claim for a user: "the file changed while it was being read" on each try, though the
#   publication has been the same for days; the download of a large file never ends.
# Instead: flask.send_file(conditional=True), which does all of it.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install Flask-RangeRequest==0.0.2 Flask==3.1.1
cat > run.py <<'PY'
import http.client, io, threading
from datetime import datetime, timezone
from importlib.metadata import version
from flask import Flask, send_file
from flask_rangerequest import RangeRequest
from werkzeug.serving import make_server, WSGIRequestHandler
print('Flask-RangeRequest', version('Flask-RangeRequest'), 'Flask', version('Flask'))
csv = ('hour,stars\n' + ''.join(f'2026-01-01T{h:02}:00:00Z,{h}\n' for h in range(6))).encode()
tag, when, app = RangeRequest.make_etag(io.BytesIO(csv)), datetime(2026, 1, 1, 6, tzinfo=timezone.utc), Flask('t')
@app.route('/s.csv')
def helper(): return RangeRequest(io.BytesIO(csv), etag=tag, last_modified=when, size=len(csv)).make_response()
@app.route('/flask.csv')
def plain(): return send_file(io.BytesIO(csv), 'text/csv', etag=tag.strip('"'), last_modified=when, conditional=True)
class Quiet(WSGIRequestHandler):
    def log(self, *a): pass
server = make_server('127.0.0.1', 0, app, request_handler=Quiet); threading.Thread(target=server.serve_forever, daemon=True).start()
def get(path, **h):
    c = http.client.HTTPConnection('127.0.0.1', server.server_port)
    c.request('GET', path, headers={k.replace('_', '-'): v for k, v in h.items()}); r = c.getresponse(); body = r.read(); c.close()
    return r.status, r.headers['ETag'], len(body)
out = {}
for path in ('/s.csv', '/flask.csv'):
    whole = get(path)
    parts = [get(path, Range=f'bytes={a}-{a + 39}') for a in (0, 40, 80)]
    resumed = get(path, Range='bytes=40-', If_Range=parts[0][1])
    out[path] = len({whole[1], *(p[1] for p in parts)}), [p[0] for p in parts], resumed[0], resumed[2]
    print(path, 'tags of one file: expected 1, observed', out[path][0], ' parts', out[path][1])
    print('   resumed from the first part: expected (206, %d), observed' % (len(csv) - 40), out[path][2:])
same = out['/s.csv'] == (4, [206] * 3, 200, len(csv)) and out['/flask.csv'] == (1, [206] * 3, 206, len(csv) - 40)
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
