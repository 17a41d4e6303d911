#!/usr/bin/env bash
# httpx-sse hands out an event with empty data for every heartbeat comment that follows an event with an id, and for a block
# that has only a retry, an id or an event line.
#
# What it is: httpx-sse reads Server-Sent Events with httpx.
# Versions: httpx-sse 0.4.3, httpx 0.28.1; launchdarkly-eventsource 1.7.4 for comparison (PyPI).
# What the spec says: HTML, 9.2.6: a line that starts with a colon is ignored; at a blank line with an empty data buffer nothing is
#   dispatched, and only the event type is reset. The last event ID stays, for later events.
# Guess: two events, with the data "one" and "two", from the stream below.
# Seen: six. Before the first event with an id a comment makes none; after it each does, with the type message, the data "" and
#   the id of the event before, so that it looks like that event again without its data. "retry: 5000" makes one too.
# Why: at a blank line the event is dropped only if type, data, id and retry are all empty; the id stays from the last event, as it
#   should, and so the condition is never met again.
# Wrong for a user: json.loads("") raises in the loop at the first quiet quarter of a minute, not in tests with a busy stream;
#   who counts events counts heartbeats.
# Instead: skip events without data (if not event.data: continue), or launchdarkly-eventsource.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v
v/bin/pip -q --disable-pip-version-check install --no-compile httpx-sse==0.4.3 httpx==0.28.1 launchdarkly-eventsource==1.7.4 >/dev/null
cat > run.py <<'PY'
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
import httpx
from httpx_sse import connect_sse
from ld_eventsource import SSEClient
from ld_eventsource.actions import Event

print('httpx-sse', version('httpx-sse'), '/ launchdarkly-eventsource', version('launchdarkly-eventsource'))
STREAM = b': heartbeat\n\nid: 1\ndata: one\n\n: heartbeat\n\n: heartbeat\n\nretry: 5000\n\nevent: hour\n\nid: 2\ndata: two\n\n'

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Type', 'text/event-stream')
        self.send_header('Content-Length', str(len(STREAM)))
        self.end_headers()
        self.wfile.write(STREAM)

    def log_message(self, *_):
        pass

server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f'http://127.0.0.1:{server.server_port}/'
with httpx.Client(trust_env=False) as client, connect_sse(client, 'GET', url) as source:
    seen = [(event.id, event.event, event.data) for event in source.iter_sse()]
other = []
client = SSEClient(url)
for action in client.all:
    if isinstance(action, Event):
        other.append((action.last_event_id, action.event, action.data))
        if action.data == 'two':
            break
client.close()
server.shutdown()
print('stream', STREAM.decode().splitlines())
print('expected', [('1', 'message', 'one'), ('2', 'message', 'two')])
print('observed', seen)
print('launchdarkly-eventsource', other)
stated = [('1', 'message', 'one'), ('1', 'message', ''), ('1', 'message', ''), ('1', 'message', ''), ('1', 'hour', ''), ('2', 'message', 'two')]
same = seen == stated and other == [('1', 'message', 'one'), ('2', 'message', 'two')]
print('still as stated' if same else 'changed')
raise SystemExit(0 if same else 1)
PY
NO_PROXY='*' v/bin/python run.py
