import { once } from 'node:events';
import { connect } from 'node:net';

/** A reserved port: no program listens on it, and none gets it, until it is released. */
export interface KeptPort {
  release(): Promise<void>;
}

/**
 * Reserves a port after its listener closed: a socket that is connected to itself occupies it. On failure the port stays free.
 */
export async function keepPort(host: string, port: number): Promise<KeptPort> {
  const socket = connect({ host, port, localAddress: host, localPort: port });
  const closed = once(socket, 'close').catch(() => undefined);
  socket.on('error', () => socket.destroy());
  await new Promise<void>((resolve) => {
    socket.once('connect', resolve);
    socket.once('close', resolve);
  });
  socket.unref();
  return {
    async release() {
      // Without a close handshake, which would occupy the port for longer.
      socket.resetAndDestroy();
      await closed;
    },
  };
}
