import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accounts, writeHistory } from '../../harness/accounts/account-history.ts';
import { hasBrowser, inspect, openPage, startBrowser, toNext } from '../../harness/pages/browser.ts';
import { type Server, startServer } from '../../harness/process/program.ts';
import { languageNames } from '../../src/account/page/choose-language.ts';
import { textsOf } from '../../src/account/texts/texts.ts';
import { day, hour } from '../../src/store/time.ts';
import { languages } from '../../src/web/language.ts';

describe.skipIf(!hasBrowser)('account pages in every language', () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-languages-'));
  let browser: Browser;
  let old: Server;
  let young: Server;

  beforeAll(async () => {
    const now = Date.now() * 1000;
    await writeHistory({ folder: join(folder, 'old'), now, age: 33 * day, hotRows: 2_000 });
    await writeHistory({ folder: join(folder, 'young'), now, age: 3 * day + hour });
    const start = (name: string) =>
      startServer(['account', '--port', '0', '--store', `sqlite:${join(folder, name)}`, '--data', folder]);
    [old, young] = await Promise.all([start('old'), start('young')]);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await Promise.all([old?.stop(), young?.stop()]);
    rmSync(folder, { recursive: true });
  });

  const plain = `/account?did=${accounts.plain}`;
  const phone = { viewport: { width: 320, height: 700 }, javaScriptEnabled: true, bypassCSP: true };
  const pages = [
    '/?',
    plain,
    `${plain}&value=rude&action=removal_observed&days=7`,
    `/account?did=${accounts.busy}`,
    `/account?did=${accounts.none}`,
    `/account?did=${accounts.hostile}`,
    '/account?did=alice',
    `${plain}&start=2026-11-10&end=2026-11-11`,
    `young ${plain}`,
  ];

  it.each(languages)('fit a phone and a desktop without an accessibility violation (%s)', async (language) => {
    for (const path of pages) {
      const { url } = path.startsWith('young ') ? young : old;
      const { page, complaints } = await openPage(
        browser,
        `${url}${path.replace('young ', '')}&lang=${language}`,
        phone,
      );
      expect({ path, ...(await inspect(page)) }).toEqual({ path, found: [], tooWide: 0 });
      await page.setViewportSize({ width: 1280, height: 900 });
      expect({ path, ...(await inspect(page)) }).toEqual({ path, found: [], tooWide: 0 });
      expect(await page.locator('html').getAttribute('lang')).toBe(language);
      expect(complaints.filter((text) => !/status of (?:409|503)/.test(text))).toEqual([]);
      await page.close();
    }
  });

  it('use the language of the browser, and link to other languages without scripts', async () => {
    const context = await browser.newContext({ locale: 'de-AT', javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${old.url}${plain}&value=spam`);
    expect(await page.locator('#coverage').textContent()).toBe(textsOf('de').coverage);
    // The labeler offers this definition in German.
    expect(await page.locator('blockquote.definition[lang=de]').first().textContent()).toBe(
      'Unerwünscht Unerwünschte Werbung in großer Zahl.',
    );
    await toNext(page, page.getByRole('link', { name: languageNames.ja }));
    expect(page.url()).toContain('value=spam&lang=ja');
    expect(await page.locator('#coverage').textContent()).toBe(textsOf('ja').coverage);
    expect(await page.locator('blockquote.definition').first().textContent()).toMatch(/^Spam .* \(英語\)$/);
    await toNext(page, page.getByRole('link', { name: textsOf('ja').days(7) }));
    expect(page.url()).toMatch(/days=7&value=spam&lang=ja$/);
    await context.close();
  });
});
