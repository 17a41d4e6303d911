import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { HostileStream } from './attack.ts';
import type { Floods } from './floods.ts';

/** Wraps an open connection in the operations that an attack uses. */
export function openStream(webSocket: WebSocket, socket: Duplex, cursor: number | null, floods: Floods): HostileStream {
  webSocket.on('error', () => webSocket.terminate());
  webSocket.on('message', () => undefined);
  const isOpen = (): boolean => webSocket.readyState === webSocket.OPEN;
  return {
    cursor,
    socket,
    get open() {
      return isOpen();
    },
    send: (payload) => {
      if (isOpen()) webSocket.send(payload);
    },
    raw: (bytes) => {
      if (isOpen()) socket.write(bytes);
    },
    flood: (next) => floods.add(socket, next),
    every: (ms, work) => {
      const timer = setInterval(work, ms);
      socket.once('close', () => clearInterval(timer));
    },
    end: () => webSocket.terminate(),
  };
}
