#!/usr/bin/env bash
# Four client caches ignore the Age field: an answer that a shared cache has already held for
# 59 of its 60 seconds is kept for 60 seconds more.
#
# What it is: requests-cache, CacheControl and hishel (Python), make-fetch-happen (Node).
#   got and undici (Node) are run beside them for comparison.
# Versions: requests-cache 1.3.3, CacheControl 0.14.4, hishel 2.0.0, requests 2.34.2 (PyPI);
#   make-fetch-happen 15.0.6, got 14.6.6, undici 7.30.2 (npm).
# What the spec says: RFC 9111 section 4.2.3: current_age starts from the larger of Age and
#   (now - Date); section 4.2: fresh only while freshness_lifetime > current_age. So with
#   max-age=60 and Age: 59 (and a Date that the intermediary stamped anew) the answer is
#   fresh for about one second.
# Guess: after two seconds every one of them asks the origin again.
# Seen: got and undici ask again; requests-cache (cache_control=True), CacheControl, hishel
#   (rfc=True) and make-fetch-happen answer from store; hishel and make-fetch-happen even
#   hand out a smaller Age than the one they received.
# Wrong number for a user: behind a CDN, "at most an hour old" data can be two hours old, and
#   the Age shown says minutes.
# Instead: take the time from inside the data (or the ETag), not from Age; where it matters
#   use a cache that counts Age, or ask with Cache-Control: no-cache.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund make-fetch-happen@15.0.6 got@14.6.6 undici@7.30.2 >/dev/null
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install 'hishel[requests]==2.0.0' requests-cache==1.3.3 CacheControl==0.14.4 requests==2.34.2
cat > run.mjs <<'JS'
import http from 'node:http'
import { readFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import mfh from 'make-fetch-happen'
import got from 'got'
import { Agent, interceptors, request } from 'undici'
for (const p of ['make-fetch-happen', 'got', 'undici']) console.log(p, JSON.parse(readFileSync(`node_modules/${p}/package.json`)).version)
const hits = {}
const srv = http.createServer((q, r) => {
  hits[q.url] = (hits[q.url] || 0) + 1
  r.writeHead(200, { 'Cache-Control': 'max-age=60', Age: '59', Date: new Date().toUTCString(), 'Content-Type': 'text/plain' }); r.end('stars=5')
})
await new Promise(d => srv.listen(0, '127.0.0.1', d))
const base = `http://127.0.0.1:${srv.address().port}`, wait = ms => new Promise(d => setTimeout(d, ms))
const f = mfh.defaults({ cachePath: './cache', retry: false }), cache = new Map(), dispatcher = new Agent().compose(interceptors.cache())
const clients = {
  'make-fetch-happen': async u => { const r = await f(u); await r.text(); return r.headers.get('age') },
  got: async u => { const r = await got(u, { cache }); return r.headers.age },
  undici: async u => { const r = await request(u, { dispatcher }); await r.body.text(); return r.headers.age },
}
const py = new Promise(d => spawn('v/bin/python', ['run.py', base], { stdio: 'inherit' }).on('close', d))
const age = {}
for (const c in clients) await clients[c](`${base}/${c}`)
await wait(2300)
for (const c in clients) age[c] = await clients[c](`${base}/${c}`)
await py
console.log('second-answer Age:', JSON.stringify(age))
const seen = { 'make-fetch-happen': 1, got: 2, undici: 2, 'requests-cache': 1, CacheControl: 1, hishel: 1 }
let same = true
for (const c in seen) { console.log(c.padEnd(18), 'expected 2 requests at the origin, observed', hits['/' + c]); same &&= hits['/' + c] === seen[c] }
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
cat > run.py <<'PY'
import sys, time
from importlib.metadata import version
import requests
from requests_cache import CachedSession
from cachecontrol import CacheControl
from hishel import SqliteStorage
from hishel.requests import CacheAdapter
for p in ('requests-cache', 'CacheControl', 'hishel'): print(p, version(p))
h = requests.Session(); h.mount('http://', CacheAdapter(storage=SqliteStorage(database_path='c.db'), rfc=True))
clients = {'requests-cache': CachedSession(backend='memory', cache_control=True), 'CacheControl': CacheControl(requests.Session()), 'hishel': h}
for n, s in clients.items(): s.get(f'{sys.argv[1]}/{n}')
time.sleep(2.3)
for n, s in clients.items(): print(n, 'second answer, Age', s.get(f'{sys.argv[1]}/{n}').headers.get('Age'))
PY
node run.mjs
