import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { type Socket as NetSocket, Socket } from 'node:net';
import { expect, test } from 'vitest';
import { ConnectionTable } from './connections/connection-table.ts';
import { openPlainLane, parsePlainRequest } from './plain-lane.ts';
import { withBody } from './reply.ts';

const request = Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n');

/**
 * Creates a fast path in front of a simulated parser, and a connection whose peer reads responses if `takes` is true.
 */
function connected({ takes = true } = {}) {
  const parsed: NetSocket[] = [];
  const server = new EventEmitter();
  server.on('connection', (socket: NetSocket) => parsed.push(socket));
  const cuts: string[] = [];
  const bounds = { total: 10, perClient: null, stallMs: 1_000 };
  const table = new ConnectionTable(bounds, (reason) => cuts.push(reason));
  const lane = openPlainLane(server as unknown as Server, {
    leaves: () => false,
    answer: () => withBody(200, 'text/plain', Buffer.from('yes'), []),
    clock: () => 0,
    idleMs: 5_000,
    table,
  });
  const socket = new Socket();
  const written: string[] = [];
  socket.write = (bytes: unknown): boolean => {
    written.push(String(bytes));
    return takes;
  };
  server.emit('connection', socket);
  return { socket, written, parsed, table, lane };
}

test('the fast path stops reading requests of a client until the client has read its responses', () => {
  const { socket, written } = connected({ takes: false });
  socket.emit('data', request);
  expect([written.length, socket.isPaused()]).toEqual([1, true]);
  socket.emit('drain');
  expect(socket.isPaused()).toBe(false);
});

test('the fast path continues to read requests of a client that reads its responses', () => {
  const { socket, written } = connected();
  socket.emit('data', request);
  socket.emit('data', request);
  expect([written.length, socket.isPaused()]).toEqual([2, false]);
});

test('the fast path closes an idle connection after the idle timeout', () => {
  const { socket, table } = connected();
  expect(socket.timeout).toBe(5_000);
  socket.emit('timeout');
  expect(socket.destroyed).toBe(true);
  expect(table.size).toBe(1);
  socket.emit('close');
  expect(table.size).toBe(0);
});

test('a connection that is passed to the parser keeps its bytes, but not the deadline and listeners of the fast path', () => {
  const { socket, parsed, lane } = connected();
  socket.emit('data', Buffer.from('POST / HTTP/1.1\r\n'));
  expect(parsed).toEqual([socket]);
  expect(socket.timeout).toBe(0);
  expect(String(socket.read())).toBe('POST / HTTP/1.1\r\n');
  socket.emit('timeout');
  lane.close();
  expect([socket.destroyed, socket.writableEnded]).toEqual([false, false]);
  socket.destroy();
});

test.each([
  [
    'the fields of the table',
    'If-None-Match: \t"a" \t\r\nAccept-Encoding:gzip\r\nAccept: a  b \r\n',
    ['"a"', 'gzip', 'a  b'],
  ],
  ['empty fields', 'If-None-Match:\r\nAccept: \t \r\n', ['', undefined, '']],
  ['a repeated field', 'Accept: a\r\nAccept:  b\r\n', [undefined, undefined, 'a, b']],
])(
  'the fast path reads %s without the white space around them',
  (_what, fields, [ifNoneMatch, acceptEncoding, accept]) => {
    const read = parsePlainRequest(Buffer.from(`GET / HTTP/1.1\r\nHost: a\r\n${fields}\r\n`));
    expect(read).toEqual({ method: 'GET', target: '/', ifNoneMatch, acceptEncoding, accept });
  },
);
