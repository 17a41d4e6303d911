import type { Browser, BrowserContextOptions, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accounts, hostileTexts } from '../../harness/accounts/account-history.ts';
import { type ObservedAccounts, observeAccounts } from '../../harness/accounts/observed-accounts.ts';
import { hasBrowser, inspect, openPage, startBrowser } from '../../harness/pages/browser.ts';
import { type Server, startServer } from '../../harness/process/program.ts';

const hotRows = 165_000;
const account = (name: keyof typeof accounts, more = ''): string => `/account?did=${accounts[name]}${more}`;
const textOf = async (element: Locator): Promise<string> => (await element.allInnerTexts()).join('\n');

describe.skipIf(!hasBrowser)('pages of accounts observed by the instrument', () => {
  let observed: ObservedAccounts;
  let browser: Browser;
  let old: Server;
  let young: Server;

  beforeAll(async () => {
    observed = await observeAccounts(hotRows);
    const start = (store: string) =>
      startServer(['account', '--port', '0', '--store', `sqlite:${store}`, '--data', store]);
    [old, young] = await Promise.all([start(observed.old), start(observed.young)]);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await Promise.all([old?.stop(), young?.stop()]);
    await observed?.stop();
  });

  const open = (path: string, options: BrowserContextOptions = {}, program = old) =>
    openPage(browser, program.url + path, options);

  it('show the labels of an ordinary account, newest first, with each labeler’s own definitions', async () => {
    const { page, complaints } = await open(account('plain'));
    const direct = observed.plain.filter(({ uri }) => uri === accounts.plain);
    const records = observed.plain.filter(({ uri }) => uri !== accounts.plain);
    const posts = records.filter(({ uri }) => String(uri).includes('/app.bsky.feed.post/'));
    const others = records.filter((label) => !posts.includes(label));
    const expected = [direct, posts, others].flatMap((part) =>
      part.toReversed().map(({ val, neg }) => `${neg === true ? 'Removed' : 'Applied'} ${String(val)}`),
    );
    expect(await page.locator('.row .row-head').allInnerTexts()).toEqual(expected);
    expect(expected).toHaveLength(8);
    expect(await textOf(page.locator('.row .definition').first())).toContain('Marked as spam by this labeler.');
    expect(await textOf(page.locator('.row').first())).toContain('Signature\nVerified');
    expect(complaints).toEqual([]);
  });

  it('show the time during which the instrument was stopped as unobserved, not as empty', async () => {
    const { page } = await open(account('plain'));
    expect(await page.locator('.chart-unseen').count()).toBeGreaterThanOrEqual(2);
    await page.getByText('The same data as a table').click();
    const rows = await page.locator('figure + details tbody tr').allInnerTexts();
    expect(rows.filter((row) => /not observed\tall of it$/.test(row)).length).toBeGreaterThanOrEqual(24);
    expect(rows.join('\n')).not.toMatch(/\t0\t0\tall of it/);
    expect(await textOf(page.locator('section[aria-labelledby=coverage]'))).toMatch(
      /Almanac was interrupted \d+ times/,
    );
  });

  it('count 165,000 rows of an account that is labeled continuously, show the newest rows, and offer all of them in parts', async () => {
    const { page } = await open(account('busy', '&days=7'));
    const headings = await page.locator('h2').allInnerTexts();
    const counts = headings.slice(2, 5).map((text) => Number(/\(([\d,]+)\)/.exec(text)?.[1]?.replaceAll(',', '')));
    expect(counts).toEqual([hotRows / 40, hotRows * 0.95, hotRows / 40]);
    expect(await page.locator('.row').count()).toBe(75);
    // A single day exceeds the row limit of an export, so the page links to an export whose error lists the parts.
    const href = (await page.locator('section[aria-labelledby=whole] a').first().getAttribute('href')) ?? '';
    const refused = await fetch(new URL(href, old.url));
    const { error } = (await refused.json()) as {
      error: { intervals: { start: string; end: string; rows: number }[] };
    };
    expect(refused.status).toBe(409);
    expect(error.intervals.every(({ rows }) => rows <= 50_000)).toBe(true);
    expect(error.intervals.reduce((sum, { rows }) => sum + rows, 0)).toBe(hotRows);
    const [{ start, end, rows } = { start: '', end: '', rows: 0 }] = error.intervals;
    const created = await fetch(`${old.url}/exports?${new URLSearchParams({ did: accounts.busy, start, end })}`);
    let { cursor } = (await created.json()) as { cursor: string | null };
    let read = 0;
    while (cursor !== null) {
      const page = await fetch(`${old.url}/exports?${new URLSearchParams({ cursor })}`);
      const body = (await page.json()) as { rows: unknown[]; next_cursor: string | null };
      read += body.rows.length;
      cursor = body.next_cursor;
    }
    expect(read).toBe(rows);
  });

  it('explain an account without observations, and an account whose observation has just begun', async () => {
    const none = await open(account('none'));
    expect(await textOf(none.page.locator('.none-observed'))).toContain('does not mean that no labels exist');
    const warm = await open(account('plain'), {}, young);
    expect(await textOf(warm.page.locator('main'))).toContain('Observation began on');
    expect(await warm.page.locator('.row').count()).toBe(1);
  });

  it('show hostile values and hostile definitions only as text', async () => {
    const { page, complaints, asked } = await open(account('hostile'), { javaScriptEnabled: true });
    expect(await page.locator('.row').count()).toBe(2 * hostileTexts.length);
    expect(await page.locator('.row blockquote.definition').count()).toBe(hostileTexts.length);
    expect(await page.locator('main script, main img, main style, main a[href^=javascript]').count()).toBe(0);
    expect(await page.title()).not.toContain('taken');
    const seen = await textOf(page.locator('main'));
    expect(seen).toContain('<img src=x');
    expect(seen).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/u);
    expect(complaints).toEqual([]);
    expect(asked.every((url) => url.startsWith(`${old.url}/`) || url === 'data:,')).toBe(true);
  });

  it('can be operated with only the keyboard, from the form to the table below the chart', async () => {
    const { page } = await open('/');
    await page.getByLabel('Handle or DID of an account').focus();
    await page.keyboard.type(accounts.plain);
    await page.keyboard.press('Enter');
    await page.waitForURL(/account\?did=/);
    const table = page.locator('summary', { hasText: 'The same data as a table' });
    for (let tabs = 0; tabs < 60 && !(await table.evaluate((one) => one === document.activeElement)); tabs += 1)
      await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.locator('figure + details tbody tr').first().isVisible()).toBe(true);
  });

  describe.each([
    ['a phone', { viewport: { width: 320, height: 700 } }],
    ['a phone in dark mode', { viewport: { width: 320, height: 700 }, colorScheme: 'dark' as const }],
    ['a desktop', { viewport: { width: 1280, height: 900 } }],
  ])('on %s', (_, options: BrowserContextOptions) => {
    it.each([
      ['a plain account with gaps', account('plain')],
      ['a hot account', account('busy')],
      ['an account without observations', account('none')],
      ['hostile texts', account('hostile')],
      ['an account whose observation has just begun', `young ${account('plain')}`],
    ])('fit the width without an accessibility violation (%s)', async (_name, path) => {
      const program = path.startsWith('young ') ? young : old;
      const scripts = { ...options, javaScriptEnabled: true, bypassCSP: true };
      const { page } = await open(path.replace('young ', ''), scripts, program);
      expect(await inspect(page)).toEqual({ found: [], tooWide: 0 });
      await page.close();
    });
  });
});
