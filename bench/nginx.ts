import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../harness/net/ports.ts';
import { memoryMib } from '../harness/process/process-tree.ts';
import { until } from '../harness/process/until.ts';
import { ended, type Measured } from './processes.ts';

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
  const answers = (): Promise<boolean> =>
    fetch(`${url}/v1/labels/overview`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until('nginx responds', answers, 5_000);
  return {
    url,
    startedInMs: performance.now() - began,
    residentMiB: () => Math.round(memoryMib(child.pid, 'VmRSS')),
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
