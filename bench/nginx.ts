import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { ended, type Measured, residentMiB } from './processes.ts';

/**
 * Starts nginx on a core. One worker serves `body` as a static file with the headers of a fact, without an access log
 * and practically without a limit of requests per connection. Rejects if nginx does not respond within 5 s.
 */
export async function startNginx(core: number, folder: string, body: Buffer): Promise<Measured> {
  const port = await freePort();
  const root = join(folder, 'nginx');
  mkdirSync(join(root, 'html', 'v1', 'labels'), { recursive: true });
  writeFileSync(join(root, 'html', 'v1', 'labels', 'overview'), body);
  writeFileSync(join(root, 'nginx.conf'), configuration(root, port));
  const began = performance.now();
  const child = spawn('taskset', ['-c', String(core), 'nginx', '-p', root, '-c', join(root, 'nginx.conf')], {
    stdio: 'ignore',
  });
  const url = `http://127.0.0.1:${port}`;
  await untilAnswers(`${url}/v1/labels/overview`);
  return {
    url,
    startedInMs: performance.now() - began,
    residentMiB: () => residentMiB(child.pid ?? 0),
    stop: () => ended(child),
  };
}

function configuration(root: string, port: number): string {
  return `
daemon off; worker_processes 1; pid ${root}/nginx.pid; error_log ${root}/error.log; user root;
events { worker_connections 4096; }
http {
  access_log off; default_type "application/json; charset=utf-8"; keepalive_requests 100000000; etag on;
  server {
    listen 127.0.0.1:${port} backlog=4096;
    root ${root}/html;
    add_header Cache-Control "public, max-age=60";
    add_header Access-Control-Allow-Origin "*";
    add_header Access-Control-Expose-Headers "ETag, Last-Modified, Cache-Control, Age, Date";
    add_header X-Content-Type-Options "nosniff";
    add_header Vary "Accept-Encoding";
  }
}
`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('no port is free');
  return address.port;
}

async function untilAnswers(url: string): Promise<void> {
  const deadline = performance.now() + 5_000;
  for (;;) {
    const answered = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (answered) return;
    if (performance.now() > deadline) throw new Error('nginx did not respond within 5 s');
  }
}
