#!/usr/bin/env bash
# ratelimit-headers adds the Unix time in an AT Protocol server's RateLimit-Reset to the present:
# the limit of five minutes is reset in 2083, and "retry after" is 1.8 billion seconds.
#
# What it is: ratelimit-headers, a Python reader of rate limit fields of all kinds; xrpc-server, on
#   which Bluesky's PDS is built, sends RateLimit-Limit, -Remaining, -Reset and -Policy.
# Versions: ratelimit-headers 0.1.0 (PyPI); @atproto/xrpc-server 0.13.2 with express 5.1.0, and
#   ratelimit-header-parser 0.1.0 (npm) to compare with.
# What the spec says: the IETF draft these fields come from (up to -06): RateLimit-Reset is a number
#   of seconds from now; xrpc-server puts the Unix time of the reset there, as GitHub does under
#   another name. The README: "heterogeneous formats into a single canonical" state.
# Guess: some minutes from now, as no window lasts 56 years.
# Seen: reset is in 2083, retry_after 1796..., for a window of 300 s (w=300 in the Policy, which is
#   not read: window is None). ratelimit-header-parser takes numbers over a billion for Unix times.
# Wrong claim for a user: a client that sleeps retry_after seconds at the end of its quota never
#   comes back; a dashboard shows the next reset in 2083.
# Instead: for AT Protocol hosts compute reset - now from the field itself.
set -euo pipefail
T=$(mktemp -d); N=; trap 'kill $N 2>/dev/null; rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null && npm i -s --no-audit --no-fund --ignore-scripts @atproto/xrpc-server@0.13.2 express@5.1.0 ratelimit-header-parser@0.1.0
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install ratelimit-headers==0.1.0
cat > serve.js <<'JS'
const { createServer, MemoryRateLimiter } = require('@atproto/xrpc-server'), app = require('express')()
const server = createServer([{ lexicon: 1, id: 'io.example.hours', defs: { main: { type: 'query', output: { encoding: 'application/json' } } } }],
  { rateLimits: { creator: o => new MemoryRateLimiter(o), global: [{ name: 'global', durationMs: 300000, points: 3000 }] } })
server.method('io.example.hours', () => ({ encoding: 'application/json', body: { ok: true } }))
app.use(server.router); const s = app.listen(0, '127.0.0.1', () => console.log(s.address().port))
JS
node serve.js > port & N=$!; until [ -s port ]; do sleep 0.1; done
cat > other.mjs <<'JS'
import { parseRateLimit } from 'ratelimit-header-parser'
const { reset } = parseRateLimit(await fetch(`http://127.0.0.1:${process.argv[2]}/xrpc/io.example.hours`))
const s = Math.round((reset - Date.now()) / 1000); console.log('ratelimit-header-parser: reset in', s > 290 && s <= 300 ? 'about 300' : s, 's'); process.exit(s > 290 && s <= 300 ? 0 : 1)
JS
cat > run.py <<'PY'
import sys, urllib.request
from importlib.metadata import version
from ratelimit_headers import parse
print('ratelimit-headers', version('ratelimit-headers'), '@atproto/xrpc-server 0.13.2')
h = urllib.request.urlopen(f'http://127.0.0.1:{sys.argv[1]}/xrpc/io.example.hours').headers
print({k: v for k, v in h.items() if k.startswith('RateLimit')})
s = parse(response_headers=dict(h.items()))
print('retry_after expected about 300, observed', s.retry_after, '; reset', s.reset.date(), '; window', s.window, '; remaining', s.remaining)
raise SystemExit(0 if s.retry_after == int(h['RateLimit-Reset']) and s.reset.year > 2080 and s.window is None else 1)
PY
if v/bin/python run.py "$(cat port)" && node other.mjs "$(cat port)"; then echo 'still as stated'; else echo changed; exit 1; fi
