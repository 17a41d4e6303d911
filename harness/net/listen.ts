import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { onTestFinished } from 'vitest';

/** Host that listens on all addresses of this machine, in both address families if available. */
export const everyAddress = '';

/** Makes a server listen on a free port until the test ends. Records every connection. */
export async function listenForTest(server: Server, host = '127.0.0.1'): Promise<{ port: number; seen: Socket[] }> {
  const seen: Socket[] = [];
  server.on('connection', (socket: Socket) => {
    seen.push(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => {
    for (const socket of seen) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, seen };
}

/** Starts a server that accepts connections and never responds, as a suspended machine does. Resolves with its port. */
export async function suspendedServer(): Promise<number> {
  return (await listenForTest(createServer())).port;
}

/** Returns the fixture certificate, which is valid for `localhost` and 127.0.0.1. */
export function certificate(): { key: string; cert: string } {
  const read = (name: string): string =>
    readFileSync(new URL(`../../test/fixtures/tls/${name}`, import.meta.url), 'utf8');
  return { key: read('localhost.key.pem'), cert: read('localhost.cert.pem') };
}

/** Makes this process trust the fixture certificate until the test ends. */
export function trustCertificate(): void {
  const before = getCACertificates('default');
  onTestFinished(() => setDefaultCACertificates(before));
  setDefaultCACertificates([...before, certificate().cert]);
}
