#!/usr/bin/env bash
# sseclient-py gives the id None for an event that has no id line of its own, where the standard gives it the last one. Who
# keeps the id of the last event to go on from there starts without a position.
#
# What it is: sseclient-py turns a stream of bytes into Server-Sent Events; connecting again is left to its user.
# Versions: sseclient-py 1.9.0, httpx-sse 0.4.3 for comparison (PyPI).
# What the spec says: HTML, 9.2.6: the last event ID is kept from event to event; each event carries it as lastEventId, and an
#   event without an id line carries that of the event before. Only an empty id line takes it back.
# Guess: the ids "1", "1" and "2" for an event with id 1, one without and one with id 2; then "" after an empty id line.
# Seen: "1", None, "2", "" and, for the next without an id line, None. The README does not speak of ids.
#   httpx-sse gives "1", "1", "2", "" and "".
# Why: each event is a new object whose id is None until an id line of its own comes; the reader itself keeps none.
# Wrong number for a user: with "last = event.id" after each event, as one does in a browser, a connection that breaks after a
#   remark or a heartbeat event without an id is opened again without Last-Event-ID: what came in between is lost, or the
#   whole replay comes again and is counted twice.
# Instead: if event.id is not None: last = event.id. Or httpx-sse.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v
v/bin/pip -q --disable-pip-version-check install --no-compile sseclient-py==1.9.0 httpx-sse==0.4.3 httpx==0.28.1 >/dev/null
cat > run.py <<'PY'
from importlib.metadata import version
import httpx
from httpx_sse import EventSource
import sseclient

print('sseclient-py', version('sseclient-py'), '/ httpx-sse', version('httpx-sse'))
STREAM = b'id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n\nid\ndata: d\n\ndata: e\n\n'

class Source:
    def __iter__(self):
        yield STREAM

    def close(self):
        pass

answer = httpx.Response(200, headers={'content-type': 'text/event-stream'}, content=STREAM)
expected = [(event.data, event.id) for event in EventSource(answer).iter_sse()]
observed = [(event.data, event.id) for event in sseclient.SSEClient(Source()).events()]
print('expected (httpx-sse)', expected)
print('observed            ', observed)
same = expected == [('a', '1'), ('b', '1'), ('c', '2'), ('d', ''), ('e', '')]
same = same and observed == [('a', '1'), ('b', None), ('c', '2'), ('d', ''), ('e', None)]
print('still as stated' if same else 'changed')
raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
