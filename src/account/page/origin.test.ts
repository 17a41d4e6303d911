import { expect, it } from 'vitest';
import { account, viewOf } from '../../../harness/accounts/account-view.ts';
import type { AccountServices } from '../services.ts';
import { accountPages } from './pages.tsx';
import { PageRenderer } from './render.tsx';

const request = {
  ...{ search: '', acceptEncoding: undefined, now: 0, client: '192.0.2.1' },
  ...{ gone: new AbortController().signal, reserve: () => true },
};

/** Creates the pages over a service that runs each read with the store that `store` returns. */
function pagesOver(store: () => unknown) {
  const read: AccountServices['read'] = (_request, _account, work) => work(store() as never);
  const cursors = { seal: () => 'x' };
  const options = { base: '', styles: new Map(), findHandle: null, alarm: () => undefined };
  const samples = [{ did: 'did:web:sample.example', shows: 'one label' }];
  return accountPages({ ...options, samples })({ read, cursors, waitFor: () => null, bounds: {} } as never);
}

/** Returns the text of the banner, or null if the HTML has none. */
function bannerOf(html: string): string | null {
  return /<aside class="banner"[^>]*>([^<]*)<\/aside>/.exec(html)?.[1] ?? null;
}

/** Requests the home page of a store whose note about its origin is `store.origin`. Returns the banner of the page. */
function homeOf(store: { origin: string }) {
  const pages = pagesOver(() => ({ note: () => Promise.resolve(store.origin) }));
  return async (): Promise<{ readonly banner: string | null; readonly hasSamples: boolean }> => {
    const reply = await pages.get('/')?.(request);
    const html = reply && 'body' in reply ? (reply.body?.toString() ?? '') : '';
    return { banner: bannerOf(html), hasSamples: html.includes('sample.example') };
  };
}

const simulated = 'These observations come from a simulated network. They say nothing about the real one.';

it('the home page states the origin of the store that is served now, also after a new store has replaced a simulated one', async () => {
  const store = { origin: 'simulated' };
  const home = homeOf(store);
  expect(await home()).toEqual({ banner: simulated, hasSamples: true });
  store.origin = 'live';
  expect(await home()).toEqual({ banner: null, hasSamples: false });
  store.origin = 'simulated';
  expect(await home()).toEqual({ banner: simulated, hasSamples: true });
});

it('a page of a simulated store is marked even if another request reads the live store that replaces it meanwhile', async () => {
  const view = await viewOf({ labels: [{}] });
  const simulatedView = Promise.withResolvers<typeof view>();
  const stores = [
    { note: () => Promise.resolve('simulated'), view: () => simulatedView.promise },
    { note: () => Promise.resolve('simulated'), view: () => simulatedView.promise },
    { note: () => Promise.resolve('live'), view: () => Promise.resolve(view) },
  ];
  const route = pagesOver(() => stores.shift()).get('/account');
  const pageOf = async (): Promise<string> => {
    const reply = await route?.({ ...request, search: `did=${account}` });
    return reply && 'body' in reply ? (reply.body?.toString() ?? '') : '';
  };
  const first = pageOf();
  await expect.poll(() => stores.length).toBe(1);
  const second = await pageOf();
  simulatedView.resolve(view);
  expect([bannerOf(await first), bannerOf(second)]).toEqual([simulated, null]);
});

it('the origin of the pages is that of the store that was read last', async () => {
  const pages = new PageRenderer('', false);
  const found: (string | null)[] = [];
  for (const note of ['simulated', 'live', 'sample', null]) {
    await pages.learnOrigin({ note: () => Promise.resolve(note) } as never);
    found.push(pages.origin);
  }
  expect(found).toEqual(['simulated', null, 'sample', null]);
});
