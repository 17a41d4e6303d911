#!/usr/bin/env bash
# koa-range and RangeHTTPServer send the tail of the new file to a client that holds the head of
# the old one and said so with If-Range; the resumed CSV is made of two publications.
#
# What it is: koa-range, middleware that gives a Koa app Range; RangeHTTPServer, Python's small
#   file server with Range. A client resumes a download that broke off, as RFC 9110 has it:
#   Range for what is missing, If-Range with the validator of what it has.
# Versions: koa-range 0.3.0 with koa 2.16.1 (npm), rangehttpserver 1.4.0 (PyPI); send 1.2.0
#   (npm) to compare with.
# What the spec says: RFC 9110 section 13.1.5: a recipient of If-Range MUST ignore the Range
#   field if the condition is false, so a changed file is sent whole, with 200.
# Guess: 200 with the whole new file.
# Seen: 206 with the rest of the new file. No error anywhere, and the joined file is a proper
#   CSV of the right length. send answers 200 with the whole file.
# Wrong number for a user: hours 00 and 01 with the old counts and 02 and 03 with the corrected
#   ones in one table that no publisher ever published.
# Instead: send, or drop Accept-Ranges and the Range field where files get replaced; clients:
#   compare the ETag or Last-Modified of a 206 with the one they hold before joining.
set -euo pipefail
T=$(mktemp -d); PY=; trap 'kill $PY 2>/dev/null; rm -rf "$T"' EXIT; cd "$T"; mkdir www
npm init -y >/dev/null && npm i -s --no-audit --no-fund --ignore-scripts koa-range@0.3.0 koa@2.16.1 send@1.2.0
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install rangehttpserver==1.4.0
cat > serve.py <<'PY'
import http.server, os
from RangeHTTPServer import RangeRequestHandler
os.chdir('www')
s = http.server.ThreadingHTTPServer(('127.0.0.1', 0), RangeRequestHandler)
print(s.server_port, flush=True); s.serve_forever()
PY
v/bin/python serve.py > port 2>/dev/null & PY=$!; until [ -s port ]; do sleep 0.1; done
cat > run.js <<'JS'
const fs = require('fs'), http = require('http'), Koa = require('koa'), range = require('koa-range'), send = require('send')
const v = p => p + ' ' + JSON.parse(fs.readFileSync(`node_modules/${p}/package.json`)).version
console.log(v('koa-range') + ',', v('koa') + ',', 'rangehttpserver 1.4.0,', v('send'))
const csv = n => 'hour,stars\n' + [0, 1, 2, 3].map(h => `2026-01-01T0${h}:00:00Z,${n + h}\n`).join('')
const publish = (n, t) => { fs.writeFileSync('www/s.csv', csv(n)); fs.utimesSync('www/s.csv', t, t) }
const app = new Koa(); app.use(range)
app.use(ctx => { ctx.body = fs.readFileSync('www/s.csv'); ctx.type = 'csv'; ctx.etag = String(fs.statSync('www/s.csv').mtimeMs) })
const listen = f => new Promise(r => { const s = http.createServer(f).listen(0, '127.0.0.1', () => r(s)) })
const get = (port, headers) => new Promise((r, e) => http.get({ host: '127.0.0.1', port, path: '/s.csv', headers, agent: false }, res => {
  let b = ''; res.on('data', d => b += d).on('end', () => r({ status: res.statusCode, h: res.headers, b })) }).on('error', e))
;(async () => {
  const servers = { 'koa-range': await listen(app.callback()), send: await listen((q, s) => send(q, 's.csv', { root: 'www' }).pipe(s)) }
  const ports = { RangeHTTPServer: Number(fs.readFileSync('port')), 'koa-range': servers['koa-range'].address().port, send: servers.send.address().port }
  const got = {}
  for (const [name, port] of Object.entries(ports)) {
    publish(100, 1767225600)                                   // the head of the first publication arrives
    const first = await get(port, {}), head = first.b.slice(0, csv(100).indexOf('2026-01-01T02'))
    publish(500, 1767229200)                                   // then it is replaced
    const r = await get(port, { Range: `bytes=${head.length}-`, 'If-Range': first.h.etag || first.h['last-modified'] })
    const file = r.status === 206 ? head + r.b : r.b
    got[name] = [r.status, file.trim().split('\n').slice(1).map(l => l.split(',')[1]).join(' ')]
    console.log(name.padEnd(15), 'expected 200 and 500 501 502 503, observed', got[name][0], 'and', got[name][1])
  }
  const same = ['koa-range', 'RangeHTTPServer'].every(n => got[n].join() === '206,100 101 502 503') && got.send.join() === '200,500 501 502 503'
  console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
})()
JS
node run.js
