import { readdirSync, readFileSync } from 'node:fs';
import { BlockList, createServer, type Server, type SocketAddress } from 'node:net';
import { systemCode } from '../ops/errors.ts';

/** Address on which a server listens. */
interface ListenAt {
  readonly host: string;
  /** Port number; 0 selects a free port. */
  readonly port: number;
}

/**
 * Maximum number of connections that wait in the kernel; large, because ten thousand clients may reconnect at once
 * after a restart.
 */
const maxBacklog = 16_384;
/** Maximum backlog that most kernels allow for one socket. */
const maxSocketBacklog = 4_096;

/** A port on which a server listens. */
interface Listening {
  readonly port: number;
  /** Closes the additional sockets. The server itself closes the first one. */
  close(): Promise<void>;
}

/**
 * Makes a server listen on `sockets` sockets of one port, or on one if the platform does not support that. Rejects if
 * the port is in use or not permitted. The event loop accepts one connection per listening socket in each turn, so a
 * server with a single socket accepts too few connections under load. Clients would then wait behind abandoned
 * connections in the kernel's queue, which is not fair between clients. `refuses` is called with the address of each
 * peer that connects to an additional socket. If it returns true, the connection is closed in half the time that the
 * server would need.
 */
export async function listen(
  server: Server,
  at: ListenAt,
  sockets: number,
  refuses: (address: string) => boolean = () => false,
): Promise<Listening> {
  if (sockets <= 1) return listenOnce(server, at);
  const backlog = Math.min(maxSocketBacklog, Math.ceil(maxBacklog / sockets));
  const bound = await bindShared(server, at, backlog);
  if (!bound.isShared) return listenOnce(server, bound);
  const shared = { host: at.host, port: bound.port };
  const others = await Promise.all(
    Array.from({ length: sockets - 1 }, async () => {
      const other = createServer(
        { allowHalfOpen: true, noDelay: true, blockList: new RefusedPeers(refuses) },
        (socket) => server.emit('connection', socket),
      );
      // Ignore a failure: with fewer sockets, the server merely accepts fewer connections per turn.
      return bind(other, shared, backlog, true).then(
        () => [other],
        () => [],
      );
    }),
  );
  return {
    port: shared.port,
    async close() {
      await Promise.all(others.flat().map(closed));
    },
  };
}

async function listenOnce(server: Server, at: ListenAt): Promise<Listening> {
  return { port: await bind(server, at, maxSocketBacklog, false), close: () => Promise.resolve() };
}

/** Maximum number of free ports that are tried. */
const maxPorts = 8;

/**
 * Binds a server to a port that further sockets may share. `isShared` is false, and the server not bound, if the platform
 * does not support that. Rejects if the port is in use or not permitted.
 */
async function bindShared(
  server: Server,
  at: ListenAt,
  backlog: number,
): Promise<ListenAt & { readonly isShared: boolean }> {
  for (let ports = 1; ; ports += 1) {
    // Sharing a port also allows another program of this user to share it, so first bind the port without sharing.
    const probe = createServer();
    const port = await bind(probe, at, 1, false);
    await closed(probe);
    try {
      await bind(server, { host: at.host, port }, backlog, true);
      return { host: at.host, port, isShared: true };
    } catch (error) {
      const code = systemCode(error) ?? '';
      if (cannotShare.has(code)) return { host: at.host, port, isShared: false };
      // Another program, or an outgoing connection, can take a free port before the server binds it.
      if (at.port !== 0 || code !== 'EADDRINUSE' || ports === maxPorts) throw error;
    }
  }
}

/** Block list that calls `refuses` for each peer. Node consults it before it creates a socket. */
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

/** Error codes of platforms that do not let sockets share a port. */
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

/** File descriptors of this process. */
interface Descriptors {
  /** Maximum number of open descriptors. */
  readonly limit: number;
  /** Number of open descriptors. */
  readonly open: number;
}

/** Descriptors reserved for files: a sixteenth of the limit, but at least `min` and at most `max`. */
const reserve = { min: 48, max: 1024, share: 16 };
/** Minimum number of accepted connections, even if the descriptor limit is very low. */
const minConnections = 8;

/** Returns the limit and the number of open descriptors of this process; null if the platform does not report them. */
export function readDescriptors(): Descriptors | null {
  try {
    const limit = Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
    const open = readdirSync('/proc/self/fd').length;
    return Number.isSafeInteger(limit) ? { limit, open } : null;
  } catch {
    return null;
  }
}

/**
 * Returns the maximum number of connections that leaves enough descriptors for files, but at least `minConnections`.
 */
export function maxConnections({ limit, open }: Descriptors): number {
  const kept = Math.min(reserve.max, Math.max(reserve.min, Math.ceil(limit / reserve.share)));
  return Math.max(minConnections, limit - open - kept);
}

/**
 * Limits the connections of a server to the result of `maxConnections`, so that the process can still open files. The
 * server closes connections above the limit immediately. Does nothing if the platform does not report descriptors.
 */
export function limitConnections(server: Server, descriptors: Descriptors | null = readDescriptors()): void {
  if (descriptors !== null) server.maxConnections = maxConnections(descriptors);
}

/**
 * Returns the bounds with `total` limited to the result of `maxConnections`. Returns them unchanged if the platform
 * does not report descriptors.
 */
export function belowDescriptors<Bounds extends { readonly total: number }>(
  bounds: Bounds,
  descriptors: Descriptors | null = readDescriptors(),
): Bounds {
  return descriptors === null ? bounds : { ...bounds, total: Math.min(bounds.total, maxConnections(descriptors)) };
}
