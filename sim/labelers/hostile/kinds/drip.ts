import type { Duplex } from 'node:stream';
import type { Exchange, Kind } from '../attack.ts';

const everyMs = 500;

/** Sends pages and frames one byte at a time, and headers and handshakes one line at a time. */
export const drip: Kind = {
  name: 'drip',
  does: 'sends pages and frames one byte at a time, and headers and handshakes one line at a time',
  attack: ({ labeler }) => ({
    page: ({ response }) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.write('{"labels":[');
      dripInto(response.socket ?? null, response, ' ');
    },
    record: ({ response, request }) => {
      const { socket } = request;
      socket.write('HTTP/1.1 200 OK\r\n');
      dripInto(socket, response, 'X-A: b\r\n');
    },
    ...(labeler.index % 2 === 0
      ? {
          upgrade: (_: unknown, socket: Duplex) => {
            socket.write('HTTP/1.1 101 Switching Protocols\r\n');
            const timer = setInterval(() => socket.write('X-A: b\r\n'), everyMs);
            socket.once('close', () => clearInterval(timer));
          },
        }
      : {
          stream: (stream) => {
            // At this speed, a frame of one megabyte would take days.
            stream.raw(Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 0x10, 0, 0]));
            stream.every(everyMs, () => stream.raw(Buffer.from([0])));
          },
        }),
  }),
};

function dripInto(socket: Duplex | null, response: Exchange['response'], text: string): void {
  const timer = setInterval(() => (response.headersSent ? response.write(text) : socket?.write(text)), everyMs);
  response.once('close', () => clearInterval(timer));
  socket?.once('close', () => clearInterval(timer));
}
