import { createServer } from 'node:net';

/** Minimum of the port range, which is below Linux's ephemeral ports, so that no connection or other server gets one. */
const lowest = 10_000;
const highest = 32_000;
const given = new Set<number>();

/** Returns a free port number on this machine for a process that listens on it later. */
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
