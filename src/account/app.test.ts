import { expect, it } from 'vitest';
import { withBody } from '../http/reply.ts';
import { assetFile } from '../http/representation/asset-file.ts';
import { createAccountApp } from './app.ts';
import { createClientBudget, createCostBudget } from './budget/budgets.ts';
import { createCursors } from './cursor/cursor.ts';
import { accountPages } from './page/pages.tsx';
import type { AccountReads } from './reading/reading-child.ts';
import type { ReadingPool } from './reading/reading-pool.ts';
import { missingPage } from './route.ts';

type AppOptions = Parameters<typeof createAccountApp>[0];

/** Creates an application whose turns `run` simulates, with other options in `change`. */
function appOf(run: ReadingPool['run'], change: Partial<AppOptions> = {}): ReturnType<typeof createAccountApp> {
  return createAccountApp({
    reading: { run, warm: () => Promise.resolve(), waiting: () => 0, stop: () => Promise.resolve() },
    cursors: createCursors([Buffer.alloc(32)]),
    budget: createClientBudget(null),
    cost: createCostBudget(null),
    bounds: { maxExportRows: 10, pageRows: 10, ttlMs: 1_000 },
    basePath: '',
    openapi: assetFile('/nowhere'),
    pages: () => new Map(),
    alarm: () => undefined,
    clock: () => 0,
    monotonic: () => 0,
    ...change,
  });
}

it('the account application reserves memory for a response before it reads the store, and does not read the store if the reservation fails', async () => {
  const events: string[] = [];
  const reads = new Proxy({} as AccountReads, {
    get: (_reads, method) => () => {
      events.push(`read ${String(method)}`);
      throw new Error('unexpected read of the store');
    },
  });
  const app = appOf(
    (_turn, work) => {
      events.push('turn');
      return work(reads);
    },
    { alarm: (_route, error) => events.push(String(error)) },
  );
  const reserve = (bytes: number): boolean => {
    events.push(`reserve ${bytes}`);
    return false;
  };
  const request = {
    method: 'GET',
    target: '/exports?did=did:web:a.example',
    ifNoneMatch: undefined,
    acceptEncoding: undefined,
  };
  const reply = await app.answer({ ...request, reserve }, 0, new AbortController().signal);
  expect([reply.status, events]).toEqual([503, ['turn', 'reserve 2097152']]);
});

it('the account application does not read the store for a client that has disconnected', async () => {
  let turns = 0;
  const app = appOf(() => {
    turns += 1;
    return Promise.reject(new Error('no read'));
  });
  const request = { method: 'GET', target: '/exports?did=did:web:a.example', ifNoneMatch: undefined };
  await app.answer({ ...request, acceptEncoding: undefined }, 0, AbortSignal.abort());
  expect(turns).toBe(0);
});

it('the account application answers an unknown path with the not-found page for the requested name, or with a JSON error if the client does not accept HTML', async () => {
  const searches: string[] = [];
  const page = withBody(404, 'text/html', Buffer.from('page'), []);
  const missing = ({ search }: { readonly search: string }) => {
    searches.push(search);
    return page;
  };
  const app = appOf(() => Promise.reject(new Error('no read')), { pages: () => new Map([[missingPage, missing]]) });
  const bodyOf = async (target: string, accept: string | undefined): Promise<string> => {
    const request = { method: 'GET', target, accept, ifNoneMatch: undefined, acceptEncoding: undefined };
    const reply = await app.answer(request, 0, new AbortController().signal);
    return 'body' in reply && reply.status === 404 ? String(reply.body) : '';
  };
  const browser = 'text/html,application/xhtml+xml,*/*;q=0.8';
  for (const accept of [browser, 'application/json, text/html;q=0.5', 'TEXT/HTML; charset=utf-8'])
    expect(await bodyOf('/account/alice.example?lang=de', accept), accept).toBe('page');
  for (const accept of [undefined, '*/*', 'application/json', 'text/html;q=0', 'text/htmlx'])
    expect(await bodyOf('/account/alice.example', accept), accept).toContain('not_found');
  expect(await bodyOf(`/account/${'a'.repeat(400)}`, browser)).toBe('page');
  expect(await bodyOf('/missing', browser)).toBe('page');
  expect(searches).toEqual([...Array(3).fill('did=alice.example&lang=de'), '', '']);
});

it('the account application charges a client for the uncompressed length of a page, and charges a HEAD request like a GET request, because both render the page', async () => {
  const charged: number[] = [];
  const app = appOf((_turn, work) => work({ note: () => Promise.resolve(null) } as never), {
    cost: { waitFor: () => null, charge: (_client, { bytes = 0 }) => void charged.push(bytes) },
    pages: accountPages({ base: '', styles: new Map(), findHandle: null, alarm: () => undefined }),
  });
  const sent: number[] = [];
  for (const acceptEncoding of [undefined, 'gzip', 'br']) {
    charged.length = 0;
    const request = { method: 'GET', target: '/', ifNoneMatch: undefined, acceptEncoding };
    const reply = await app.answer(request, 0, new AbortController().signal);
    sent.push('body' in reply ? (reply.body?.length ?? 0) : 0);
    expect(charged.at(-1)).toBe(10 * (sent[0] ?? 0));
  }
  expect(new Set(sent).size).toBe(3);
  charged.length = 0;
  const head = { method: 'HEAD', target: '/', ifNoneMatch: undefined, acceptEncoding: undefined };
  await app.answer(head, 0, new AbortController().signal);
  expect(charged.at(-1)).toBe(10 * (sent[0] ?? 0));
});
