import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { artifactFolder } from '../../harness/artifacts/artifacts.ts';
import { labelerFixture, putLabelers } from '../../harness/artifacts/labelers.ts';
import { hasBrowser, openPage, smallestText, startBrowser, violations } from '../../harness/pages/browser.ts';
import { type Server, startServer } from '../../harness/process/program.ts';
import { until } from '../../harness/process/until.ts';

/** Directory for screenshots. By default, none are taken. */
const shots = process.env.ALMANAC_SHOTS;
const base = '/atproto';
const scripted = { javaScriptEnabled: true, viewport: { width: 1280, height: 800 } };
const maxFirstLoadBytes = 50_000;

/**
 * Waits until the table has this number of rows, because a page may still be loading when its address is already known.
 */
async function lists(page: Page, labelers: number): Promise<void> {
  await until(`the page lists ${labelers} labelers`, async () => (await page.locator('tbody tr').count()) === labelers);
}

describe.skipIf(!hasBrowser)('the pages about labelers in a browser', () => {
  const folder = artifactFolder();
  const fixture = labelerFixture({ count: 5_000, seed: 11 });
  const failing = fixture.labelers.find(({ problem }) => problem === 'authentication_required');
  const handles = fixture.labelers.flatMap(({ handle }) => handle?.name ?? []).sort();
  const busy = fixture.labelers.find(({ gaps, state }) => gaps.length > 1 && state === 'established');
  let browser: Browser;
  let program: Server;

  beforeAll(async () => {
    if (shots !== undefined) mkdirSync(shots, { recursive: true });
    putLabelers(folder, fixture);
    program = await startServer(['facts', '--port', '0', '--artifacts', folder.path, '--base-path', base]);
    await until('the labelers are read', async () => (await fetch(`${program.url}/labelers.json`)).status === 200);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await program?.stop();
    folder.remove();
  });

  const open = (path: string, options: BrowserContextOptions = {}) =>
    openPage(browser, `${program.url}${path}`, { ...scripted, ...options });

  const pages = (): [string, string][] => [
    ['list', '/labelers'],
    ['search', '/labelers?q=labeler-1&sort=name&page=2'],
    ['busy', `/labelers/${busy?.did}`],
    ['failing', `/labelers/${failing?.did}`],
  ];

  it('have no accessibility violation and no overflow from 320 to 1280 px, light and dark', async () => {
    for (const [name, path] of pages()) {
      const { page, complaints } = await open(path);
      for (const [width, colorScheme] of [
        [320, 'light'],
        [480, 'light'],
        [768, 'light'],
        [1280, 'dark'],
      ] as const) {
        const place = `${name} ${width} ${colorScheme}`;
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme });
        expect(await page.evaluate(() => document.documentElement.scrollWidth), place).toBeLessThanOrEqual(width);
        expect(await smallestText(page), place).toBeGreaterThanOrEqual(12);
        if (width === 320 || width === 1280) expect(await violations(page), place).toEqual([]);
        if (shots !== undefined) await page.screenshot({ path: join(shots, `${place}.png`) });
      }
      expect(complaints, name).toEqual([]);
      await page.close();
    }
  });

  it('fit a phone even if every table is open', async () => {
    const { page } = await open(`/labelers/${busy?.did}`, { viewport: { width: 320, height: 800 } });
    await page.locator('details').evaluateAll((all) => {
      for (const one of all) one.setAttribute('open', '');
    });
    expect(await page.locator('.day-table small').count()).toBeGreaterThan(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    await page.close();
  });

  it('contain no inline script or style, and permit a script only on a page with a chart', async () => {
    for (const [name, path] of pages()) {
      const response = await fetch(`${program.url}${path}`);
      const html = await response.text();
      const hasChart = path.startsWith('/labelers/');
      const scripts = [...html.matchAll(/<script[^>]*>/g)].map(([tag]) => tag);
      expect(scripts, name).toEqual(hasChart ? ['<script src="../assets/charts.js" type="module">'] : []);
      expect(html, name).not.toMatch(/<style| style=/);
      const policy = response.headers.get('content-security-policy') ?? '';
      const sources = hasChart ? "default-src 'none'; script-src 'self'" : "default-src 'none'";
      expect(policy, name).toMatch(new RegExp(`^${sources}; style-src 'self'; img-src 'self' data:;`));
    }
  });

  it('can be searched by keyboard, sorted and paged without scripts', async () => {
    const { page } = await open('/labelers', { javaScriptEnabled: false });
    await page.locator('#q').focus();
    const [first = '', ...others] = handles;
    const sought = others[42] ?? '';
    await page.keyboard.type(sought);
    await page.keyboard.press('Enter');
    await page.waitForURL(/q=labeler-/);
    await lists(page, 1);
    await page.locator('tbody a').focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/labelers\/did:plc:/);
    expect(await page.locator('h1').textContent()).toContain(sought);
    await page.getByRole('link', { name: 'Labelers', exact: true }).click();
    await page.locator('thead a', { hasText: 'Labeler' }).click();
    await page.waitForURL(/sort=name/);
    expect(await page.locator('tbody tr').first().textContent()).toContain(first);
    await page.getByText('Next page').click();
    await page.waitForURL(/page=2/);
    await lists(page, 50);
    await page.close();
  });

  it('transfer at most 50 kB when the list of 5,000 labelers is first loaded', async () => {
    const { page } = await open('/labelers');
    const bytes = await page.evaluate(() =>
      [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].reduce(
        (sum, entry) => sum + (entry as PerformanceResourceTiming).transferSize,
        0,
      ),
    );
    expect(bytes).toBeGreaterThan(5_000);
    expect(bytes).toBeLessThan(maxFirstLoadBytes);
    await page.close();
  });

  it('state the problem of a failing labeler for the operator of that labeler', async () => {
    const { page } = await open(`/labelers/${failing?.did}`);
    expect(await page.locator('.panel.warn').textContent()).toContain('responds to anonymous requests with 401 or 403');
    await page.close();
  });

  it('are linked from the observatory page', async () => {
    const { page } = await open('/', { javaScriptEnabled: false });
    await page.locator('a[href^="./labelers/did:"]').first().click();
    await page.waitForURL(/\/labelers\/did:plc:/);
    expect(await page.locator('h2').first().textContent()).not.toBe('');
    await page.close();
  });
});
