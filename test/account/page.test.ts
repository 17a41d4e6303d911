import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accounts, hostileTexts, labelers, writeHistory } from '../../harness/accounts/account-history.ts';
import { hasBrowser, inspect, openPage, pixelsTooWide, startBrowser, toNext } from '../../harness/pages/browser.ts';
import { type Server, startServer } from '../../harness/process/program.ts';
import { day, hour } from '../../src/store/time.ts';
import { languages } from '../../src/web/language.ts';

/** Returns the visible text of an element. */
async function textOf(element: Locator): Promise<string> {
  return (await element.allInnerTexts()).join('\n');
}

const hotRows = 41_000;
/** Row limit of one export, which the rows of the hot account exceed three times. */
const maxExportRows = 12_000;

describe.skipIf(!hasBrowser)('account pages in a browser', () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-pages-'));
  let browser: Browser;
  /** Servers with two stores: one of 33 days with gaps, and one of three days. */
  let old: Server;
  let young: Server;

  beforeAll(async () => {
    const now = Date.now() * 1000;
    await writeHistory({ folder: join(folder, 'old'), now, age: 33 * day, hotRows });
    await writeHistory({ folder: join(folder, 'young'), now, age: 3 * day + hour });
    const start = (name: string) =>
      startServer([
        'account',
        '--port',
        '0',
        '--store',
        `sqlite:${join(folder, name)}`,
        '--data',
        folder,
        '--base-path',
        '/at',
        '--max-export-rows',
        String(maxExportRows),
      ]);
    [old, young] = await Promise.all([start('old'), start('young')]);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await Promise.all([old?.stop(), young?.stop()]);
    rmSync(folder, { recursive: true });
  });

  const account = (name: keyof typeof accounts, more = ''): string => `/account?did=${accounts[name]}${more}`;

  const open = (path: string, options: BrowserContextOptions = {}, program = old) =>
    openPage(browser, program.url + path, options);

  /** Returns the details of the `nth` observation on a page. */
  const particulars = (page: Page, nth: number): Promise<string[]> =>
    page.locator('.row').nth(nth).locator('dl > div').allInnerTexts();

  it('show the labels of an ordinary account in three parts, each with two times and the labeler’s definition', async () => {
    const { page, asked, complaints, headers } = await open(account('plain'));
    expect(await page.locator('h2').allInnerTexts()).toEqual([
      'By labeler and value',
      'By day',
      'On the account itself (3)',
      'On posts (3)',
      'On other records (2)',
      'If you disagree with a label',
      'What was not observed',
      'Download everything',
    ]);
    const heads = await page.locator('.row .row-head').allInnerTexts();
    expect(heads).toEqual([
      'Applied spam',
      'Removed spam',
      'Applied spam',
      'Removed rude',
      'Applied rude',
      'Applied rude',
      'Applied !warn',
      'Applied rude',
    ]);
    expect(await textOf(page.locator('.row .definition').nth(1))).toBe(
      'Spam Unwanted advertising, posted again and again.',
    );
    expect(await page.locator('.subject > .subject-head').allInnerTexts()).toEqual([
      'The account itself',
      `at://${accounts.plain}/app.bsky.feed.post/3lb5xpd2ank2v`,
      `at://${accounts.plain}/app.bsky.graph.list/3lb5xpd2ank2v`,
      `at://${accounts.plain}/app.bsky.actor.profile/self`,
    ]);
    const [observed, authored, expires, signature] = await particulars(page, 0);
    expect(observed).toMatch(/^Observed \(Almanac’s clock\)\n\d{1,2} [A-Z][a-z]{2} \d{4}, \d\d:\d\d:\d\d UTC$/);
    expect(authored).toMatch(/^Authored \(as the labeler wrote it\)\n\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(expires).toBe('Expires (as the labeler wrote it)\n2027-01-01T00:00:00Z');
    expect(signature).toBe('Signature\nCould not be verified: no key was found, or only one that may be outdated');
    expect(complaints).toEqual([]);
    expect(asked.every((url) => url.startsWith(`${old.url}/`) || url === 'data:,')).toBe(true);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex, nofollow',
      'content-security-policy':
        "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    });
    expect(await page.locator('script, [style], style').count()).toBe(0);
  });

  it('begin with a table of labelers and values, whose links filter the page without scripts', async () => {
    const { page } = await open(account('plain'));
    const values = (labeler: number) => page.locator('table.answer tbody').nth(labeler).locator('tr:not(.labeler)');
    const cells = (labeler: number) =>
      values(labeler).evaluateAll((rows) =>
        rows.map((row) => [...row.children].slice(0, 3).map(({ textContent }) => textContent?.trim())),
      );
    expect(await page.locator('table.answer .labeler code').allInnerTexts()).toEqual([labelers.careful, labelers.web]);
    expect(await cells(0)).toEqual([
      ['All values', '4', '2'],
      ['rude', '2', '1'],
      ['spam', '1', '1'],
      ['!warn', '1', '0'],
    ]);
    expect(await cells(1)).toEqual([
      ['All values', '2', '0'],
      ['rude', '1', '0'],
      ['spam', '1', '0'],
    ]);
    expect(await textOf(page.locator('table.answer .labeler').first())).toMatch(
      /Not observed for 4 days, \d+ hours? of/,
    );
    await toNext(page, values(0).getByRole('link', { name: 'rude' }));
    expect(await page.locator('.row .row-head').allInnerTexts()).toEqual([
      'Removed rude',
      'Applied rude',
      'Applied rude',
    ]);
    expect(await cells(0)).toEqual([['rude', '2', '1']]);
    await toNext(page, page.getByRole('link', { name: 'Remove this filter (Value)' }));
    expect((await cells(0)).length).toBe(4);
    expect(await page.locator('table.answer tbody').count()).toBe(1);
  });

  it('show an account without observations as unknown, and show the coverage', async () => {
    const { page } = await open(account('none'));
    expect(await textOf(page.locator('.none-observed'))).toContain('does not mean that no labels exist');
    expect(await page.locator('.row').count()).toBe(0);
    expect(await textOf(page.locator('section[aria-labelledby=coverage]'))).toContain(
      'Almanac was interrupted 2 times',
    );
  });

  it('show unobserved time as unobserved, in the chart and in the table', async () => {
    const { page } = await open(account('plain'));
    expect(await page.locator('.chart-unseen').count()).toBe(2);
    expect(await page.locator('.chart-part').count()).toBe(1);
    await page.getByText('The same data as a table').click();
    const rows = await page.locator('figure + details tbody tr').allInnerTexts();
    expect(rows).toHaveLength(31);
    expect(rows.filter((row) => /not observed\tall of it/.test(row)).length).toBeGreaterThanOrEqual(1);
  });

  it('show the time before observation began as unobserved, with an explanation', async () => {
    const { page } = await open(account('plain'), {}, young);
    expect(await textOf(page.locator('main'))).toContain('Observation began on');
    expect(await textOf(page.locator('.panel.warn'))).toContain('Only part of the requested time was');
    await page.getByText('The same data as a table').click();
    const rows = await page.locator('figure + details tbody tr').allInnerTexts();
    expect(rows.slice(0, 26).every((row) => row.endsWith('not observed\tall of it'))).toBe(true);
    expect(rows.join('\n')).not.toMatch(/\t0\t0\tall of it/);
  });

  it('show the newest of 41,000 rows, count all rows, and offer them in parts within the row limit', async () => {
    const { page } = await open(account('busy', '&days=30'));
    const headings = await page.locator('h2').allInnerTexts();
    expect(headings.slice(2, 5)).toEqual([
      'On the account itself (1,025)',
      'On posts (38,950)',
      'On other records (1,025)',
    ]);
    expect(await page.locator('.row').count()).toBe(75);
    expect(await textOf(page.locator('.more').first())).toContain(
      'The newest 25 of 1,025 observations shown; this list is incomplete.',
    );
    const parts = page.locator('section[aria-labelledby=whole] ol li');
    const rows = (await parts.allInnerTexts()).map((text) =>
      Number(/, ([\d,]+) rows?$/.exec(text)?.[1]?.replaceAll(',', '')),
    );
    expect(rows.length).toBeGreaterThan(3);
    expect(rows.every((n) => n <= maxExportRows)).toBe(true);
    expect(rows.reduce((a, b) => a + b, 0)).toBe(hotRows);
    const href = (await parts.first().locator('a').getAttribute('href')) ?? '';
    const download = (await (await fetch(new URL(href, old.url))).json()) as { count: number; rows: unknown[] };
    expect([download.count, download.rows.length]).toEqual([rows[0], rows[0]]);
  });

  it('continue the list of one target kind without losing or repeating a row, and keep the filters', async () => {
    const { page } = await open(
      account('busy', `&days=7&value=spam&action=removal_observed&labeler=${labelers.careful}`),
    );
    const total = Number(/\((\d+)\)/.exec(await textOf(page.locator('#part-post')))?.[1]);
    expect(total).toBeGreaterThan(100);
    const seen: string[] = [];
    await toNext(page, page.locator('section[aria-labelledby=part-post]').getByText('only these'));
    for (;;) {
      seen.push(
        ...(await page.locator('.row time').evaluateAll((all) => all.map((one) => one.getAttribute('datetime') ?? ''))),
      );
      expect(new Set(await page.locator('.row .row-head').allInnerTexts())).toEqual(new Set(['Removed spam']));
      const older = page.getByText('Older observations');
      if ((await older.count()) === 0) break;
      await toNext(page, older);
      expect(page.url()).toContain('value=spam&action=removal_observed');
    }
    expect(seen).toHaveLength(total);
    expect(seen).toEqual([...new Set(seen)].sort().reverse());
  });

  it('keep the filters when the interval changes, and remove only the filter whose link is used', async () => {
    const { page } = await open(account('plain'));
    await page.getByText('Filter', { exact: true }).first().click();
    await page.getByLabel('Value', { exact: true }).fill('rude');
    await page.getByLabel('What happened', { exact: true }).selectOption({ label: 'Applied' });
    await toNext(page, page.getByRole('button', { name: 'Filter' }));
    expect(await page.locator('.row .row-head').allInnerTexts()).toEqual(Array(3).fill('Applied rude'));
    await toNext(page, page.getByRole('link', { name: '7 days' }));
    expect(page.url()).toMatch(/days=7.*value=rude.*action=application_observed/);
    await toNext(page, page.getByRole('link', { name: 'Remove this filter (Value)' }));
    expect(await page.locator('.row .row-head').allInnerTexts()).toEqual([
      'Applied rude',
      'Applied rude',
      'Applied !warn',
      'Applied rude',
    ]);
    await page.getByText('Another interval').click();
    await page.getByLabel('From (UTC, included)').fill('2020-01-01T00:00:00Z');
    await page.getByLabel('To (UTC, not included)').fill('2020-01-02T00:00:00Z');
    await toNext(page, page.getByRole('button', { name: 'Show this interval' }));
    expect(await textOf(page.locator('h1'))).toBe('No data is available for this interval');
  });

  it('show hostile values and hostile definitions only as text', async () => {
    const { page, complaints, asked } = await open(account('hostile'), { javaScriptEnabled: true });
    expect(await page.title()).toBe(`Labels observed on ${accounts.hostile} · Almanac`);
    expect(await page.locator('main script, main img, main style, main a[href^=javascript]').count()).toBe(0);
    expect(await page.locator('.row').count()).toBe(2 * hostileTexts.length);
    await page.locator('details').evaluateAll((all) => {
      for (const one of all) one.setAttribute('open', '');
    });
    const values = await page.locator('.row .value').allInnerTexts();
    expect(values).toContain(hostileTexts[0]);
    expect(values.join('')).not.toMatch(/[\u202A-\u202E\u2066-\u2069\p{Cc}]/u);
    expect(await textOf(page.locator('h2').last())).toBe('Download everything');
    expect(complaints).toEqual([]);
    expect(asked.every((url) => url.startsWith(`${old.url}/`) || url === 'data:,')).toBe(true);
    expect((await page.content()).length).toBeLessThan(200_000);
  });

  it.each([
    ['/account?did=alice', 409, 'invalid_account'],
    [`/account?did=${accounts.plain}&days=9`, 409, 'unsupported_interval'],
    [`/account?did=${accounts.plain}&start=2026-01-01T00:00:00Z`, 409, 'invalid_interval'],
    [`/account?did=${accounts.plain}&start=2020-01-01T00:00:00Z&end=2020-01-02T00:00:00Z`, 409, 'out_of_window'],
    [`/account?did=${accounts.plain}&action=seen`, 409, 'invalid_filter'],
    [`/account?did=${accounts.plain}&color=red`, 409, 'unknown_parameter'],
    [`/account?did=${accounts.plain}&target_kind=post&before=then`, 409, 'invalid_cursor'],
    [`/account?did=${accounts.plain}&before=2026-01-01T00:00:00Z`, 409, 'invalid_cursor'],
    ['/account?did=alice.test', 409, 'invalid_account'],
  ])('show an error page with the error code and the form (%s, status %i)', async (path, status, code) => {
    const opened = await open(path);
    expect(opened.status).toBe(status);
    expect(opened.headers['cache-control']).toBe('no-store');
    expect(await textOf(opened.page.locator('.panel.stop code'))).toBe(code);
    const asked = new URL(path, 'http://almanac.test').searchParams.get('did');
    expect(await opened.page.getByLabel('Handle or DID of an account').inputValue()).toBe(asked);
    expect(await opened.page.getByRole('button', { name: 'Show observations' }).count()).toBe(1);
  });

  it('can be operated with only the keyboard, from the form to the choice of another interval', async () => {
    const { page } = await open('/');
    await page.keyboard.press('Tab');
    expect(await textOf(page.locator(':focus'))).toBe('Skip to the content');
    await page.getByLabel('Handle or DID of an account').focus();
    await page.keyboard.type(accounts.plain);
    await page.keyboard.press('Enter');
    await page.waitForURL(/account\?did=/);
    for (let tabs = 0; tabs < 12 && !(await page.locator('summary:focus').count()); tabs++) {
      await page.keyboard.press('Tab');
      if (await page.locator('a[href="#another-interval"]:focus').count()) await page.keyboard.press('Enter');
    }
    expect(await textOf(page.locator('summary:focus'))).toBe('Another interval');
    await page.keyboard.press('Enter');
    expect(await page.getByLabel('From (UTC, included)').isVisible()).toBe(true);
  });

  it('do not describe labels as active, current or in effect', async () => {
    for (const path of ['/', account('plain'), account('none'), account('busy')]) {
      const { page } = await open(path);
      expect(await textOf(page.locator('main'))).not.toMatch(/\b(?:active|current|currently|in effect)\b/i);
      await page.close();
    }
  });

  it('fit a phone in every language', async () => {
    const { page } = await open(account('plain'), { viewport: { width: 320, height: 700 }, javaScriptEnabled: true });
    for (const language of languages) {
      await page.goto(`${old.url}${account('plain')}&lang=${language}`);
      expect({ language, tooWide: await pixelsTooWide(page) }).toEqual({ language, tooWide: 0 });
    }
    await page.close();
  });

  it.each([
    ['the first page', '/'],
    ['a plain account', account('plain')],
    ['an account with a filter', account('plain', '&value=rude&days=7')],
    ['a hot account', account('busy')],
    ['an account without observations', account('none')],
    ['hostile texts', account('hostile')],
    ['a refusal', '/account?did=alice'],
    ['an address without a page', '/account/alice.example'],
    ['an error page for an interval', account('plain', '&start=2026-11-10&end=2026-11-11&value=rude')],
    ['an account whose observation has just begun', `young ${account('plain')}`],
  ])('fit a phone and a dark desktop without an accessibility violation (%s)', async (_name, path) => {
    const program = path.startsWith('young ') ? young : old;
    const phone = { viewport: { width: 320, height: 700 }, javaScriptEnabled: true, bypassCSP: true };
    const { page } = await open(path.replace('young ', ''), phone, program);
    expect(await inspect(page)).toEqual({ found: [], tooWide: 0 });
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await inspect(page)).toEqual({ found: [], tooWide: 0 });
    await page.close();
  });
});
