import { chmodSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { artifactFolder, youngArtifact } from '../../harness/artifacts/artifacts.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { artifactNames } from '../../src/artifact/write.ts';

/** Maximum number of file descriptors of the tested facts process. Clients occupy them with idle connections. */

const descriptors = 128;
const clients = 400;
const overview = '/v1/labels/overview';

it('the facts process reads a new artifact while idle clients occupy every file descriptor', async () => {
  const folder = artifactFolder();
  onTestFinished(folder.remove);
  const runtime = join(folder.path, 'few-descriptors.sh');
  writeFileSync(runtime, `#!/bin/sh\nulimit -n ${descriptors}\nexec '${process.execPath}' "$@"\n`);
  chmodSync(runtime, 0o755);
  const facts = startProgramInTest(['facts', '--port', '0', '--artifacts', folder.path], { runtime });
  const { port } = await facts.listening();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const first = await ask(port, agent);
  expect(first.status).toBe(200);

  const idle = await Promise.all(Array.from({ length: clients }, () => opened(port)));
  onTestFinished(() => {
    for (const socket of idle) socket.destroy();
  });

  const changed = { ...youngArtifact('recent'), hold: true };
  folder.put(artifactNames.labels, changed);
  const second = await ask(port, agent);
  expect([second.status, second.code]).toEqual([503, 'source_held']);
  folder.put(artifactNames.labels, youngArtifact('recent'));
  expect((await ask(port, agent)).status).toBe(200);
});

/**
 * Opens a connection. Resolves once the operating system has accepted the connection, even if the process has not
 * accepted it yet.
 */
function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      // The process may close the connection because it has no descriptor for it.
      socket.on('error', () => socket.destroy());
      resolve(socket);
    });
    socket.once('error', reject);
  });
}

function ask(port: number, agent: Agent): Promise<{ status: number; code: string | null }> {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path: overview, agent }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.once('end', () => {
        const { error } = JSON.parse(body) as { error?: { code: string } };
        resolve({ status: response.statusCode ?? 0, code: error?.code ?? null });
      });
    }).once('error', reject);
  });
}
