#!/usr/bin/env bash
# A server that restarts says so with close code 1012, and 1013 if it is overloaded: faye-websocket reports 1002, protocol error, and
# tells the server the same; ws4py reports 1005, "no code", and answers with 1005, which may never be sent.
#
# What it is: WebSocket clients for Node.js and Python.
# Versions: faye-websocket 0.11.4 with websocket-driver 0.8.0, ws 8.23.0 (npm); ws4py 0.6.0 (PyPI).
# What the spec says: 1012 (service restart), 1013 (try again later) and 1014 (bad gateway) are in IANA's registry of close codes, which
#   RFC 6455 section 11.7 sets up; section 7.1.5: the close code is the one in the close frame that was received. 1002 says that
#   the other side broke the protocol, 1005 says that the frame had no code.
# Guess: code 1012 and the server's words.
# Seen: both know 1000 to 1011 (and 3000 to 4999) only. faye-websocket gives 1002 with the words of the server as its reason; ws4py gives
#   1005 with "Invalid Closing Frame Code: 1012", and sends 1005 (section 7.4.1: must not be sent). 1001 and 1011 are right.
# Wrong claim for a user: a reader that comes back after 1012 and 1013, but gives up at 1002, stays away after each restart of the server; the
#   log of either side blames the other for broken frames.
# Instead: ws, or websockets for Python; or treat 1002 and 1005 like a lost connection.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund faye-websocket@0.11.4 websocket-driver@0.8.0 ws@8.23.0 >/dev/null
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install ws4py==0.6.0
cat > client.py <<'PY'
import sys
from ws4py.client.threadedclient import WebSocketClient
class Client(WebSocketClient):
    def closed(self, code, reason=None): print(code, reason.decode() if isinstance(reason, bytes) else reason)
c = Client(sys.argv[1]); c.connect(); c.run_forever()
PY
cat > run.cjs <<'JS'
const { execFile } = require('child_process')
const faye = require('faye-websocket'), WebSocket = require('ws')
for (const name of ['faye-websocket', 'websocket-driver', 'ws']) console.log(name, require(`./node_modules/${name}/package.json`).version)
let told                                                             // what the client says to the server
const server = new WebSocket.Server({ port: 0, host: '127.0.0.1' }, async () => {
  const url = (code) => `ws://127.0.0.1:${server.address().port}/${code}`
  let same = true
  for (const code of [1001, 1011, 1012, 1013, 1014]) {
    const seen = {}
    const ask = async (name, how) => { const back = new Promise((r) => { told = r }); seen[name] = `${await how()} (answers ${await back})` }
    await ask('ws', () => new Promise((r) => new WebSocket(url(code)).on('close', (c, why) => r(`${c} ${why}`))))
    await ask('faye-websocket', () => new Promise((r) => new faye.Client(url(code)).on('close', (e) => r(`${e.code} ${e.reason}`))))
    await ask('ws4py', () => new Promise((r) => execFile('v/bin/python', ['client.py', url(code)], { timeout: 15000 }, (e, out) => r(out.trim()))))
    console.log(`sent ${code} "in a minute":`, seen)
    const right = `${code} in a minute (answers ${code})`, known = code < 1012
    same &&= seen.ws === right && (seen['faye-websocket'] === right) === known && seen.ws4py.startsWith(`${code} in a minute`) === known
    if (!known) same &&= seen['faye-websocket'] === '1002 in a minute (answers 1002)' && seen.ws4py === `1005 Invalid Closing Frame Code: ${code} (answers 1005)`
  }
  console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
})
server.on('connection', (ws, req) => {
  ws.on('error', () => {})
  ws._socket.prependListener('data', (d) => { if ((d[0] & 15) === 8) told(((d[6] << 8 | d[7]) ^ (d[2] << 8 | d[3]))) })   // a masked close frame
  setTimeout(() => ws.close(Number(req.url.slice(1)), 'in a minute'), 100)
})
setTimeout(() => { console.log('changed: no answer'); process.exit(1) }, 60000).unref()
JS
node run.cjs
