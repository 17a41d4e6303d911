import { BlockList, createServer, type Server, type SocketAddress } from 'node:net';
import { systemCode } from '../ops/errors.ts';

/** The address that a server listens on. */
export interface ListenAt {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
}

/** Connections that may wait in the kernel: ten thousand clients may come at once after a restart. */
const maxBacklog = 16_384;
/** The kernel's own maximum for one socket, on most systems. */
const maxSocketBacklog = 4_096;

/** A port that is listened on. */
export interface Listening {
  readonly port: number;
  /** Closes the further sockets; the server closes its own. */
  close(): Promise<void>;
}

/** Lets a server listen on one socket. Rejects when the port is in use or not permitted. */
export async function listen(server: Server, at: ListenAt): Promise<Listening> {
  return { port: await bind(server, at, maxSocketBacklog, false), close: () => Promise.resolve() };
}

/**
 * Lets a server listen on several sockets of one port, where the platform can. Rejects when the port is in use or not
 * permitted.
 *
 * The event loop accepts one connection of each listening socket in a turn, so a server with a single socket accepts as
 * many connections a second as it has turns. Under load clients would then wait in the queue of the kernel, behind
 * connections that their clients have abandoned, and no rule of fairness reaches that queue.
 *
 * `refuses` is asked about the address of each peer that connects to one of the further sockets. A connection that it refuses
 * is closed at half the cost of one that the server gets and closes.
 */
export async function listenWidely(
  server: Server,
  at: ListenAt,
  sockets: number,
  refuses: (address: string) => boolean = () => false,
): Promise<Listening> {
  if (sockets <= 1) return listen(server, at);
  // Sockets that share a port would also share it with those of another program of this user.
  const probe = createServer();
  const port = await bind(probe, at, 1, false);
  await closed(probe);
  const shared = { host: at.host, port };
  const backlog = Math.min(maxSocketBacklog, Math.ceil(maxBacklog / sockets));
  try {
    await bind(server, shared, backlog, true);
  } catch (error) {
    if (cannotShare.has(systemCode(error) ?? '')) return listen(server, shared);
    throw error;
  }
  const others = await Promise.all(
    Array.from({ length: sockets - 1 }, async () => {
      const other = createServer(
        { allowHalfOpen: true, noDelay: true, blockList: new RefusedPeers(refuses) },
        (socket) => server.emit('connection', socket),
      );
      // Fewer sockets accept fewer connections at once, and serve them all.
      return bind(other, shared, backlog, true).then(
        () => [other],
        () => [],
      );
    }),
  );
  return {
    port,
    async close() {
      await Promise.all(others.flat().map(closed));
    },
  };
}

/** Peers that are refused now: the runtime asks before it makes a socket. */
class RefusedPeers extends BlockList {
  readonly #refuses: (address: string) => boolean;

  constructor(refuses: (address: string) => boolean) {
    super();
    this.#refuses = refuses;
  }

  override check(address: SocketAddress | string): boolean {
    return this.#refuses(typeof address === 'string' ? address : address.address);
  }
}

/** Codes of a platform whose sockets cannot share a port. */
const cannotShare = new Set(['ENOTSUP', 'EINVAL']);

function bind(server: Server, { host, port }: ListenAt, backlog: number, reusePort: boolean): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog, reusePort }, () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
