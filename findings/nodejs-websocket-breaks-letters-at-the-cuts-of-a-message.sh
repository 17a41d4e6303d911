#!/usr/bin/env bash
# Where a text message comes in several frames, nodejs-websocket decodes each frame by itself: a letter whose bytes are cut between two
# frames arrives as two or more replacement characters, and no error is raised.
#
# What it is: nodejs-websocket is a WebSocket client and server for Node.js.
# Versions: nodejs-websocket 1.7.2; ws 8.23.0 (npm) to compare with, on the same bytes.
# What the spec says: RFC 6455 section 5.6: "a particular text frame might include a partial UTF-8 sequence; however, the whole message MUST
#   contain valid UTF-8". Section 5.4: an intermediary may change how a message is cut into frames.
# Guess: the same text, however it is cut.
# Seen: a text in two frames with the cut inside of a letter has U+FFFD two to four times in the place of that letter. Cut between two letters,
#   or sent in one frame, it is right. Of the nine places to cut "aü語🎈" at, the six that lie inside of a letter break it.
# Wrong claim for a user: JSON stays valid, so an event is stored with another name or text than was sent; two readers of one stream differ,
#   and hashes of the text do. Test messages are short, in one frame and in English.
# Instead: ws; or have the sender send in one frame or as binary, and decode that.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund nodejs-websocket@1.7.2 ws@8.23.0 >/dev/null
cat > run.cjs <<'JS'
const net = require('net'), { createHash } = require('crypto')
const cutting = require('nodejs-websocket'), WebSocket = require('ws')
console.log('nodejs-websocket', require('nodejs-websocket/package.json').version, 'ws', require('ws/package.json').version)
const text = 'aü語🎈', bytes = Buffer.from(text)                       // 1 + 2 + 3 + 4 bytes
const frame = (op, part, fin) => Buffer.concat([Buffer.from([(fin ? 128 : 0) | op, part.length]), part])
const inside = [2, 4, 5, 7, 8, 9], outside = [1, 3, 6]
const cuts = [0, ...outside, ...inside]                              // 0: in one frame
const server = net.createServer((socket) => {
  socket.on('error', () => {})
  socket.once('data', (head) => {
    const key = /sec-websocket-key: *(\S+)/i.exec(head.toString())[1]
    const accept = createHash('sha1').update(key + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64')
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`)
    for (const at of cuts) socket.write(at ? Buffer.concat([frame(1, bytes.subarray(0, at), false), frame(0, bytes.subarray(at), true)]) : frame(1, bytes, true))
  })
})
server.listen(0, '127.0.0.1', async () => {
  const url = `ws://127.0.0.1:${server.address().port}/`
  const collect = (start) => new Promise((done) => { const all = []; start((t) => { all.push(t); if (all.length === cuts.length) done(all) }) })
  const seen = await collect((take) => cutting.connect(url).on('text', take).on('error', () => {}))
  const want = await collect((take) => new WebSocket(url, { perMessageDeflate: false }).on('message', (d) => take(d.toString())))
  cuts.forEach((at, i) => console.log(at ? `cut after byte ${at}` : 'in one frame', ': expected', want[i], 'observed', seen[i]))
  const same = want.every((t) => t === text) && cuts.every((at, i) => inside.includes(at) === (seen[i] !== text) && (!inside.includes(at) || seen[i].includes('\ufffd')))
  console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
})
setTimeout(() => { console.log('changed: no answer'); process.exit(1) }, 20000).unref()
JS
node run.cjs
