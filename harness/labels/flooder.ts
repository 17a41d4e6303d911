import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** Creates the n-th frame of a flooding labeler. `n` starts at 1 and counts the frames of all connections. */
export type Flood = (n: number, did: string) => Uint8Array;

/**
 * A labeler with a did:web DID. It sends frames as fast as its consumer accepts them, and does not respond to polls.
 */
export interface Flooder {
  readonly did: string;
  /** Number of stream connections opened so far. */
  readonly connections: number;
  /** Number of frames that the kernel has accepted. */
  readonly sent: number;
  /**
   * Starts the flood. All floods of one process must begin together, because an earlier flood delays the discovery of
   * the other labelers.
   */
  begin(): void;
  /** Stops the flood but keeps the connections open. */
  calm(): void;
  stop(): Promise<void>;
}

/** Number of frames that are passed to the socket in one write. */
const batch = 64;

/** Starts a labeler on a loopback address. Its streams are silent until the flood begins. */
export async function startFlooder(flood: Flood): Promise<Flooder> {
  const state = { connections: 0, sent: 0, n: 0, isCalm: true };
  const server = createServer((request, response) => {
    const isDocument = request.url === '/.well-known/did.json';
    response.writeHead(isDocument ? 200 : 501, { 'Content-Type': 'application/json' });
    response.end(isDocument ? JSON.stringify(document()) : '{"error":"MethodNotImplemented"}');
  });
  const streams = new WebSocketServer({ server, perMessageDeflate: false });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
  const did = `did:web:localhost%3A${port}`;

  function document(): unknown {
    const endpoint = `http://127.0.0.1:${port}`;
    return { id: did, service: [{ id: '#atproto_labeler', type: 'AtprotoLabeler', serviceEndpoint: endpoint }] };
  }

  function pump(socket: WebSocket): void {
    if (state.isCalm || socket.readyState !== socket.OPEN) return;
    for (let i = 1; i < batch; i += 1) socket.send(flood(++state.n, did));
    // The callback of the last frame runs once the kernel has accepted the whole batch.
    socket.send(flood(++state.n, did), (error) => {
      if (error) return;
      state.sent += batch;
      setImmediate(pump, socket);
    });
  }

  streams.on('connection', (socket) => {
    state.connections += 1;
    socket.on('error', () => undefined);
    pump(socket);
  });
  return {
    did,
    get connections() {
      return state.connections;
    },
    get sent() {
      return state.sent;
    },
    begin: () => {
      state.isCalm = false;
      for (const socket of streams.clients) pump(socket);
    },
    calm: () => {
      state.isCalm = true;
    },
    stop: () =>
      new Promise((resolve) => {
        state.isCalm = true;
        for (const socket of streams.clients) socket.terminate();
        streams.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
