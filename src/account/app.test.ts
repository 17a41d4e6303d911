import { expect, it } from 'vitest';
import { withBody } from '../http/reply.ts';
import { assetFile } from '../http/representation/asset-file.ts';
import { createAccountApp } from './app.ts';
import { createClientBudget } from './budget/client-budget.ts';
import { createCostBudget } from './budget/cost-budget.ts';
import { createCursors } from './cursor/cursor.ts';
import type { AccountReads } from './reading/protocol.ts';
import type { ReadingPool } from './reading/reading-pool.ts';
import { missingPage } from './route.ts';

it('the account application reserves memory for a response before it reads the store, and does not read if the reservation fails', async () => {
  const events: string[] = [];
  const reads = new Proxy({} as AccountReads, {
    get: (_reads, method) => () => {
      events.push(`read ${String(method)}`);
      throw new Error('unexpected read of the store');
    },
  });
  const reading: ReadingPool = {
    run(_turn, work) {
      events.push('turn');
      return work(reads);
    },
    warm: () => Promise.resolve(),
    waiting: () => 0,
    stop: () => Promise.resolve(),
  };
  const app = createAccountApp({
    reading,
    cursors: createCursors([Buffer.alloc(32)]),
    budget: createClientBudget(null),
    cost: createCostBudget(null),
    bounds: { maxExportRows: 10, pageRows: 10, ttlMs: 1_000 },
    basePath: '',
    openapi: assetFile('/nowhere'),
    pages: () => new Map(),
    alarm: (_route, error) => events.push(String(error)),
    clock: () => 0,
  });
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

it('a path without a route returns an HTML page with a form for the name in the path if the client accepts HTML, and a JSON error otherwise', async () => {
  const searches: string[] = [];
  const page = withBody(404, 'text/html', Buffer.from('page'), []);
  const app = createAccountApp({
    reading: {
      run: () => Promise.reject(new Error('no read')),
      warm: () => Promise.resolve(),
      waiting: () => 0,
      stop: () => Promise.resolve(),
    },
    cursors: createCursors([Buffer.alloc(32)]),
    budget: createClientBudget(null),
    cost: createCostBudget(null),
    bounds: { maxExportRows: 10, pageRows: 10, ttlMs: 1_000 },
    basePath: '',
    openapi: assetFile('/nowhere'),
    pages: () =>
      new Map([
        [
          missingPage,
          ({ search }) => {
            searches.push(search);
            return page;
          },
        ],
      ]),
    alarm: () => undefined,
    clock: () => 0,
  });
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
