import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { artifactFolderInTest } from '../../harness/artifacts/artifacts.ts';
import { labelerFiles, labelerFixture, putLabelers } from '../../harness/artifacts/labelers.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { until } from '../../harness/process/until.ts';
import { artifactNames } from '../../src/artifact/write.ts';
import type { LabelersEnvelope } from '../../src/contract/labelers.ts';

async function started(folder: string, args: readonly string[] = []) {
  const program = startProgramInTest(['facts', '--port', '0', '--artifacts', folder, ...args]);
  const { url } = await program.listening();
  const status = async (path: string): Promise<number> => (await fetch(url + path)).status;
  const list = async (): Promise<LabelersEnvelope> =>
    (await (await fetch(`${url}/labelers.json`)).json()) as LabelersEnvelope;
  return { program, url, status, list };
}

describe('the facts process with a labelers artifact', () => {
  it('serves a new labelers artifact as soon as the matching overview follows', async () => {
    const folder = artifactFolderInTest();
    putLabelers({ path: folder }, labelerFixture({ count: 3, seed: 1 }));
    const { status, list } = await started(folder);
    await until('the labelers are read', async () => (await status('/labelers.json')) === 200);
    expect((await list()).facts.labelers).toHaveLength(3);
    const newer = labelerFixture({ count: 4, seed: 2, generatedAt: Date.now() + 1_000 });
    putLabelers({ path: folder }, newer);
    const seen = new Set<number>();
    await until('the newer labelers are read', async () => {
      seen.add(await status('/labelers.json'));
      return (await list()).facts.labelers.length === 4;
    });
    // Every request during the replacement of the files got a 200 response.
    expect([...seen]).toEqual([200]);
  });

  it('refuses only the labelers if their artifact is absent or malformed, and logs the malformed line', async () => {
    const folder = artifactFolderInTest();
    const fixture = labelerFixture({ count: 3, seed: 1 });
    putLabelers({ path: folder }, fixture);
    const { program, status } = await started(folder);
    await until('the labelers are read', async () => (await status('/labelers.json')) === 200);
    const files = labelerFiles(fixture);
    const lines = files.labelers.split('\n');
    lines[2] = '{"did":"did:plc:x"}';
    writeFileSync(join(folder, artifactNames.labelers), lines.join('\n'));
    await until('the labelers are refused', async () => (await status('/labelers.json')) === 503);
    expect(program.log()).toContainEqual(
      expect.objectContaining({
        msg: 'the artifact is refused',
        artifact: 'labelers',
        file: 'labelers.ndjson',
        line: 3,
      }),
    );
    expect(await status('/v1/labels/overview')).toBe(200);
    expect(await status('/')).toBe(200);
    writeFileSync(join(folder, artifactNames.labelers), files.labelers);
    await until('the labelers are served again', async () => (await status('/labelers')) === 200);
    rmSync(join(folder, artifactNames.labelerDefinitions));
    await until('the labelers are refused', async () => (await status('/labelers')) === 503);
  });

  it('reads the labelers artifact from a URL, and the definitions from the same directory of the server', async () => {
    const folder = artifactFolderInTest();
    const fixture = labelerFixture({ count: 3, seed: 1 });
    writeFileSync(join(folder, artifactNames.labels), JSON.stringify(fixture.overview));
    const files = labelerFiles(fixture);
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.setHeader('ETag', '"one"');
      if (request.headers['if-none-match'] === '"one"') response.writeHead(304).end();
      else response.end(request.url === '/at/l.ndjson' ? files.labelers : files.definitions);
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await until('the server listens', () => server.listening);
    const { port } = server.address() as AddressInfo;
    const place = `http://127.0.0.1:${port}/at/l.ndjson`;
    const { status, list } = await started(folder, ['--labelers-artifact', place, '--poll-seconds', '1']);
    await until('the labelers are read', async () => (await status('/labelers.json')) === 200);
    await until('the URL is polled again', () => asked.length >= 4);
    expect((await list()).facts.labelers).toHaveLength(3);
    expect(new Set(asked)).toEqual(new Set(['/at/l.ndjson', '/at/labeler-definitions.ndjson']));
  });

  it('describes the labeler documents in an OpenAPI document, and links to labelers from the observatory page', async () => {
    const folder = artifactFolderInTest();
    putLabelers({ path: folder }, labelerFixture({ count: 3, seed: 1 }));
    const { url } = await started(folder);
    const document = (await (await fetch(`${url}/labelers/openapi.json`)).json()) as { paths: object };
    expect(Object.keys(document.paths)).toContain('/labelers/{did}.json');
    expect(await (await fetch(`${url}/`)).text()).toContain('href="./labelers/did:plc:');
  });
});
