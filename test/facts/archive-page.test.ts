import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeClosedArchive } from '../../harness/archive/closed-archive.ts';
import { artifactFolder, youngArtifact } from '../../harness/artifacts/artifacts.ts';
import { listenForTest } from '../../harness/net/listen.ts';
import { hasBrowser, openPage, smallestText, startBrowser, violations } from '../../harness/pages/browser.ts';
import { type Server, startServer } from '../../harness/process/program.ts';
import { until } from '../../harness/process/until.ts';
import { artifactNames } from '../../src/artifact/write.ts';
import { rateText } from '../../src/web/format.ts';

/** Directory for screenshots. By default, none are taken. */
const shots = process.env.ALMANAC_SHOTS;
const base = '/atproto';
const scripted = { javaScriptEnabled: true, viewport: { width: 1280, height: 800 } };
const [hourMs, dayMs] = [3_600_000, 86_400_000];

describe.skipIf(!hasBrowser)('the archive page in a browser', () => {
  const artifacts = artifactFolder();
  const root = mkdtempSync(join(tmpdir(), 'almanac-archive-page-'));
  let days: string[] = [];
  let browser: Browser;
  let program: Server;

  beforeAll(async () => {
    if (shots !== undefined) mkdirSync(shots, { recursive: true });
    const now = Date.now();
    const gaps = Array.from({ length: 40 }, (_, at) => {
      const start = now - (at * 53 + 20) * hourMs;
      return { start, end: start + (at % 9 === 0 ? 30 : 1) * hourMs };
    });
    days = writeClosedArchive({
      ...{ before: now, days: 90, faults: { weather: gaps, labels: gaps.slice(5, 20) } },
      write(path, bytes) {
        mkdirSync(join(root, dirname(path)), { recursive: true });
        writeFileSync(join(root, path), bytes);
      },
    });
    const args = ['facts', '--port', '0', '--artifacts', artifacts.path, '--archive', root, '--base-path', base];
    program = await startServer(args);
    await until('the archive is read', async () => (await fetch(`${program.url}/archive`)).status === 200);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await program?.stop();
    artifacts.remove();
    rmSync(root, { recursive: true });
  });

  const open = (path: string, options: BrowserContextOptions = {}) =>
    openPage(browser, `${program.url}${path}`, { ...scripted, ...options });

  const states = [
    ['shown', false],
    ['held', true],
  ] as const;

  /** Writes a held or unheld overview, and waits until the page hides or shows labels. */
  async function hold(isHeld: boolean): Promise<void> {
    artifacts.put(artifactNames.labels, { ...youngArtifact('recent'), hold: isHeld });
    await until('the page follows the hold', async () => {
      const html = await (await fetch(`${program.url}/archive`)).text();
      return html.includes('class="line-labels"') !== isHeld;
    });
  }

  it('has no accessibility violation and no overflow from 320 to 1280 px, light and dark, and causes no browser error', async () => {
    for (const [name, isHeld] of states) {
      await hold(isHeld);
      const { page, complaints } = await open('/archive');
      for (const [width, colorScheme] of [
        [320, 'light'],
        [480, 'dark'],
        [768, 'light'],
        [1280, 'light'],
        [1280, 'dark'],
      ] as const) {
        const place = `archive ${name} ${width} ${colorScheme}`;
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme });
        expect(await page.evaluate(() => document.documentElement.scrollWidth), place).toBeLessThanOrEqual(width);
        expect(await smallestText(page, 'svg'), place).toBeGreaterThanOrEqual(12);
        if (width !== 768) expect(await violations(page), place).toEqual([]);
        if (shots !== undefined) await page.screenshot({ path: join(shots, `${place}.png`), fullPage: true });
      }
      expect(complaints, name).toEqual([]);
      await page.close();
    }
  });

  it('contains no inline script and no inline style', async () => {
    const html = await (await fetch(`${program.url}/archive`)).text();
    expect(html).not.toMatch(
      /<script(?! type="application\/ld\+json">| src="\.\/assets\/charts\.js" type="module"><\/script>)|<style| style=/,
    );
  });

  it('is complete without scripts, and links only to existing files and pages', async () => {
    await hold(false);
    const { page } = await open('/archive', { javaScriptEnabled: false });
    expect(await page.locator('.archive-days tbody tr').count()).toBe(30);
    expect(await page.locator('.plots > svg.plot').count()).toBe(4);
    const drawn = await page.locator('.plots > svg.plot').first().boundingBox();
    expect([(drawn?.width ?? 0) > 300, (drawn?.height ?? 0) > 80]).toEqual([true, true]);
    const links = await page.locator('main a').evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
    const own = [...new Set(links)].filter((href) => href.startsWith('./'));
    expect(own).toContain(`./archive/days/${days.at(-1)}/weather-totals.csv`);
    expect(own.length).toBeGreaterThan(30 * 4);
    for (const href of own) {
      const response = await fetch(new URL(href, `${program.url}/archive`), { method: 'HEAD' });
      expect([href, response.status]).toEqual([href, 200]);
    }
    await page.close();
  });

  it('can be reached by keyboard from the observatory page, which shows one chart of the archive', async () => {
    const { page } = await open('/', { javaScriptEnabled: false });
    expect(await page.locator('section[aria-labelledby="archive"] .plots > svg.plot').count()).toBe(2);
    await page.getByRole('link', { name: 'The archive' }).first().focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/archive$/);
    expect(await page.locator('h1').textContent()).toBe('The archive');
    await page.close();
  });

  it('keeps its section on the observatory page while the script updates the facts, and hides labels while the operator holds them', async () => {
    await hold(false);
    /** Returns the section without the values that the script reads, and without the time of its rendering. */
    const asRendered = (html: string) =>
      html
        .replace(/(<div class="chart-read" data-own="">).*?<\/div>/s, '$1</div>')
        .replaceAll(/ data-through="\d+"|\d\d:\d\d UTC/g, '');
    const said: (readonly string[])[] = [];
    /** Returns the section as the server renders it now. */
    const served = async (): Promise<string> => {
      const { page, complaints } = await open('/', { javaScriptEnabled: false });
      said.push(complaints);
      const html = await page.locator('section[aria-labelledby="archive"]').innerHTML();
      await page.close();
      return asRendered(html);
    };
    const before = await served();
    const live = await open('/');
    await live.page.getByText('This page updates itself.').waitFor();
    const kept = live.page.locator('section[aria-labelledby="archive"]');
    const first = asRendered(await kept.innerHTML());
    expect(await kept.locator('.line-labels').count()).toBe(1);
    await hold(true);
    await live.page.evaluate(() => window.dispatchEvent(new Event('online')));
    await kept.getByText('The chart shows no labels.').waitFor();
    expect(await kept.locator('.line-labels').count()).toBe(0);
    await hold(false);
    await live.page.evaluate(() => window.dispatchEvent(new Event('online')));
    await kept.locator('.line-labels').waitFor();
    const last = asRendered(await kept.innerHTML());
    // The section changes with the hour, which may begin during the test.
    const either = [before, await served()];
    expect(either).toContain(first);
    expect(either).toContain(last);
    expect([...said.flat(), ...live.complaints].filter((text) => !text.includes('503'))).toEqual([]);
    await live.page.close();
  });

  it('reads the values of a day by pointer, touch and keyboard, from the same numbers as the file', async () => {
    await hold(false);
    const { page, complaints } = await open('/archive', { hasTouch: true });
    const figure = page.locator('section[aria-labelledby="year"] figure');
    const file = await (await fetch(`${program.url}/charts/year-labels.csv`)).text();
    const lines = file.split('\n').slice(1);
    const at = lines.findLastIndex((line) => Number(line.split(',')[2]) > 0 && line.includes(',1,,'));
    const value = Number(lines[at]?.split(',')[2]);
    const day = new Date(Date.parse(lines[at]?.split(',')[0] ?? '')).getUTCDate();
    const output = figure.locator('output');
    expect(await output.textContent()).toContain('point at the chart');
    await figure.scrollIntoViewIfNeeded();
    const box = await figure.locator('svg.plot').first().boundingBox();
    const x = (box?.x ?? 0) + ((at + 0.5) / 365) * (box?.width ?? 0);
    await page.mouse.move(x, (box?.y ?? 0) + 40);
    const shown = new RegExp(`^${day} \\w{3}: events per second .*; labels per hour ${rateText(value)}, `);
    await expect.poll(() => output.textContent()).toMatch(shown);
    await figure.locator('input').focus();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => output.textContent()).not.toMatch(shown);
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => output.textContent()).toMatch(shown);
    expect(await figure.locator('input').getAttribute('aria-valuetext')).toMatch(shown);
    expect(await figure.locator('.plot-cursor').count()).toBe(2);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('links each point of the chart to the file of its day', async () => {
    const { page } = await open('/archive');
    await page.locator('.plots a').nth(10).click();
    const day = new Date(Date.now() - 19 * dayMs).toISOString().slice(0, 10);
    expect(page.url()).toBe(`${program.url}/archive/days/${day}/day.json`);
    await page.close();
  });

  it('has files that a page of another origin can read in ranges, such as the end of a Parquet file', async () => {
    const { port } = await listenForTest(createServer((_request, response) => response.end()));
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${port}/`);
    const end = await page.evaluate(
      async (url) => {
        const { headers } = await fetch(url, { method: 'HEAD' });
        const answer = await fetch(url, { headers: { Range: 'bytes=-8', 'If-Range': headers.get('etag') ?? '' } });
        const bytes = [...new Uint8Array(await answer.arrayBuffer())];
        return [
          answer.status,
          bytes.length,
          String.fromCharCode(...bytes.slice(4)),
          answer.headers.get('content-range'),
        ];
      },
      `${program.url}/archive/days/${days.at(-1)}/labels-totals.parquet`,
    );
    const size = statSync(join(root, `days/${days.at(-1)}/labels-totals.parquet`)).size;
    expect(end).toEqual([206, 8, 'PAR1', `bytes ${size - 8}-${size - 1}/${size}`]);
    await page.close();
  });
});
