import { expect, it } from 'vitest';
import { account, fill, writerInTest } from '../../../harness/accounts/account.ts';
import { folderInTest } from '../../../harness/process/folder.ts';
import type { AccountRow } from '../../contract/account.ts';
import { microsFromMillis } from '../../contract/timestamp.ts';
import { assetFile } from '../../http/representation/asset-file.ts';
import { StoreError } from '../../store/errors.ts';
import { day } from '../../store/time.ts';
import { createAccountApp } from '../app.ts';
import { createClientBudget, createCostBudget } from '../budget/budgets.ts';
import { createCursors } from '../cursor/cursor.ts';
import type { AccountReads } from '../reading/reading-child.ts';
import { takeSnapshot } from './exports.ts';
import { readExport } from './rows.ts';

const now = 20_000 * 86_400_000 + 43_200_000;
const client = '192.0.2.1';
const bounds = { maxExportRows: 10_000, pageRows: 500, ttlMs: 60_000 };
const rows = 1_200;

/** Creates a store with `rows` rows of an account, and a snapshot of all of them. */
async function filled() {
  const store = writerInTest(folderInTest(), microsFromMillis(now) - (3 * day) / 2);
  await fill(store, rows, { at: microsFromMillis(now) - day / 4 });
  const query = { account, asked: { kind: 'days' as const, days: 7 as const }, filters: {} };
  const taken = await takeSnapshot(store, query, now, bounds);
  if (taken.kind !== 'taken') throw new Error(taken.kind);
  return { store, snapshot: taken.snapshot };
}

/**
 * Creates an application over a store, and the target of the download of a snapshot. Each turn costs 10 ms. The clock
 * advances only during pauses. The rows of more than one day are too many to count in one turn. In the turns whose
 * numbers `faults` has, the read of the rows fails.
 */
function served(
  { store, snapshot }: Awaited<ReturnType<typeof filled>>,
  cost = createCostBudget(null),
  faults: ReadonlyMap<number, Error> = new Map(),
  pause = (): Promise<void> => Promise.resolve(),
) {
  const cursors = createCursors([Buffer.alloc(32)]);
  const time = { now, pauses: [] as number[] };
  let turns = 0;
  const reads: AccountReads = Object.assign(Object.create(store), {
    accountIntervals: (asked: Parameters<AccountReads['accountIntervals']>[0]) =>
      asked.end - asked.start > day
        ? Promise.reject(new StoreError('budget_exceeded', 'too many rows'))
        : store.accountIntervals(asked),
    readExport: (asked: Parameters<AccountReads['readExport']>[0]) => {
      const fault = faults.get(turns);
      return fault ? Promise.reject(fault) : readExport(store, asked);
    },
  });
  const app = createAccountApp({
    reading: {
      async run({ onCost }, work) {
        turns += 1;
        try {
          return await work(reads);
        } finally {
          onCost?.(10);
        }
      },
      warm: () => Promise.resolve(),
      waiting: () => 0,
      stop: () => Promise.resolve(),
    },
    cursors,
    budget: createClientBudget(null),
    cost,
    bounds,
    basePath: '',
    openapi: assetFile('/nowhere'),
    pages: () => new Map(),
    alarm: () => undefined,
    clock: () => time.now,
    monotonic: () => time.now,
    pause: (ms) => {
      time.now += ms;
      time.pauses.push(ms);
      return pause();
    },
  });
  const target = `/download?cursor=${cursors.seal({ kind: 'snapshot', snapshot })}`;
  return { app, target, time, turns: () => turns };
}

type Served = Pick<ReturnType<typeof served>, 'app' | 'target'>;

function answer({ app, target }: Served) {
  const request = { method: 'GET', target, client, ifNoneMatch: undefined, acceptEncoding: undefined };
  return app.answer(request, now, new AbortController().signal);
}

/** Requests a download and reads its whole body. */
async function download(of: Served) {
  const reply = await answer(of);
  if (!('stream' in reply)) throw new Error(`no download: ${reply.status} ${reply.body?.toString()}`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of reply.stream) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString()) as {
    readonly rows: readonly AccountRow[];
    readonly count: number;
    readonly content_sha256: string;
  };
}

it('a download whose client uses up its allowance meanwhile continues when the allowance has refilled, and is complete', async () => {
  const stored = await filled();
  const undisturbed = await download(served(stored));
  const cost = createCostBudget(6_000);
  cost.charge(client, { readMs: 5 * 6_000 - 5 }, now);
  const { app, target, time } = served(stored, cost);
  expect(await download({ app, target })).toEqual(undisturbed);
  expect([undisturbed.count, undisturbed.rows.length]).toEqual([rows, rows]);
  expect(time.pauses).toEqual([1_000]);
});

it('a download continues after the standby has received the data that it reads', async () => {
  const stored = await filled();
  const undisturbed = await download(served(stored));
  const faults = new Map(Array.from({ length: 12 }, (_, n) => [n + 2, new StoreError('behind', 'not yet')]));
  const { app, target } = served(stored, createCostBudget(null), faults);
  expect(await download({ app, target })).toEqual(undisturbed);
});

it('a download of a client without an allowance is refused before it begins', async () => {
  const stored = await filled();
  const cost = createCostBudget(6_000);
  cost.charge(client, { readMs: 5 * 6_000 + 10 }, now);
  const { app, target, turns } = served(stored, cost);
  await expect(download({ app, target })).rejects.toThrow('no download: 503');
  expect(turns()).toBe(0);
});

const newExport = `/exports?did=${account}&days=7`;

it('an export whose rows are counted in several turns is created when the allowance of its client has refilled', async () => {
  const cost = createCostBudget(6_000);
  cost.charge(client, { readMs: 5 * 6_000 - 5 }, now);
  const { app, time } = served(await filled(), cost);
  expect((await answer({ app, target: newExport })).status).toBe(200);
  expect(time.pauses).toEqual([1_000]);
});

it('an export is refused if 16 requests already wait for the allowances of their clients', async () => {
  let checks = 0;
  // The allowance suffices for the first turn of each of 17 requests.
  const cost = { waitFor: () => (checks++ < 17 ? null : 1), charge: () => undefined };
  const resume: (() => void)[] = [];
  const pause = () => new Promise<void>((resolve) => resume.push(resolve));
  const { app } = served(await filled(), cost, new Map(), pause);
  const answers = Array.from({ length: 17 }, () => answer({ app, target: newExport }));
  expect((await Promise.race(answers)).status).toBe(503);
  expect(resume).toHaveLength(16);
  checks = Number.NEGATIVE_INFINITY;
  for (const go of resume) go();
  expect((await Promise.all(answers)).map(({ status }) => status).toSorted()).toEqual([...Array(16).fill(200), 503]);
});
