import { rmSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { artifactFolder } from '../../harness/artifacts/artifacts.ts';
import { hasBrowser, startBrowser } from '../../harness/pages/browser.ts';
import { type Server, startServer } from '../../harness/process/program.ts';
import { paths } from '../../src/contract/identifiers.ts';

describe.skipIf(!hasBrowser)('the reference page in a browser', () => {
  const { path: folder } = artifactFolder();
  let browser: Browser;
  let program: Server;

  beforeAll(async () => {
    program = await startServer(['facts', '--port', '0', '--artifacts', folder, '--base-path', '/atproto']);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await program?.stop();
    rmSync(folder, { recursive: true });
  });

  it('shows every path of the contract with resources of this origin alone, and within its policy', async () => {
    const page = await browser.newPage();
    const asked: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(`${program.url}/docs`);
    await page.waitForSelector('.opblock-get');
    const drawn = await page.locator('.opblock-get .opblock-summary-path').allInnerTexts();
    expect(drawn.map((text) => text.replaceAll('\u200b', '')).sort()).toEqual(Object.values(paths).sort());
    expect(asked.filter((url) => !url.startsWith(`${program.url}/`) && !url.startsWith('data:'))).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("follows the reader's light or dark preference, also when it changes", async () => {
    const page = await browser.newPage({ colorScheme: 'dark' });
    await page.goto(`${program.url}/docs`);
    await page.waitForSelector('.opblock-get');
    // Red, green and blue of two backgrounds: that of the reference and that of the surrounding page.
    const papers = () =>
      page.evaluate(() =>
        ['.swagger-ui', 'html'].map((name) => {
          const place = document.querySelector(name);
          return place ? getComputedStyle(place).backgroundColor : '';
        }),
      );
    expect(await papers()).toEqual(['rgb(28, 32, 34)', 'rgb(28, 32, 34)']);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.waitForSelector('html:not(.dark-mode)');
    for (const paper of await papers()) expect(['rgba(0, 0, 0, 0)', 'rgb(255, 255, 255)']).toContain(paper);
  });

  it('without scripts states where the contract is', async () => {
    const page = await browser.newPage({ javaScriptEnabled: false });
    await page.goto(`${program.url}/docs`);
    expect(await page.locator('noscript a').getAttribute('href')).toBe('openapi.json');
  });
});
