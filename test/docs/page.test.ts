import { rmSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { artifactFolder } from '../../harness/artifacts/artifacts.ts';
import { hasBrowser, inspect, openPage, startBrowser } from '../../harness/pages/browser.ts';
import { type Server, startServer } from '../../harness/process/program.ts';
import { paths } from '../../src/contract/identifiers.ts';

describe.skipIf(!hasBrowser)('the API reference in a browser', () => {
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

  it('shows every path of the contract without scripts, with resources of this origin only', async () => {
    const { page, asked, complaints } = await openPage(browser, `${program.url}/docs`);
    const headings = await page.locator('h3').allTextContents();
    for (const path of Object.values(paths)) expect(headings).toContain(`GET ${path}`);
    expect(await page.locator('button, input').count()).toBe(0);
    expect(asked.filter((url) => !url.startsWith(`${program.url}/`) && !url.startsWith('data:'))).toEqual([]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('is accessible and does not overflow from 320 to 1280 px, light and dark', async () => {
    for (const [width, colorScheme] of [
      [320, 'light'],
      [1280, 'dark'],
    ] as const) {
      const options = { javaScriptEnabled: true, bypassCSP: true, colorScheme, viewport: { width, height: 800 } };
      const { page } = await openPage(browser, `${program.url}/docs`, options);
      // Also lay out sections outside the viewport, so that their width counts.
      await page.addStyleTag({ content: '.reference section { content-visibility: visible !important }' });
      expect(await inspect(page), `${width} ${colorScheme}`).toEqual({ found: [], tooWide: 0 });
      for (const between of [480, 768, 1024]) {
        await page.setViewportSize({ width: between, height: 800 });
        const tooWide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
        expect(await page.evaluate(tooWide), `${between}`).toBe(0);
      }
      await page.close();
    }
  });

  it('can send a request by keyboard and show the response without violating its content security policy', async () => {
    const { page, complaints } = await openPage(browser, `${program.url}/docs`, { javaScriptEnabled: true });
    const call = page.locator('section[data-path="/v1/labels/overview"]');
    await call.getByRole('button').focus();
    await page.keyboard.press('Enter');
    await call.getByRole('region', { name: 'Response' }).waitFor();
    expect(await call.getByRole('status').textContent()).toBe(`200: ${program.url}/v1/labels/overview`);
    expect(await call.getByRole('region').textContent()).toContain('"contract": "atproto.facts.labels.overview/v1"');
    // The programs contain the address of the service instead of the example address.
    expect(await page.locator('[data-language=curl]').first().textContent()).toContain(
      `'${program.url}/v1/instruments'`,
    );
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('inserts the parameter that a reader enters into the path, and shows the error response', async () => {
    const { page } = await openPage(browser, `${program.url}/docs`, { javaScriptEnabled: true });
    const call = page.locator('section[data-path="/labelers/{did}.json"]');
    expect(await call.getByLabel('did').inputValue()).toBe('did:plc:ar7c4by46qjdydhdevvrndac');
    await call.getByLabel('did').fill('did:web:labeler.example');
    await page.keyboard.press('Enter');
    await call.getByRole('region', { name: 'Response' }).waitFor();
    expect(await call.getByRole('status').textContent()).toMatch(
      /^\d{3}: \S+\/labelers\/did:web:labeler\.example\.json$/,
    );
    expect(await call.getByRole('region').textContent()).toContain('"code": ');
    await page.close();
  });
});
