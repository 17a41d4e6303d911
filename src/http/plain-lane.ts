import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionTable } from './connections/connection-table.ts';
import { parsePlainRequest } from './plain-request.ts';
import type { ReadRequest } from './read-request.ts';
import type { Reply } from './reply.ts';
import { wireBytes } from './wire.ts';

/** Options for the fast path. */
export interface PlainLaneOptions {
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
export interface PlainLane {
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
