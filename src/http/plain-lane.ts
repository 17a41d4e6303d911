import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionTable } from './connections/connection-table.ts';
import { httpLimits } from './parser-errors.ts';
import type { ReadRequest } from './read-request.ts';
import { httpDate, type Reply } from './reply.ts';

/** Options for the fast path. */
interface PlainLaneOptions {
  /** Returns the response to a request. Must not throw. */
  readonly answer: (request: ReadRequest, now: number) => Reply;
  /** Returns true for a request target that only the full server can answer. */
  readonly leaves: (target: string) => boolean;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
  /** Time after which an idle connection is closed, in milliseconds. */
  readonly idleMs: number;
  /** Table that admits a connection before any of its bytes are read. */
  readonly table: ConnectionTable;
}

/** Fast path of a server. The server itself does not track the connections of the fast path. */
interface PlainLane {
  /** Closes every connection after its written responses have been sent. */
  close(): void;
}

/**
 * Installs a fast path in front of an HTTP server's parser. A connection stays in the fast path while each received
 * chunk is one plain GET. When any other chunk arrives, the connection is permanently passed to the server. The fast
 * path sends the same responses as the server in two thirds of the processor time that the server needs.
 */
export function openPlainLane(server: Server, { answer, leaves, clock, idleMs, table }: PlainLaneOptions): PlainLane {
  const connections = new Set<Socket>();
  const [parser, ...others] = server.listeners('connection');
  if (!parser || others.length > 0) throw new Error('the fast path expects one connection listener of node:http');
  server.removeAllListeners('connection');
  server.on('connection', enter);

  function enter(socket: Socket): void {
    const tracked = table.admit(socket);
    if (!tracked) return;
    connections.add(socket);
    socket.setTimeout(idleMs);
    servePlain(socket, {
      leaves,
      onRequest(request) {
        const now = clock();
        tracked.answered += 1;
        return wireBytes(answer(request, now), now);
      },
      onOther(bytes) {
        socket.setTimeout(0);
        parser?.call(server, socket);
        socket.unshift(bytes);
      },
      onLeave: () => connections.delete(socket),
    });
  }

  return {
    close() {
      for (const socket of connections) socket.end();
    },
  };
}

/** Callbacks of one connection in the fast path. */
interface PlainEvents {
  readonly leaves: (target: string) => boolean;
  /** Returns the bytes of the response to a plain request. */
  onRequest(request: ReadRequest): Buffer;
  /** Called with the first bytes that the fast path does not serve, once the connection has left the fast path. */
  onOther(bytes: Buffer): void;
  /** Called when the connection leaves the fast path or closes. */
  onLeave(): void;
}

/** Answers the plain requests of one connection until the connection closes or sends other bytes. */
function servePlain(socket: Socket, { leaves, onRequest, onOther, onLeave }: PlainEvents): void {
  function arrived(bytes: Buffer): void {
    // A connection that is closing still sends its written responses but ignores further requests.
    if (socket.writableEnded) return;
    const request = parsePlainRequest(bytes);
    if (!request || leaves(request.target)) {
      leave();
      onOther(bytes);
      return;
    }
    // Stop reading requests while the client does not read its responses.
    if (!socket.write(onRequest(request))) socket.pause();
  }

  function leave(): void {
    onLeave();
    socket.off('data', arrived).off('drain', drained).off('timeout', cut).off('error', cut);
    socket.off('end', finish).off('close', leave);
  }

  function drained(): void {
    socket.resume();
  }

  function cut(): void {
    socket.destroy();
  }

  function finish(): void {
    socket.end();
  }

  socket.on('data', arrived).on('drain', drained).on('timeout', cut).on('error', cut);
  socket.on('end', finish).on('close', leave);
}

/** Maximum size of a request for the fast path, in bytes. */
const longest = 8 * 1024;

/** Maximum number of header fields of a request for the fast path. */
const maxFields = 100;

const target = /^\/[\x21-\x7e]*$/;
const headerBlock = /^(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*\r\n)+$/;

/** Matches the header fields that affect message framing or the connection, which only the full parser handles. */
const framing =
  /^(?:connection|content-length|expect|http2-settings|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/;

/**
 * Parses the most common form of request: a complete HTTP/1.1 GET in one chunk, with one Host header, without a body,
 * and without header fields about framing or the connection except `Connection: keep-alive`. Returns null for any other
 * request, which the caller passes to the full parser. The full parser accepts every request that this function
 * accepts.
 */
export function parsePlainRequest(bytes: Buffer): ReadRequest | null {
  if (bytes.length > longest || bytes[0] !== 0x47) return null;
  const text = bytes.toString('latin1');
  if (!text.startsWith('GET ') || !text.endsWith('\r\n\r\n')) return null;
  const lineEnd = text.indexOf('\r\n');
  if (!text.startsWith(' HTTP/1.1', lineEnd - 9)) return null;
  const wanted = text.slice(4, lineEnd - 9);
  const block = text.slice(lineEnd + 2, -2);
  if (!target.test(wanted) || !headerBlock.test(block)) return null;
  return readFields(wanted, block);
}

function readFields(wanted: string, block: string): ReadRequest | null {
  let fields = 0;
  let hosts = 0;
  let ifNoneMatch: string | undefined;
  let acceptEncoding: string | undefined;
  let accept: string | undefined;
  for (let at = 0; at < block.length; ) {
    if (++fields > maxFields) return null;
    const end = block.indexOf('\r\n', at);
    const colon = block.indexOf(':', at);
    const name = block.slice(at, colon).toLowerCase();
    if (name === 'host') hosts++;
    else if (name === 'if-none-match') ifNoneMatch = joined(ifNoneMatch, trimmed(block.slice(colon + 1, end)));
    else if (name === 'accept-encoding') acceptEncoding = joined(acceptEncoding, trimmed(block.slice(colon + 1, end)));
    else if (name === 'accept') accept = joined(accept, trimmed(block.slice(colon + 1, end)));
    else if (framing.test(name) && !keepsAlive(name, block.slice(colon + 1, end))) return null;
    at = end + 2;
  }
  return hosts === 1 ? { method: 'GET', target: wanted, ifNoneMatch, acceptEncoding, accept } : null;
}

/**
 * Removes HTTP white space (spaces and tabs) from both ends of a field value, in linear time: a pattern for the spaces at
 * the end would search again from each space inside the value.
 */
function trimmed(value: string): string {
  let from = 0;
  let to = value.length;
  while (from < to && isBlank(value.charCodeAt(from))) from++;
  while (to > from && isBlank(value.charCodeAt(to - 1))) to--;
  return value.slice(from, to);
}

function isBlank(character: number): boolean {
  return character === 0x20 || character === 0x09;
}

function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`;
}

/** Returns true for `Connection: keep-alive`, the default of HTTP/1.1. */
function keepsAlive(name: string, value: string): boolean {
  return name === 'connection' && trimmed(value).toLowerCase() === 'keep-alive';
}

/** Cache of the serialized bytes of each response: the same response may be sent many times per second. */
const written = new WeakMap<Reply, { date: string; bytes: Buffer }>();

/** Serializes a response as an HTTP/1.1 message for a persistent connection. */
function wireBytes(reply: Reply, now: number): Buffer {
  const date = httpDate(now);
  const known = written.get(reply);
  if (known?.date === date) return known.bytes;
  const bytes = write(reply, date);
  written.set(reply, { date, bytes });
  return bytes;
}

/** Headers of persistent connections, the same as those that node:http sends. */
const persistence = `Connection: keep-alive\r\nKeep-Alive: timeout=${httpLimits.keepAliveTimeoutMs / 1000}\r\n`;

function write({ status, headers, body }: Reply, date: string): Buffer {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nDate: ${date}\r\n${persistence}`;
  for (let at = 0; at + 1 < headers.length; at += 2) head += `${headers[at]}: ${headers[at + 1]}\r\n`;
  const start = Buffer.from(`${head}\r\n`, 'latin1');
  return body === null ? start : Buffer.concat([start, body]);
}
