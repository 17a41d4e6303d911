import { describe, expect, it } from 'vitest';
import { account, viewOf } from '../../../harness/accounts/account-view.ts';
import { languages } from '../../web/language.ts';
import { createCursors } from '../cursor/cursor.ts';
import { rememberManifests } from '../export/manifest.ts';
import type { AccountServices } from '../services.ts';
import { textsOf } from '../texts/texts.ts';
import type { ViewQuery } from '../view/view.ts';
import { accountPages } from './pages.tsx';

/** Requests a page for a store with one observation. `origin` is the store's note about its origin. */
async function ask(path: '/' | '/account', search: string, acceptLanguage?: string, origin: string | null = null) {
  const asked: ViewQuery[] = [];
  const store = {
    note: () => Promise.resolve(origin),
    view: (query: ViewQuery) => {
      asked.push(query);
      return viewOf({ labels: [{}], change: { query: query.query } });
    },
  };
  const services: AccountServices = {
    read: (_request, _account, work) => work(store as never),
    readPatiently: (_request, _account, work) => work(store as never),
    readWhileSending: (_request, _account, work) => work(store as never),
    sent: () => undefined,
    waitFor: () => null,
    lookUp: (_request, work) => work(),
    cursors: createCursors([Buffer.alloc(32, 1)]),
    manifests: rememberManifests(),
    bounds: { maxExportRows: 10, pageRows: 10, ttlMs: 1_000 },
  };
  const alarm = (_: string, error: unknown): void => {
    throw error;
  };
  const pages = accountPages({ base: '/at', styles: new Map(), findHandle: null, alarm })(services);
  const { signal: gone } = new AbortController();
  const request = { search, acceptEncoding: undefined, acceptLanguage, now: 0, client: '192.0.2.1', gone };
  const reply = await pages.get(path)?.({ ...request, reserve: () => true });
  if (!reply || !('body' in reply)) throw new Error('no page');
  const header = (name: string): string | undefined => reply.headers[reply.headers.indexOf(name) + 1];
  const html = (reply.body?.toString() ?? '').replaceAll('&amp;', '&');
  const links = [...html.matchAll(/(?:href|action)="([^"]*)"/g)].map(([, href = '']) => href);
  return { status: reply.status, header, html, links, asked };
}

const did = `did=${encodeURIComponent(account)}`;

describe('the language of a page', () => {
  it('determines whether a space separates sentences', async () => {
    const [ja, de] = await Promise.all(['ja', 'de'].map((language) => ask('/account', `${did}&lang=${language}`)));
    expect(ja?.html).toMatch(/。[\p{Script=Han}\p{Script=Hiragana}]/u);
    expect(ja?.html).not.toMatch(/。 +[\p{Script=Han}\p{Script=Hiragana}]/u);
    expect(de?.html).toMatch(/Filtern\. Zustand: /);
    expect(de?.html).not.toMatch(/[a-z]{3}\.[A-Z][a-z]{3}/);
  });

  it.each([
    ['', undefined, 'en'],
    ['', 'pt-BR,pt;q=0.9,en;q=0.8', 'pt'],
    ['&lang=ja', 'pt-BR', 'ja'],
    ['&lang=fr', 'de', 'de'],
    ['&lang=de&lang=es', 'ja', 'ja'],
  ])('with the parameter %j and the header %j is %s', async (parameter, header, language) => {
    for (const [path, search] of [
      ['/account', did + parameter],
      ['/account', `did=x${parameter}`],
      ['/', parameter],
    ] as const) {
      const page = await ask(path, search, header);
      expect([page.header('Content-Language'), page.header('Vary')]).toEqual([
        language,
        'Accept-Language, Accept-Encoding',
      ]);
      expect(page.html).toContain(`<html lang="${language}">`);
      const { homeHeading, coverage, refusalHeading } = textsOf(language as 'en');
      const heading = path === '/' ? homeHeading : page.status === 200 ? coverage : refusalHeading.invalid_account;
      expect(page.html).toContain(`>${heading}<`);
    }
  });

  it("determines the language of the labelers' definitions", async () => {
    const { asked } = await ask('/account', `${did}&lang=de`);
    expect(asked.map(({ language }) => language)).toEqual(['de']);
  });

  it('can be changed with links that preserve the query, even on error pages', async () => {
    for (const search of [`${did}&days=7&value=a+b`, `${did}&days=9`]) {
      const { links } = await ask('/account', `lang=es&${search}`);
      const others = languages.filter((language) => language !== 'es');
      expect(links.filter((href) => href.startsWith('?'))).toEqual(others.map((one) => `?${search}&lang=${one}`));
    }
    const { links } = await ask('/', '');
    expect(links).toContain('?lang=de');
  });

  it('is passed on by all links and forms if the query selects it, and by no link or form if the header determines it', async () => {
    const own = (links: readonly string[]) => links.filter((href) => href.startsWith('/at/account?'));
    const selected = await ask('/account', `${did}&days=7&value=spam&lang=de`);
    // Two intervals, the labeler and the value of the table, and the removal of the filter.
    expect(own(selected.links).length).toBe(5);
    expect(own(selected.links).filter((href) => !href.endsWith('&lang=de'))).toEqual([]);
    const forms = (html: string) => html.match(/<form/g)?.length;
    const fields = (html: string) => html.match(/<input type="hidden" name="lang" value="de"\/>/g)?.length;
    expect(fields(selected.html)).toBe(forms(selected.html));
    for (const search of ['did=x&lang=de', `${did}&days=9&lang=de`]) {
      const { html } = await ask('/account', search);
      expect(fields(html)).toBe(forms(html));
    }
    expect(fields((await ask('/', 'lang=de')).html)).toBe(1);
    const negotiated = await ask('/account', `${did}&days=7&value=spam`, 'de');
    expect(own(negotiated.links).filter((href) => href.includes('lang='))).toEqual([]);
    expect(fields(negotiated.html)).toBeUndefined();
  });

  it('is not a parameter of export and download links', async () => {
    const { links } = await ask('/account', `${did}&lang=de`);
    const data = links.filter((href) => /^\/at\/(?:exports|download)/.test(href));
    expect(data.length).toBeGreaterThan(0);
    expect(data.filter((href) => href.includes('lang='))).toEqual([]);
  });

  it('is accompanied by a note about machine translation unless it is English', async () => {
    for (const language of languages) {
      const { html } = await ask('/', `lang=${language}`);
      expect(html.includes('class="translation"')).toBe(language !== 'en');
    }
  });

  it('can be changed with links that contain neither markup from the query nor a query that is too long', async () => {
    const { html } = await ask('/account', `did="><script>alert(1)</script>`);
    expect(html).not.toContain('<script');
    const { links } = await ask('/account', `did=${'x'.repeat(3_000)}`);
    expect(links).toContain('?lang=de');
  });
});

describe('the page of an account in a simulated store', () => {
  it('has no external links to labelers that exist only in the simulation, and states that the data is simulated', async () => {
    const outside = (links: readonly string[]) => links.filter((href) => href.startsWith('https:'));
    expect(outside((await ask('/account', did)).links)).not.toEqual([]);
    const { html, links } = await ask('/account', did, 'de', 'simulated');
    expect(outside(links)).toEqual([]);
    expect(html).toContain(textsOf('de').banner.simulated);
    expect(html).toContain(`<title>${textsOf('de').bannerTitle.simulated} `);
    expect(html).toContain(textsOf('de').appealsSimulated);
  });
});
