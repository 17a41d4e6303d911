import { once } from 'node:events';
import { createServer, type Server, Socket } from 'node:net';

/** Connections from one process to the servers of the cluster. They can be interrupted without being closed. */
export interface Link {
  /** Server addresses for this process, in the format of a store URL. */
  readonly hosts: string;
  /** Stops all forwarding, as a network that loses every packet would. */
  cut(): void;
  mend(): void;
  close(): void;
}

const port = 5432;

/** Creates a link to the servers, in the given order. */
export async function createLink(addresses: readonly string[]): Promise<Link> {
  const sockets = new Set<Socket>();
  let isCut = false;

  function forward(from: Socket, to: Socket): void {
    sockets.add(from);
    if (isCut) from.pause();
    from.on('data', (data) => {
      if (!to.write(data)) {
        from.pause();
        to.once('drain', () => void (isCut || from.resume()));
      }
    });
    from.once('end', () => to.end());
    // Ignore the error: destroying the other socket reports the failure.
    from.on('error', () => to.destroy());
    from.once('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  }

  const servers: Server[] = [];
  for (const host of addresses) {
    const server = createServer((client) => {
      const upstream = new Socket();
      forward(client, upstream);
      forward(upstream, client);
      upstream.connect(port, host);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
  }
  return {
    hosts: servers.map((server) => `127.0.0.1:${portOf(server)}`).join(),
    cut() {
      isCut = true;
      for (const socket of sockets) socket.pause();
    },
    mend() {
      isCut = false;
      for (const socket of sockets) socket.resume();
    },
    close() {
      for (const socket of sockets) socket.destroy();
      for (const server of servers) server.close();
    },
  };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server is not listening');
  return address.port;
}
