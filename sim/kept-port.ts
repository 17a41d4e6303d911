import { once } from 'node:events';
import { connect } from 'node:net';

/** A port on which nobody listens, and that nobody else is given, until it is released. */
export interface KeptPort {
  release(): Promise<void>;
}

/** Keeps a port that was listened on: a socket that is connected with itself holds it. Where it cannot, nobody does. */
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
      // Without a goodbye, which would hold the port for longer.
      socket.resetAndDestroy();
      await closed;
    },
  };
}
