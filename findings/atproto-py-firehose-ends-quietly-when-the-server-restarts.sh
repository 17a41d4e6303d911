#!/usr/bin/env bash
# WHAT: the reconnecting firehose client of the Python SDK does not reconnect when the server says goodbye politely: start()
#       returns, without an exception, on close codes 1000 and 1001. After other codes it does reconnect.
# VERSIONS: atproto 0.0.73 (with the websockets 17.4 that it is run with here).
# WHAT THE SPEC SAYS: 1001 means the endpoint is going away, for instance because the server is going down (RFC 6455 section
#       7.4.1); an AT Protocol event stream has no end, and a consumer comes back with its cursor. The class is described
#       as a reconnecting websocket client.
# GUESS: a restart of the server (1001, or 1000) is followed by a new connection, as after 1011 or 1012.
# SEEN: one connection and a normal return for 1000 and 1001; several connections for 1011.
# WHY IT HURTS: a clean restart of a relay or a load balancer, the everyday case, ends ingestion for good, while a crash does
#       not. A script whose last line is client.start(handler) exits with status 0, so a supervisor set to restart on failure
#       leaves it down. The series just stops.
# INSTEAD: call start() in a loop of your own, with the last seen seq put into the cursor parameter before each round.
set -euo pipefail
command -v python3 >/dev/null
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
cd "$T"
python3 -m venv v
v/bin/pip -q --disable-pip-version-check install --no-compile atproto==0.0.73 websockets==17.4
cat > probe.py <<'PY'
import sys, threading, time
from importlib.metadata import version
import libipld
from atproto import FirehoseSubscribeReposClient
from websockets.sync.server import serve

def frame(seq):
    return (libipld.encode_dag_cbor({'op': 1, 't': '#identity'})
            + libipld.encode_dag_cbor({'seq': seq, 'did': 'did:plc:aaaabbbbccccddddeeeeffff', 'time': '2026-01-01T00:00:00.000Z'}))

def run(code, seconds=7):
    connections, events, end = [0], [], []
    def handler(ws):
        connections[0] += 1
        ws.send(frame(connections[0]))
        time.sleep(0.2)
        ws.close(code)
    server = serve(handler, '127.0.0.1', 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = FirehoseSubscribeReposClient(base_uri=f'ws://127.0.0.1:{server.socket.getsockname()[1]}/xrpc')
    def go():
        try:
            client.start(events.append)
            end.append('returned')
        except Exception as e:
            end.append('raised ' + type(e).__name__)
    t = threading.Thread(target=go, daemon=True)
    t.start()
    t.join(seconds)
    state = end[0] if end else 'running'
    client.stop()
    server.shutdown()
    return connections[0], state

print('atproto', version('atproto'), '| websockets', version('websockets'))
seen = {c: run(c) for c in (1000, 1001, 1011)}
for c, (n, state) in seen.items():
    print(f'close {c}: expected several connections, still running | observed {n} connection(s), {state}')
ok = seen[1000] == (1, 'returned') and seen[1001] == (1, 'returned') and seen[1011][0] >= 2 and seen[1011][1] == 'running'
sys.exit(0 if ok else 1)
PY
if timeout 110 v/bin/python probe.py; then echo 'STILL SO: a polite close ends the client'; else echo 'CHANGED'; exit 1; fi
