import { expect, it } from 'vitest';
import type { AccountServices } from '../services.ts';
import { accountPages } from './pages.tsx';
import { PageRenderer } from './render.tsx';

/** Requests the home page of a store whose note about its origin is `store.origin`. Returns the banner of the page. */
function homeOf(store: { origin: string }) {
  const read: AccountServices['read'] = (_request, _account, work) =>
    work({ note: () => Promise.resolve(store.origin) } as never);
  const pages = accountPages({
    base: '',
    styles: new Map(),
    findHandle: null,
    samples: [{ did: 'did:web:sample.example', shows: 'one label' }],
    alarm: () => undefined,
  })({ read } as never);
  return async (): Promise<{ readonly banner: string | null; readonly hasSamples: boolean }> => {
    const request = {
      ...{ search: '', acceptEncoding: undefined, now: 0, client: '192.0.2.1' },
      ...{ gone: new AbortController().signal, reserve: () => true },
    };
    const reply = await pages.get('/')?.(request);
    const html = reply && 'body' in reply ? (reply.body?.toString() ?? '') : '';
    const banner = /<aside class="banner"[^>]*>([^<]*)<\/aside>/.exec(html)?.[1] ?? null;
    return { banner, hasSamples: html.includes('sample.example') };
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

it('the origin of the pages is that of the store that was read last', async () => {
  const pages = new PageRenderer('', false);
  const found: (string | null)[] = [];
  for (const note of ['simulated', 'live', 'sample', null]) {
    await pages.learnOrigin({ note: () => Promise.resolve(note) } as never);
    found.push(pages.origin);
  }
  expect(found).toEqual(['simulated', null, 'sample', null]);
});
