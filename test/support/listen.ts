import { readFileSync } from 'node:fs';
import type { AddressInfo, Server, Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { onTestFinished } from 'vitest';

/** Instead of a host: all addresses of this machine, of both families where it has both. */
export const everyAddress = '';

/** A server on a free loopback port until the test is over, and every connection that it saw. */
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

/** The certificate of the fixtures, for `localhost` and 127.0.0.1. */
export function certificate(): { key: string; cert: string } {
  const read = (name: string): string => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8');
  return { key: read('localhost.key.pem'), cert: read('localhost.cert.pem') };
}

/** Lets this process trust that certificate until the test is over. */
export function trustCertificate(): void {
  const before = getCACertificates('default');
  onTestFinished(() => setDefaultCACertificates(before));
  setDefaultCACertificates([...before, certificate().cert]);
}
