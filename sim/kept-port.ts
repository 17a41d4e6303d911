import { once } from 'node:events';
import { connect } from 'node:net';

/** A reserved port: until its release, no program listens on it or can get it. */
export interface KeptPort {
  release(): Promise<void>;
}

/**
 * Reserves a port after its listener closed: a socket that is connected to itself occupies the port. On failure the
 * port stays free.
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
      // Reset without a close handshake, which would occupy the port for longer.
      socket.resetAndDestroy();
      await closed;
    },
  };
}
