import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { listenForTest } from '../../harness/net/listen.ts';
import { checkProxyTrust } from '../../src/main/doctor/ports.ts';

/** Tests how the doctor reads a metrics port, on which any program of this machine may listen. */

describe('a response of another program on the metrics port', () => {
  it('is read only up to the maximum size of metrics', async () => {
    let sent = 0;
    const piece = Buffer.alloc(65_536, 'x');
    const server = createServer((_request, response) => {
      const send = (): void => {
        if (response.destroyed) return;
        sent += piece.length;
        response.write(piece, send);
      };
      send();
    });
    const { port } = await listenForTest(server);
    expect(await checkProxyTrust(port)).toBeNull();
    expect(sent).toBeLessThan(16 * 1024 * 1024);
  });

  it('does not cause a finding if it has many content codings and breaks off', async () => {
    const server = createServer((request, response) => {
      response.writeHead(200, { 'Content-Encoding': Array(6).fill('gzip').join(', '), 'Content-Length': '1000' });
      response.write('x');
      setTimeout(() => request.socket.destroy(), 10);
    });
    const { port } = await listenForTest(server);
    expect(await checkProxyTrust(port)).toBeNull();
    await new Promise((resolve) => setTimeout(resolve, 100));
  });
});
