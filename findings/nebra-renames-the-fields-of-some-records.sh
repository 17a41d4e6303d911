#!/usr/bin/env bash
# nebra hands out a post or any other record of Bluesky with renamed fields (created_at, py_type, a row of nulls), records of other kinds as
# they were written: one program that reads record["$type"] and record["createdAt"] works for one and fails for the other.
#
# What it is: nebra streams and sends scientific records on the AT Protocol from Python, over Jetstream.
# Versions: nebra 0.2.0, atproto 0.0.73, websockets 17.4 (plays Jetstream on loopback) (PyPI).
# What the docs say: README: "nebra can stream any type of record in real-time", "all records ... to your console"; atproto.com, data model:
#   field names are part of the data, "$type" names the lexicon of a record, and null is not the same as a field left out.
# Guess: the handler gets two events of one shape, each record with the fields that its author wrote, floats decoded.
# Seen: the record of eco.example.transient has "$type", "createdAt" and "peakMag"; the post has "py_type", "created_at" and fields that
#   nobody wrote: embed, entities, facets, langs, reply, tags = null. The envelope of both has "py_type" for "$type". Which records are
#   concerned depends on the lexicons that the installed atproto knows, so an upgrade of that can change it.
# Wrong for a user: filters on "$type" or "createdAt" find no posts; a record stored as JSON and written again is another record with
#   another CID, and nebra.send(record) fails for want of "$type".
# Instead: read the events with atproto_jetstream and call message.model_dump(by_alias=True, exclude_none=True), or read Jetstream's own JSON.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install nebra==0.2.0 atproto==0.0.73 2>/dev/null
cat > run.py <<'PY'
import json, os, threading
from importlib.metadata import version
from websockets.sync.server import serve
import nebra
from nebra.floats import encode_floats_in_event
print('nebra', version('nebra'), 'atproto', version('atproto'), 'websockets', version('websockets'))
did, time = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz', '2026-01-01T00:00:00.000000Z'
records = [{'$type': 'eco.example.transient', 'createdAt': time, 'peakMag': 17.5}, {'$type': 'app.bsky.feed.post', 'createdAt': time, 'text': 'a nova'}]
def jetstream(ws):
    for seq, record in enumerate(records, 1):
        ws.send(json.dumps({'$type': 'message', 'payload': {'$type': 'network.bsky.jetstream.subscribeEvents#commit', 'did': did, 'seq': seq,
          'collection': record['$type'], 'operation': 'create', 'rev': '3jzfcijpj2z2a', 'rkey': '3jzfcijpj2z2a', 'time': time,
          'cid': 'bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a', 'record': encode_floats_in_event(record)}}))
    for _ in ws: pass
server = serve(jetstream, '127.0.0.1', 0, subprotocols=['xrpc.v1.json']); threading.Thread(target=server.serve_forever, daemon=True).start()
seen = []
def handler(event):
    print('envelope', sorted(event)); print('record  ', json.dumps(event['record'])); seen.append(event)
    if len(seen) < 2: return
    other, post = (e['record'] for e in seen)
    same = other == records[0] and '$type' not in post and post['py_type'] == 'app.bsky.feed.post' and post['created_at'] == time and post['embed'] is None and '$type' not in event
    print('still as stated' if same else 'changed', flush=True); os._exit(0 if same else 1)
nebra.stream(message_handler=handler, base_url=f'ws://127.0.0.1:{server.socket.getsockname()[1]}/xrpc', compress=False)
PY
v/bin/python run.py
