import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accounts, writeHistory } from '../../harness/accounts/account-history.ts';
import { type Server, startServer } from '../../harness/process/program.ts';
import type { Origin } from '../../src/contract/vocabulary.ts';
import { claimOrigin } from '../../src/store/origin.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day, micros } from '../../src/store/time.ts';

/** Returns the text of a page's banner, or null if the page has no banner. */
function bannerOf(html: string): string | null {
  return /<aside class="banner"[^>]*>([^<]*)<\/aside>/.exec(html)?.[1] ?? null;
}

describe('the account pages of a store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-origin-'));
  const running = new Map<string, Server>();

  beforeAll(async () => {
    for (const origin of ['live', 'simulated'] as const) {
      const store = join(folder, origin);
      await claim(store, origin);
      await writeHistory({ folder: store, now: Date.now() * 1000, age: 3 * day });
      running.set(
        origin,
        await startServer([
          ...['account', '--port', '0', '--store', `sqlite:${store}`, '--data', folder, '--no-handles'],
          ...['--sample-account', `${accounts.plain} one label`],
          // A client's requests are served one after the other, so on a slow machine concurrent ones wait for long.
          ...['--queue-ms', '20000'],
        ]),
      );
    }
  });
  afterAll(async () => {
    await Promise.all([...running.values()].map((one) => one.stop()));
    rmSync(folder, { recursive: true });
  });

  /** Sets the origin of an empty store. */
  async function claim(store: string, origin: Origin): Promise<void> {
    const writer = openSqliteWriter({ folder: store, at: micros(Date.now() * 1000 - 3 * day) });
    await claimOrigin(writer, origin);
    await writer.close();
  }

  const paths = ['/', `/account?did=${accounts.plain}`, '/account?did=nobody'];
  const banners = async (origin: Origin) => {
    const url = running.get(origin)?.url ?? '';
    return Promise.all(paths.map(async (path) => bannerOf(await (await fetch(`${url}${path}`)).text())));
  };

  it('have a banner at the top, even on the form and error pages, if the store is of a simulated network', async () => {
    const simulated = 'These observations come from a simulated network. They say nothing about the real one.';
    // Request the form first: it must read the store's origin too.
    expect(bannerOf(await (await fetch(running.get('simulated')?.url ?? '')).text())).toBe(simulated);
    expect(await banners('simulated')).toEqual([simulated, simulated, simulated]);
  });

  it('include the origin in their titles if the store is of a simulated network, even if the first requested page is an error page', async () => {
    const titles = async (origin: Origin) =>
      Promise.all(
        [...paths, `/account?did=${accounts.plain}&days=9`].map(async (path) => {
          const html = await (await fetch(`${running.get(origin)?.url ?? ''}${path}`)).text();
          return /<title>(\[\w+\] )?/.exec(html)?.[1] ?? '';
        }),
      );
    expect(await titles('simulated')).toEqual(Array(4).fill('[simulated] '));
    expect(await titles('live')).toEqual(Array(4).fill(''));
    const store = `sqlite:${join(folder, 'simulated')}`;
    const young = await startServer(['account', '--port', '0', '--store', store, '--data', folder, '--no-handles']);
    expect(await (await fetch(`${young.url}/account?did=nobody`)).text()).toMatch(
      /<title>\[simulated\] Request failed/,
    );
    await young.stop();
  });

  it('link to sample accounts from the home page in English and German, but not if the store is of the live network', async () => {
    const homes = ['simulated', 'live'].flatMap((origin) =>
      ['?lang=en', '?lang=de'].map((language) => `${running.get(origin)?.url ?? ''}/${language}`),
    );
    const samples = homes.map(async (home) => {
      const html = await (await fetch(home)).text();
      return /<h2 id="samples">(.*?)<\/h2><ul>(.*?)<\/ul>/.exec(html)?.slice(1) ?? null;
    });
    const link = `<a href="/account?did=${encodeURIComponent(accounts.plain)}">`;
    const item = `<li>${link}<code data-name="${accounts.plain}">${accounts.plain}</code></a>`;
    const list = `${item}<span data-name="${accounts.plain}" lang="en">: one label</span></li>`;
    expect(await Promise.all(samples)).toEqual([
      ['Look up one of these simulated accounts', list],
      ['Schlagen Sie eines dieser simulierten Konten nach', list],
      null,
      null,
    ]);
  });

  it('have no banner if the store is of the live network', async () => {
    expect(await banners('live')).toEqual([null, null, null]);
  });
});
