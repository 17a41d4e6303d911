import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { artifactFolder, youngArtifact } from '../../harness/artifacts/artifacts.ts';
import { listenForTest } from '../../harness/net/listen.ts';
import { hasBrowser, startBrowser } from '../../harness/pages/browser.ts';
import { bundleClientForBrowser } from '../../harness/pages/client-bundle.ts';
import { type Server, startServer } from '../../harness/process/program.ts';
import { artifactNames } from '../../src/artifact/write.ts';
import type * as Client from '../../src/client/index.ts';

const html = `<!doctype html><title>page</title>
<script type="module" src="/page.js"></script>`;

describe.skipIf(!hasBrowser)('the client package bundled for a page of another origin', () => {
  const { path: folder, put } = artifactFolder();
  let browser: Browser;
  let program: Server;

  beforeAll(async () => {
    program = await startServer(['facts', '--port', '0', '--artifacts', folder]);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await program?.stop();
    rmSync(folder, { recursive: true });
  });

  it('reads, caches and revalidates a fact, and reports a refusal', async () => {
    const bundle = await bundleClientForBrowser();
    const { port } = await listenForTest(
      createServer((request, response) => {
        const script = request.url === '/page.js';
        response.setHeader('Content-Type', script ? 'text/javascript' : 'text/html');
        response.end(script ? bundle : html);
      }),
    );
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${port}/`);
    const seen = await page.evaluate(async (url) => {
      const { createFactsClient } = (globalThis as unknown as { almanac: typeof Client }).almanac;
      let ahead = 0;
      const client = createFactsClient(url, { now: () => Date.now() + ahead });
      const said = [(await client.labelsOverview()).via, (await client.labelsOverview()).via];
      ahead = 60_000;
      said.push((await client.labelsOverview()).via);
      Object.assign(globalThis, { later: () => client.labelsOverview() });
      ahead = 120_000;
      return said;
    }, program.url);
    expect(seen).toEqual(['fetched', 'kept', 'revalidated']);
    const withHeader = (name: string) =>
      page.evaluate(
        ([url, header]) =>
          fetch(url, { headers: { [header]: 'application/json' } }).then(String, ({ name }: Error) => name),
        [`${program.url}/v1/instruments`, name] as const,
      );
    expect(await withHeader('If-None-Match')).toBe('[object Response]');
    expect(await withHeader('Content-Type')).toBe('TypeError');
    put(artifactNames.labels, { ...youngArtifact('recent'), hold: true });
    const refused = await page.evaluate(async () => {
      const { later } = globalThis as unknown as { later: () => Promise<unknown> };
      return later().catch(({ name, code, freshness }: Client.FactsError) => [name, code, freshness?.state]);
    });
    expect(refused).toEqual(['FactsError', 'source_held', 'held']);
  });
});
