import { expect, it } from 'vitest';
import { assetFile } from '../http/representation/asset-file.ts';
import { createAccountApp } from './app.ts';
import { createClientBudget } from './budget/client-budget.ts';
import { createCostBudget } from './budget/cost-budget.ts';
import { createCursors } from './cursor/cursor.ts';
import type { AccountReads } from './reading/protocol.ts';
import type { ReadingPool } from './reading/reading-pool.ts';

it('the account application reserves memory for a response before it reads the store, and does not read without the memory', async () => {
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
