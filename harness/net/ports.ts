import { createServer } from 'node:net';

/**
 * Lowest port to use. The range is below the ephemeral ports of Linux, so that the system assigns none of these ports
 * to a connection or to another test's server.
 */
const lowest = 10_000;
/** Upper end of the range of ports, exclusive. */
const highest = 32_000;
/** Ports never to be given. Fetch refuses port 10080 as a bad port, whatever listens there. */
const given = new Set([10_080]);

/** Returns a port on which nothing listens, for tests that must know the port number in advance. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
