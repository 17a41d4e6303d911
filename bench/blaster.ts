/**
 * A Jetstream for the benchmarks that sends recorded events as fast as the socket accepts them. Listens on a free
 * loopback port, prints the port, and sends each client the number of events given as the argument. Exits with its
 * parent.
 */
import { readFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { WebSocketServer } from 'ws';

const batch = readFileSync(new URL('../test/fixtures/jetstream/production_v1.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => textFrame(Buffer.from(line)));
const whole = Buffer.concat(batch);

/** Returns an unfragmented, unmasked text frame. Throws a RangeError if the payload exceeds 65,535 bytes. */
function textFrame(payload: Buffer): Buffer {
  const { length } = payload;
  if (length > 0xffff) throw new RangeError('no recorded event may be longer than 65,535 bytes');
  const head = length < 126 ? [0x81, length] : [0x81, 126, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), payload]);
}

/** Writes batches of 152 events, each in a single write, while the socket accepts them. */
function blast(socket: Socket, frames: number): void {
  let left = frames;
  const more = (): void => {
    while (left >= batch.length) {
      left -= batch.length;
      if (!socket.write(whole)) return;
    }
    socket.off('drain', more);
    socket.write(Buffer.concat(batch.slice(0, left)));
  };
  socket.on('drain', more);
  more();
}

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
server.on('connection', (peer, request) => {
  peer.on('error', () => undefined);
  blast(request.socket, Number(process.argv[2]));
});
server.on('listening', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
process.stdin.on('end', () => process.exit(0)).resume();
