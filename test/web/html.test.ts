import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { HtmlValidate } from 'html-validate';
import { describe, expect, it } from 'vitest';
import { account, fill, startAccount, writerInTest } from '../../harness/accounts/account.ts';
import { simulateArchive } from '../../harness/archive/simulated-archive.ts';
import { artifactFolderInTest } from '../../harness/artifacts/artifacts.ts';
import { labelerFixture, putLabelers } from '../../harness/artifacts/labelers.ts';
import { pageStates } from '../../harness/pages/page-states.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { until } from '../../harness/process/until.ts';

/** Validates the HTML of every page in every state, as the services send it. */

const validator = new HtmlValidate({
  root: true,
  extends: ['html-validate:recommended'],
  // Do not check styles, because the renderer consistently uses one of several valid styles.
  rules: { 'void-style': 'off', 'doctype-style': 'off' },
});

/** Returns the validation errors of a page, each with its line. */
async function faultsOf(url: string): Promise<string[]> {
  const response = await fetch(url, { redirect: 'manual', headers: { Accept: 'text/html' } });
  expect(response.headers.get('content-type'), url).toBe('text/html; charset=utf-8');
  const html = await response.text();
  const { results } = await validator.validateString(html);
  return results.flatMap(({ messages, source }) =>
    messages.map(({ ruleId, message, offset }) => `${ruleId}: ${message}: ${source?.slice(offset - 60, offset + 60)}`),
  );
}

function write(folder: string, { labels, weather }: { labels: object | null; weather: object | null }): void {
  const files = { 'labels-overview.json': labels, 'weather-summary.json': weather };
  for (const [name, content] of Object.entries(files)) {
    if (content === null) rmSync(join(folder, name), { force: true });
    else writeFileSync(join(folder, name), JSON.stringify(content));
  }
}

describe('the HTML of the pages', () => {
  it('is validated by rules that detect a block element in a paragraph', async () => {
    const page = '<!DOCTYPE html><html lang="en"><head><title>a</title></head><body><p><div>a</div></p></body></html>';
    expect((await validator.validateString(page)).valid).toBe(false);
  });

  it('is valid on every page of the facts service', async () => {
    const folder = artifactFolderInTest();
    const fixture = labelerFixture({ count: 60, seed: 11 });
    putLabelers({ path: folder }, fixture);
    const { url } = await startProgramInTest(['facts', '--port', '0', '--artifacts', folder]).listening();
    await until('the labelers are read', async () => (await fetch(`${url}/labelers.json`)).status === 200);
    const labelers = fixture.labelers.slice(0, 12).map(({ did }) => `/labelers/${did}`);
    const lists = [
      '/labelers',
      '/labelers?q=labeler&sort=name&page=2',
      '/labelers?q=nothing',
      '/labelers/did:web:a.test',
    ];
    const fixed = ['/docs', '/embeds', '/method/weather', '/method/labels', '/policy', '/for-labelers'];
    for (const path of ['/', ...fixed, ...lists, ...labelers]) {
      expect(await faultsOf(`${url}${path}`), path).toEqual([]);
    }
    for (const [name, state] of Object.entries(pageStates)) {
      write(folder, state());
      expect(await faultsOf(`${url}/`), name).toEqual([]);
    }
    expect(await faultsOf(`${url}/labelers`), 'refused').toEqual([]);
  });

  it('is valid on the archive page', async () => {
    const simulated = simulateArchive();
    await simulated.run(24 * 4);
    const archive = folderInTest();
    for (const [path, bytes] of simulated.content) {
      mkdirSync(join(archive, dirname(path)), { recursive: true });
      writeFileSync(join(archive, path), bytes);
    }
    const args = ['facts', '--port', '0', '--artifacts', artifactFolderInTest(), '--archive', archive];
    const { url } = await startProgramInTest(args).listening();
    expect(await faultsOf(`${url}/archive`)).toEqual([]);
  });

  it('is valid on every page of the account view', async () => {
    const folder = folderInTest();
    const store = writerInTest(folder, (Date.now() - 60_000) * 1000);
    await fill(store, 40, { at: (Date.now() - 30_000) * 1000 });
    const { url } = await startAccount(folder, ['--no-handles']).listening();
    const asked = `/account?did=${account}`;
    const none = '/account?did=did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
    const others = ['de', 'es', 'pt', 'ja'].flatMap((language) =>
      ['/?', `${asked}&`, `${asked}&days=9&`, '/account?did=a.example&'].map((path) => `${path}lang=${language}`),
    );
    const refused = [`${asked}&days=9`, '/account', '/account?did=a.example', '/account/a.example'];
    for (const path of ['/', asked, `${asked}&days=7`, none, ...refused, ...others]) {
      expect(await faultsOf(`${url}${path}`), path).toEqual([]);
    }
  });
});
