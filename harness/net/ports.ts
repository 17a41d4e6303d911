import { createServer } from 'node:net';

/**
 * Minimum port. These ports are below the ephemeral ports of Linux, so that no connection and no server of another test
 * gets one of them.
 */
const lowest = 10_000;
const highest = 32_000;
const given = new Set<number>();

/** Returns a port without a listener, for tests that only need a port number. */
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
