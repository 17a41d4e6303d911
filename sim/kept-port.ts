import { once } from 'node:events';
import { connect } from 'node:net';

/** A reserved port. No program can listen on it until it is released. */
export interface KeptPort {
  release(): Promise<void>;
}

/**
 * Reserves a port whose listener has closed, using a socket that is connected to itself. If the reservation fails, the
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
      // Reset the socket: a closing handshake would occupy the port for longer.
      socket.resetAndDestroy();
      await closed;
    },
  };
}
