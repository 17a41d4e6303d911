import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { artifactFolderInTest, youngArtifact } from '../../harness/artifacts/artifacts.ts';
import { listenForTest } from '../../harness/net/listen.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { until } from '../../harness/process/until.ts';

it.each(['recent', 'legacy'] as const)(
  'a held label artifact at a URL stays held if an older copy follows it (%s)',
  async (name) => {
    const now = Date.now();
    const held = { body: JSON.stringify({ ...youngArtifact(name), hold: true }), modifiedAt: now - 60_000 };
    const older = { body: JSON.stringify(youngArtifact(name)), modifiedAt: now - 300_000 };
    let sent = held;
    let requests = 0;
    const { port } = await listenForTest(
      createServer((_request, response) => {
        requests += 1;
        response.writeHead(200, { 'Last-Modified': new Date(sent.modifiedAt).toUTCString() }).end(sent.body);
      }),
    );
    const place = `http://127.0.0.1:${port}/labels-overview.json`;
    const args = ['--artifacts', artifactFolderInTest(), '--labels-artifact', place, '--poll-seconds', '1'];
    const { url } = await startProgramInTest(['facts', '--port', '0', ...args]).listening();
    const code = async (): Promise<string | undefined> => {
      const body = (await (await fetch(`${url}/v1/labels/overview`)).json()) as { error?: { code: string } };
      return body.error?.code;
    };
    await until('the artifact is held', async () => (await code()) === 'source_held');
    sent = older;
    const before = requests;
    // The second request follows the processing of the first older copy.
    await until('the older copy was read', () => requests >= before + 2);
    expect(await code()).toBe('source_held');
  },
);
