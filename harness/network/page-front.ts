import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A front of a labeler that serves its pages and refuses its stream. */
interface PageFront {
  readonly url: string;
  /** Number of pages that were requested. */
  readonly pages: number;
  close(): void;
}

/** Starts a front of the labeler at a URL. */
export async function startPageFront(target: string): Promise<PageFront> {
  let pages = 0;
  const server = createServer((request, response) => {
    void (async () => {
      pages += 1;
      const answer = await fetch(`${target}${request.url ?? '/'}`);
      const type = answer.headers.get('Content-Type') ?? 'text/plain';
      response.writeHead(answer.status, { 'Content-Type': type }).end(await answer.text());
    })().catch(() => response.writeHead(502).end());
  });
  server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 501 Not Implemented\r\nConnection: close\r\n\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    get pages() {
      return pages;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
