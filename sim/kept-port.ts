import { once } from 'node:events';
import { connect } from 'node:net';

/** A reserved port. Until its release, no program can listen on the port. */
export interface KeptPort {
  release(): Promise<void>;
}

/**
 * Reserves a port after its listener has closed, by a socket that is connected to itself. The port stays free if the
 * reservation fails.
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
      // Reset the socket, because a close handshake would occupy the port for longer.
      socket.resetAndDestroy();
      await closed;
    },
  };
}
