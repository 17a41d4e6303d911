#!/usr/bin/env bash
# A lexrpc server answers with the JSON text "" where its method returned an empty object, such as the usual result of
# deleteRecord. lexrpc's own client refuses that answer after the record is gone.
#
# What it is: lexrpc is a Python client and server for XRPC, the HTTP interface of the AT Protocol.
# Versions: lexrpc 3.0 with Flask 3.1.2 (PyPI).
# What the spec says: the Lexicon specification: an output with a schema of type object is a JSON object. com.atproto.repo.deleteRecord
#   has such an output, with one property that is not required, so that {} is valid and "" is not.
# Guess: the method returns {}, the body is {}, and the client returns {}.
# Seen: the body is "" (two quotation marks) with status 200 and application/json, though the server validated the {} before.
#   lexrpc.Client raises a ValidationError ("has unexpected type str") after the method has run. A result with a property is right.
# Why: the handler encodes "output or ''" as JSON, and an empty dict is false in Python.
# Wrong for a user: each deletion looks failed on the client and is tried again, or ends a batch after its first record; with other
#   clients answer.commit of a string is undefined, and Object.keys(answer) happens to be empty.
# Instead: return a property with it, or wrap the app and answer {} where the body is "".
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install --no-compile 'lexrpc[flask]==3.0' flask==3.1.2 >/dev/null
cat > run.py <<'PY'
import logging, threading
from importlib.metadata import version
import requests
from flask import Flask
from lexrpc import Client, Server
from lexrpc.base import ValidationError
from lexrpc.flask_server import init_flask
from werkzeug.serving import make_server
logging.disable(logging.CRITICAL)
print('lexrpc', version('lexrpc'))
records, answers = {'one': 1, 'two': 2}, {'one': {}, 'two': {'commit': {'cid': 'bafyreihyrpefhacm6kkp4ql6j6udakdit7g3dmkzfriqfykhjw6cad5lrm', 'rev': '3jzfcijpj2z2a'}}}
server = Server()

@server.method('com.atproto.repo.deleteRecord')
def delete(input):
    records.pop(input['rkey'])
    return answers[input['rkey']]

app = Flask('pds')
init_flask(server, app)
http = make_server('127.0.0.1', 0, app, threaded=True)
threading.Thread(target=http.serve_forever, daemon=True).start()
address = f'http://127.0.0.1:{http.server_port}'
body = lambda rkey: {'repo': 'did:web:hours.example', 'collection': 'example.hours.count', 'rkey': rkey}
seen = []
for rkey in ('one', 'two'):
    raw = requests.post(f'{address}/xrpc/com.atproto.repo.deleteRecord', json=body(rkey))
    records[rkey] = 0
    try:
        result = Client(address).call('com.atproto.repo.deleteRecord', body(rkey))
    except ValidationError as error:
        result = f'ValidationError: {error}'
    seen.append((raw.status_code, raw.headers['Content-Type'], raw.json(), result))
    print('the method returned', answers[rkey], '| body: expected the same, observed', raw.text, '| client:', result)
print('records left', records)
same = (seen[0][:3] == (200, 'application/json', '') and 'unexpected type str' in seen[0][3] and seen[1][2] == seen[1][3] == answers['two']
        and records == {})
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
