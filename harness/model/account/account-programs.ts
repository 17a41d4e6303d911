import { performance } from 'node:perf_hooks';
import { createAccountApp } from '../../../src/account/app.ts';
import { createClientBudget, createCostBudget } from '../../../src/account/budget/budgets.ts';
import { createCursors } from '../../../src/account/cursor/cursor.ts';
import { accountPages } from '../../../src/account/page/pages.tsx';
import { createReadingPool } from '../../../src/account/reading/reading-pool.ts';

/** The program under test: the account application over a real store, without sockets. */

/** Limits of the account application. */
export interface AccountBounds {
  readonly maxExportRows: number;
  readonly pageRows: number;
  readonly ttlMs: number;
}

/** Status and body of a response. */
interface AccountAnswer {
  readonly status: number;
  readonly text: string;
}

/** An account application with its limits. */
export interface AccountProgram {
  readonly bounds: AccountBounds;
  get(target: string, now: number): Promise<AccountAnswer>;
}

/** Creates programs with different limits that share one store. `stop` ends their store-reading processes. */
export function accountPrograms(folder: string, allBounds: readonly AccountBounds[]) {
  const reading = createReadingPool({
    url: `sqlite:${folder}`,
    readers: 1,
    maxWaiting: 1_000,
    waitMs: 600_000,
    deadlineMs: 600_000,
    sliceMs: 60_000,
    monotonic: () => performance.now(),
    telemetry: {
      turn: () => undefined,
      busy: () => undefined,
      storeFailed: () => undefined,
      restarted: () => undefined,
    },
  });
  const alarms: unknown[] = [];
  const programs = allBounds.map((bounds) => program(reading, bounds, alarms));
  return { programs, alarms, stop: () => reading.stop() };
}

function program(
  reading: ReturnType<typeof createReadingPool>,
  bounds: AccountBounds,
  alarms: unknown[],
): AccountProgram {
  let clock = 0;
  const alarm = (_route: string, error: unknown): void => void alarms.push(error);
  const app = createAccountApp({
    reading,
    cursors: createCursors([Buffer.alloc(32, 1)]),
    budget: createClientBudget(null),
    cost: createCostBudget(null),
    clock: () => clock,
    monotonic: () => performance.now(),
    bounds,
    basePath: '',
    openapi: { bytes: () => null },
    pages: accountPages({ base: '', styles: new Map(), findHandle: null, alarm }),
    alarm,
  });
  return {
    bounds,
    async get(target, now) {
      clock = now;
      const request = { method: 'GET', target, ifNoneMatch: undefined, acceptEncoding: undefined, client: '192.0.2.1' };
      const reply = await app.answer(request, now, new AbortController().signal);
      if (!('stream' in reply)) return { status: reply.status, text: reply.body?.toString() ?? '' };
      const pieces: Uint8Array[] = [];
      for await (const piece of reply.stream) pieces.push(piece);
      return { status: reply.status, text: Buffer.concat(pieces).toString() };
    },
  };
}
