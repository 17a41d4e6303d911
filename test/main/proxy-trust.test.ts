import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { listenForTest } from '../../harness/net/listen.ts';
import { checkProxyTrust } from '../../src/main/doctor/proxy-trust.ts';

/** The doctor's reading of a metrics port, on which any program of this machine may listen. */

describe('a program that is not Almanac on the metrics port', () => {
  it('sends more than metrics have, and no more than that is read', async () => {
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

  it('sends many content codings and breaks the connection, and there is no finding', async () => {
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
