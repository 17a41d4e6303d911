import { createServer } from 'node:net';

/**
 * Lowest port to use. The range is below the ephemeral ports of Linux, so that the system assigns none of these ports
 * to a connection or to another test's server.
 */
const lowest = 10_000;
/** Upper end of the range of ports, exclusive. */
const highest = 32_000;
/** Port that fetch refuses as a bad port, whatever listens there. */
const refusedByFetch = 10_080;
/**
 * Offset of the next port to try. Each process begins at a place of its own: with random ports, two processes could
 * sometimes choose the same port, before either of them listens on it.
 */
let next = (process.pid * 997) % (highest - lowest);

/** Returns a port on which nothing listens, for tests that must know the port number in advance. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + next;
    next = (next + 1) % (highest - lowest);
    if (port !== refusedByFetch && (await isFree(port))) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
