import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scanAccount } from '../harness/store/scan.ts';
import type { StoreWriter } from '../src/store/port.ts';
import { openSqliteReader } from '../src/store/sqlite/read/reader.ts';
import { openSqliteWriter } from '../src/store/sqlite/write/writer.ts';
import { day, dayOf, dayStart, hour, type Interval, micros } from '../src/store/time.ts';
import { type Append, type Report, timed, timedInTurn } from './store-day.ts';
import { accountDid, denseAccount, labelOf, planDay, rowsOfDay } from './store-traffic.ts';

/** Measures reading a generated window, removing its oldest days and appending the next days. Changes the store. */
export async function measureWindow(folder: string, report: Report): Promise<void> {
  await measureAccounts(folder, report);
  await measureOverview(folder, report);
  await measureExpiry(folder, report);
  await measureFullAndEmpty(folder, report);
}

async function measureAccounts(folder: string, report: Report): Promise<void> {
  const cold = dropPageCache();
  if (!cold) report('account pages, cold', 'not measured: the page cache cannot be dropped on this machine');
  const firstPage: Record<'cold' | 'warm', number[]> = { cold: [], warm: [] };
  for (const state of ['cold', 'warm'] as const) {
    for (let k = 1; k <= 100; k += 3) {
      if (state === 'cold' && !dropPageCache()) break;
      const reader = openSqliteReader(folder);
      const interval = await wholeWindow(reader);
      const started = performance.now();
      await reader.readAccount({
        account: accountDid(denseAccount(k)),
        ...interval,
        order: 'newest',
        after: null,
        limit: 500,
      });
      firstPage[state].push(performance.now() - started);
      await reader.close();
    }
  }
  reportTimes('first 500 rows of a dense account, cold', firstPage.cold, report);
  reportTimes('first 500 rows of a dense account, warm, new process', firstPage.warm, report);

  const reader = openSqliteReader(folder);
  const interval = await wholeWindow(reader);
  const sparse: number[] = [];
  if (cold) dropPageCache();
  for (let n = 1; n <= 40; n++) {
    const started = performance.now();
    await reader.readAccount({
      account: accountDid(n * 100_003),
      ...interval,
      order: 'newest',
      after: null,
      limit: 500,
    });
    sparse.push(performance.now() - started);
  }
  reportTimes('first 500 rows of a sparse account, cold cache, open files', sparse, report);

  const densest = accountDid(denseAccount(1));
  for (const state of ['cold', 'warm'] as const) {
    if (state === 'cold' && !dropPageCache()) continue;
    const started = performance.now();
    let rows = 0;
    for await (const chunk of scanAccount(reader, { account: densest, ...interval, order: 'oldest' }, 1e6))
      rows += chunk.length;
    report(`every row of the densest account, ${state}, s`, (performance.now() - started) / 1000);
    report('rows of the densest account', rows);
  }
  const started = performance.now();
  const parts = await reader.accountIntervals({ account: densest, ...interval, maxRows: 50_000, budget: 1e6 });
  report('narrower intervals of the densest account, ms', performance.now() - started);
  report('narrower intervals', parts.length);
  await reader.close();
}

async function measureOverview(folder: string, report: Report): Promise<void> {
  const reader = openSqliteReader(folder);
  const window = await wholeWindow(reader);
  const end = window.end;
  const started = performance.now();
  const all = await reader.countsByLabeler(window);
  report(
    'rows in the window',
    all.reduce((sum, { applied, removed }) => sum + applied + removed, 0),
  );
  report('overview counts, first query, ms', performance.now() - started);
  const times: number[] = [];
  for (let n = 0; n < 50; n++) {
    // Shift the end by a few seconds in each round, so that the edges are never whole minutes.
    const now = micros(end - n * 7_777_777);
    const asked = performance.now();
    await reader.countsByLabeler({ start: micros(Math.max(window.start, now - 30 * day + 12_345)), end: now });
    await reader.countsByLabeler({ start: micros(now - 7 * day), end: now });
    await reader.countsByLabeler({ start: micros(now - 24 * hour), end: now });
    await reader.refusals({ start: micros(Math.max(window.start, now - 30 * day)), end: now });
    await reader.frontier();
    times.push(performance.now() - asked);
  }
  reportTimes('overview counts (window, 7 d, 24 h, refusals)', times, report);
  await reader.close();
}

async function measureExpiry(folder: string, report: Report): Promise<void> {
  const reader = openSqliteReader(folder);
  const { end } = await reader.frontier();
  await reader.close();
  const at = dayStart(dayOf(end) + 2);
  const store = openSqliteWriter({ folder, at });
  const plan = planDay(dayOf(at), 1_000);
  await store.append({ at, observations: [labelOf(plan, 0)], refusals: [], positions: [] });
  const started = performance.now();
  const maintaining = store.maintain(at);
  const asked = performance.now();
  await store.append({ at, observations: [labelOf(plan, 1)], refusals: [], positions: [] });
  report('append while dropping a day, ms', performance.now() - asked);
  const { expired } = await maintaining;
  report('dropping a day, ms', performance.now() - started);
  report('dropped', expired.join(' '));
  await store.close();
}

/**
 * Measures appending one whole day to a full window and to an empty store. The two alternate batch by batch, so that
 * other load affects both equally. The last two days of the full window are open, because duplicates may still arrive.
 */
async function measureFullAndEmpty(folder: string, report: Report): Promise<void> {
  const reader = openSqliteReader(folder);
  const { end } = await reader.frontier();
  await reader.close();
  const first = dayOf(end) + 1;
  const empty = mkdtempSync(join(tmpdir(), 'almanac-bench-'));
  const full = openSqliteWriter({ folder, at: dayStart(first) });
  for (const day of [first, first + 1]) {
    const { whole } = await timed(planDay(day, rowsOfDay), 500, appendTo(full));
    report(`append to a full window after ${day - first} open days, rows per second`, whole);
  }
  const plan = planDay(first + 2, rowsOfDay);
  const fresh = openSqliteWriter({ folder: empty, at: dayStart(plan.day) });
  const [inFull, inEmpty] = await timedInTurn(plan, 500, [appendTo(full), appendTo(fresh)]);
  report('append to a full window, its last two days open, rows per second', inFull?.whole ?? 0);
  report('append to an empty store, alternating with the full window, rows per second', inEmpty?.whole ?? 0);
  await Promise.all([full.close(), fresh.close()]);
  rmSync(empty, { recursive: true, force: true });
}

function appendTo(store: StoreWriter): Append {
  return async (observations, at) => {
    await store.append({ at: micros(at), observations, refusals: [], positions: [] });
  };
}

async function wholeWindow(reader: ReturnType<typeof openSqliteReader>): Promise<Interval> {
  const { floor, end } = await reader.frontier();
  return { start: floor, end };
}

function reportTimes(name: string, times: number[], report: Report): void {
  if (times.length === 0) return;
  times.sort((a, b) => a - b);
  report(`${name}, p50 ms`, times[Math.floor(times.length / 2)] ?? 0);
  report(`${name}, maximum ms`, times.at(-1) ?? 0);
}

/** Clears the system's page cache. Returns false if the system does not permit this. */
export function dropPageCache(): boolean {
  try {
    spawnSync('sync');
    writeFileSync('/proc/sys/vm/drop_caches', '1');
    return true;
  } catch {
    return false;
  }
}
