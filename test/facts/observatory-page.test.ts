import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { artifactFolder, youngArtifact } from '../../harness/artifacts/artifacts.ts';
import type { JsonObject } from '../../harness/artifacts/fixtures.ts';
import { hasBrowser, startBrowser, violations } from '../../harness/pages/browser.ts';
import { type PageStateName, pageStates } from '../../harness/pages/page-states.ts';
import { type Server, startServer } from '../../harness/process/program.ts';
import { artifactNames } from '../../src/artifact/write.ts';

/** Directory for screenshots of every state. By default, none are taken. */
const shots = process.env.ALMANAC_SHOTS;

const base = '/atproto';
const minute = 61_000;

describe.skipIf(!hasBrowser)('the observatory page in a browser', () => {
  const folder = artifactFolder();
  let browser: Browser;
  let program: Server;

  beforeAll(async () => {
    if (shots !== undefined) mkdirSync(shots, { recursive: true });
    program = await startServer(['facts', '--port', '0', '--artifacts', folder.path, '--base-path', base]);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await program?.stop();
    folder.remove();
  });

  function set(state: { labels: object | null; weather: object | null }): void {
    for (const name of ['labels', 'weather'] as const) {
      const artifact = state[name];
      if (artifact === null) rmSync(join(folder.path, artifactNames[name]), { force: true });
      else folder.put(artifactNames[name], artifact);
    }
  }

  /** Opens the page, and records its requests and the browser's error messages. The test controls the page's clock. */
  async function open({ clock = true, ...options }: BrowserContextOptions & { clock?: boolean } = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const page = await context.newPage();
    const asked: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      // A refused fact is a valid response, but the browser reports every 503 as an error.
      if (!message.text().includes('503')) complaints.push(message.text());
    });
    if (clock) await page.clock.install();
    await page.goto(`${program.url}/`);
    return { page, asked, complaints, close: () => context.close() };
  }

  const live = (page: Page) => page.getByText('This page updates itself.').waitFor();
  const figure = (page: Page, at: string) => page.locator(`[data-at="${at}"]`);
  /** Returns the visible text of an element. */
  const read = async (place: Locator) => (await place.allInnerTexts()).join('\n').replaceAll('\u00a0', ' ');
  const refused = (page: Page, name: string) => read(page.locator(`[data-refused="${name}"]`));

  describe('with its script', () => {
    it('shows a changed artifact once the previous response has expired, and contacts no other origin', async () => {
      set(pageStates.fresh());
      const { page, asked, complaints, close } = await open();
      await live(page);
      expect(await read(figure(page, 'labels/facts/counts/events_24h'))).toBe('1,391,204');
      const counts = { ...((youngArtifact('recent') as JsonObject).counts as object), events_24h: 1_400_000 };
      set({ labels: { ...youngArtifact('recent'), counts }, weather: youngArtifact('weather') });
      const before = asked.length;
      await page.clock.runFor(minute);
      await page.getByText('1,400,000').waitFor();
      expect(await page.getByText('1,391,204').count()).toBe(0);
      expect(asked.slice(before)).toEqual([`${program.url}/`]);
      expect(asked.filter((url) => !url.startsWith(`${program.url}/`) && url !== 'data:,')).toEqual([]);
      expect(complaints).toEqual([]);
      await close();
    });

    it('removes the numbers of a refused fact, shows the reason, and later shows the next reading', async () => {
      set(pageStates.fresh());
      const { page, complaints, close } = await open();
      await live(page);
      expect(await page.locator('[data-at^="labels/facts"]').count()).toBeGreaterThan(10);
      set(pageStates.held());
      await page.clock.runFor(minute);
      await page.locator('[data-refused="labels"]').waitFor();
      expect(await refused(page, 'labels')).toContain("The instrument's operator is holding this reading back.");
      expect(await page.locator('[data-at^="labels/"]').count()).toBe(0);
      expect(await page.getByText('1,391,204').count()).toBe(0);
      expect(await read(page.getByRole('status'))).toBe('The label overview: now refused; the numbers were removed.');
      expect(await page.locator('[data-at^="conditions/"]').count()).toBeGreaterThan(2);
      set(pageStates.fresh());
      await page.clock.runFor(minute);
      await figure(page, 'labels/facts/counts/events_24h').waitFor();
      expect(await page.locator('[data-refused]').count()).toBe(0);
      expect(await read(page.getByRole('status'))).toBe('The label overview: shown again.');
      expect(complaints).toEqual([]);
      await close();
    });

    it('removes every number while the service does not respond, and shows numbers again afterwards', async () => {
      set(pageStates.fresh());
      const { page, close } = await open();
      await live(page);
      await page.route(`${program.url}/`, (route) => route.abort());
      await page.clock.runFor(minute);
      await page.locator('[data-refused="everything"]').waitFor();
      expect(await page.locator('[data-at], [data-said], main svg').count()).toBe(0);
      expect(await refused(page, 'everything')).toContain('The service did not respond.');
      expect(await read(page.getByRole('status'))).toBe('No response from the service; the numbers were removed.');
      await page.unroute(`${program.url}/`);
      await page.clock.runFor(16_000);
      await figure(page, 'metrics/facts/total_events/total').waitFor();
      await close();
    });

    it('removes every number at once after the computer slept, before the next page arrives', async () => {
      set(pageStates.fresh());
      const { page, close } = await open();
      await live(page);
      await page.route(`${program.url}/`, () => undefined);
      await page.clock.fastForward(10 * minute);
      await page.locator('[data-refused="everything"]').waitFor();
      expect(await refused(page, 'everything')).toMatch(/^The earlier content was removed/);
      expect(await page.locator('[data-at], [data-said], main svg').count()).toBe(0);
      await close();
    });

    it('removes every number after a response that is not this page', async () => {
      set(pageStates.fresh());
      const { page, close } = await open();
      await live(page);
      const strange = { contract: 'atproto.facts.labels.overview/v1', facts: {} };
      await page.route(`${program.url}/`, (route) => route.fulfill({ json: strange }));
      await page.clock.runFor(minute);
      await page.getByText('The response is not this page.').waitFor();
      expect(await read(page.locator('body'))).not.toMatch(/\d/);
      await close();
    });

    it('keeps opened details, the keyboard focus and the position while it shows newer facts', async () => {
      set(pageStates.gaps());
      const { page, close } = await open();
      await live(page);
      await page.getByText('Earlier gaps').click();
      const link = page.locator('a[href="./labelers"]').last();
      await link.focus();
      const top = await page.evaluate(() => window.scrollY);
      const counts = { ...((youngArtifact('recent') as JsonObject).counts as object), events_24h: 1_400_000 };
      set({ ...pageStates.gaps(), labels: { ...pageStates.gaps().labels, counts } });
      await page.clock.runFor(minute);
      await page.getByText('1,400,000').waitFor();
      expect(await page.locator('details[open]').count()).toBe(1);
      expect(await link.evaluate((element) => element === document.activeElement)).toBe(true);
      expect(await page.evaluate(() => window.scrollY)).toBe(top);
      await close();
    });

    it('shows a banner and changes its title when live facts are replaced by simulated facts', async () => {
      set(pageStates.fresh());
      const { page, close } = await open();
      await live(page);
      expect(await page.locator('.banner').count()).toBe(0);
      set(pageStates.simulated());
      await page.clock.runFor(minute);
      await page.locator('.banner').waitFor();
      expect(await read(page.locator('.banner'))).toBe(
        'These facts come from a simulated network. They say nothing about the real one.',
      );
      expect(await page.title()).toMatch(/^\[simulated\] /);
      await close();
    });
  });

  it('has the same text with and without its script', async () => {
    set(pageStates.gaps());
    const scripted = await open();
    await live(scripted.page);
    const plain = await open({ javaScriptEnabled: false });
    const texts = async (page: Page) =>
      (await page.locator('main section').allInnerTexts()).map((text) => text.replaceAll(/\d+ s old/g, 'N s old'));
    expect(await texts(plain.page)).toEqual(await texts(scripted.page));
    expect(await read(plain.page.locator('main'))).toContain('reload it for current data');
    await scripted.close();
    await plain.close();
  });

  const expected: Record<PageStateName, { says: readonly string[]; never: readonly string[] }> = {
    fresh: { says: ['Busier than usual for this hour', 'Labels: fresh', '41,812,377'], never: ['refused now'] },
    warming_up: { says: ['Labels: warming up', 'before the observation began'], never: ['Labels: fresh'] },
    stale: { says: ['Labels: stale, and refused', 'source_stale', '3 h old'], never: ['1,391,204'] },
    held: { says: ['Labels: held back, and refused', 'source_held'], never: ['1,391,204'] },
    unavailable: { says: ['Labels: unavailable, and refused', 'source_unavailable'], never: ['1,391,204'] },
    no_collection: { says: ['No page of labels with a usable time was collected'], never: ['1,391,204'] },
    gaps: { says: ['a labeler could not be reached', 'Earlier gaps'], never: [] },
    overflow: { says: ['the whole window counts as one'], never: ['No gap is recorded'] },
    weather_absent: { says: ['There is no weather data', '1,391,204'], never: ['Busier', '330.4'] },
    weather_old: {
      says: ['There is no current weather data', 'Weather: old', 'so it does not describe the present'],
      never: ['Weather: current'],
    },
    weather_unwatched: { says: ['none of this time was observed', 'not observed'], never: ['330.4'] },
    weather_uncomparable: { says: ['Not enough to compare', 'absence of a reading, not calm'], never: ['Calm'] },
    legacy: {
      says: ['legacy producer', 'Under-observed', 'churn_index'],
      never: ['Applications and removals observed'],
    },
    simulated: {
      says: ['These facts come from a simulated network', 'Weather of a simulated network'],
      never: ['Weather of the network'],
    },
    nothing: { says: ['There is no weather data', 'Labels: unavailable, and refused'], never: ['0 '] },
  };

  const sizes = [
    { width: 320, colorScheme: 'light' },
    { width: 768, colorScheme: 'dark' },
    { width: 1280, colorScheme: 'light' },
  ] as const;

  it.each(Object.keys(pageStates) as PageStateName[])(
    'shows the facts at 320, 768 and 1280 px, light and dark, without overflow or an accessibility violation (%s)',
    async (name) => {
      set(pageStates[name]());
      const { page, complaints, close } = await open({ viewport: { width: 320, height: 800 } });
      await live(page);
      for (const { width, colorScheme } of sizes) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme });
        const text = await read(page.locator('body'));
        for (const said of expected[name].says) expect(text).toContain(said);
        for (const said of expected[name].never) expect(text).not.toContain(said);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
        expect(width < 1280 ? await violations(page) : []).toEqual([]);
        if (shots !== undefined) {
          await page.screenshot({ path: join(shots, `${name}-${width}-${colorScheme}.png`), fullPage: true });
        }
      }
      expect(complaints).toEqual([]);
      await close();
    },
  );

  it('is smaller than 150 kB in total', async () => {
    set(pageStates.gaps());
    const { page, close } = await open({ clock: false });
    await live(page);
    const { bytes, ready } = await page.evaluate(() => {
      const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
      const resources = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
      return {
        bytes: [navigation, ...resources].reduce((sum, entry) => sum + (entry?.transferSize ?? 0), 0),
        ready: navigation?.domContentLoadedEventEnd ?? Number.NaN,
      };
    });
    if (shots !== undefined)
      process.stderr.write(`page: ${bytes} bytes in total, ready after ${Math.round(ready)} ms\n`);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(150_000);
    await close();
  });
});
