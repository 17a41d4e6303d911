import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { identityOf, splitUri } from '../src/store/label.ts';
import type { NewObservation, StoreWriter } from '../src/store/port.ts';
import { openSqliteWriter } from '../src/store/sqlite/write/writer.ts';
import { dayFromName, day as dayLength, dayName, dayStart, hour, micros, second } from '../src/store/time.ts';
import { type DayPlan, labelOf, planDay } from './store-traffic.ts';

/** Receives one measured figure. */
export type Report = (name: string, value: number | string) => void;

/** Options for measuring a day. */
interface DayOptions {
  readonly rows: number;
  readonly batchRows: number;
  /** True to also append the same rows to one plain table. */
  readonly plain: boolean;
}

/**
 * Measures one day: appending its rows, opening the store again and sealing the day. If `plain` is true, also measures
 * appending the rows to a plain table.
 */
export async function measureDay(folder: string, options: DayOptions, report: Report): Promise<void> {
  const { rows, batchRows } = options;
  const day = dayFromName('2026-11-17') ?? 0;
  const plan = planDay(day, rows);
  const storeFolder = join(folder, 'store');
  const open = join(storeFolder, 'days', `${dayName(day)}.open.sqlite`);
  const sealed = join(storeFolder, 'days', `${dayName(day)}.sealed.sqlite`);
  const before = process.memoryUsage().rss;

  const store = openSqliteWriter({ folder: storeFolder, at: dayStart(day) });
  const appended = await timed(plan, batchRows, async (observations, at) => {
    const positions = [{ source: 'did:web:mod.example', endpoint: 'wss://mod.example', value: String(at) }];
    await store.append({ at: micros(at), observations, refusals: [], positions });
  });
  report('growth of resident memory since the start, MB', (process.memoryUsage().rss - before) / 1e6);
  reportQuarters('append', appended, report);
  const opened = performance.now();
  await store.close();
  const again = openSqliteWriter({ folder: storeFolder, at: dayStart(day) });
  report('opening the store after a day, including its identities, s', (performance.now() - opened) / 1000);
  report('open day, bytes per row', statSync(open).size / rows);

  if (options.plain) await measurePlain(join(folder, 'plain.sqlite'), plan, batchRows, report);

  await sealBeside(again, plan, report);
  report('sealed day, bytes per row', statSync(sealed).size / rows);
  await again.close();
}

async function measurePlain(path: string, plan: DayPlan, batchRows: number, report: Report): Promise<void> {
  const plain = plainTable(path);
  const plainTimes = await timed(plan, batchRows, (observations, at) => {
    plain.append(observations, at);
    return Promise.resolve();
  });
  reportQuarters('plain table', plainTimes, report);
  plain.close();
  report('plain table, bytes per row', statSync(path).size / plan.accounts.length);
}

interface Timing {
  readonly quarters: readonly number[];
  readonly whole: number;
  readonly p99: number;
}

function reportQuarters(name: string, { quarters, whole, p99 }: Timing, report: Report): void {
  for (const [i, rate] of quarters.entries()) report(`${name}, rows per second, quarter ${i + 1}`, rate);
  report(`${name}, rows per second, whole day`, whole);
  report(`${name}, p99 of a batch, ms`, p99);
}

/** Appends rows with the acceptance time `at`, in microseconds. */
export type Append = (observations: NewObservation[], at: number) => Promise<void>;

/** Appends a plan's rows in batches. Returns the timing of the appends, which excludes creating the labels. */
export async function timed(plan: DayPlan, batchRows: number, append: Append): Promise<Timing> {
  const [timing] = await timedInTurn(plan, batchRows, [append]);
  if (!timing) throw new Error('one of the measured appends has no timing');
  return timing;
}

/** Appends a plan's rows in several ways that alternate batch by batch. Returns a timing for each way. */
export async function timedInTurn(plan: DayPlan, batchRows: number, ways: readonly Append[]): Promise<Timing[]> {
  const rows = plan.accounts.length;
  const batches: number[][] = ways.map(() => []);
  for (let row = 0; row < rows; row += batchRows) {
    const end = Math.min(rows, row + batchRows);
    for (const [way, append] of ways.entries()) {
      const observations = Array.from({ length: end - row }, (_, i) => labelOf(plan, row + i));
      const started = performance.now();
      await append(observations, dayStart(plan.day) + (plan.offsets[row] ?? 0));
      batches[way]?.push(performance.now() - started);
    }
  }
  return batches.map((took) => timingOf(took, rows));
}

function timingOf(batches: readonly number[], rows: number): Timing {
  const sum = (some: readonly number[]): number => some.reduce((a, b) => a + b, 0);
  const cut = (quarter: number): number => Math.floor((batches.length * quarter) / 4);
  const sorted = batches.toSorted((a, b) => a - b);
  return {
    quarters: [0, 1, 2, 3].map((quarter) => {
      const some = batches.slice(cut(quarter), cut(quarter + 1));
      return ((rows * some.length) / batches.length / sum(some)) * 1000;
    }),
    whole: (rows / sum(batches)) * 1000,
    p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
  };
}

/**
 * Creates a naive implementation for comparison: one table with a unique hash and an index by account and time. It is
 * as durable as the store.
 */
export function plainTable(path: string): {
  append: (observations: NewObservation[], at: number) => void;
  close: () => void;
} {
  const db = new Database(path);
  db.pragma('journal_mode = wal');
  db.pragma('synchronous = full');
  db.pragma('cache_size = -65536');
  db.pragma('wal_autocheckpoint = 4000');
  db.exec(`CREATE TABLE label(id INTEGER PRIMARY KEY, observed_at INTEGER, src TEXT, uri TEXT, cid TEXT, val TEXT,
    neg INTEGER, cts TEXT, exp TEXT, sig BLOB, subject TEXT, hash BLOB UNIQUE);
    CREATE INDEX label_subject ON label(subject, observed_at)`);
  const insert = db.prepare('INSERT OR IGNORE INTO label VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const append = db.transaction((observations: NewObservation[], at: number) => {
    for (const { label } of observations) {
      const { src, uri, cid, val, neg, cts, exp, sig } = label;
      const subject = splitUri(uri)?.did ?? null;
      insert.run(at, src, uri, cid ?? null, val, neg ? 1 : 0, cts, exp ?? null, sig, subject, identityOf(label));
    }
  });
  return { append, close: () => db.close() };
}

/**
 * Measures the time to seal the day while 500 labels per second of a later day are appended, and the duration of each
 * append.
 */
async function sealBeside(store: StoreWriter, plan: DayPlan, report: Report): Promise<void> {
  const later = planDay(plan.day + 3, 60_000);
  // Append rows after the duplicate horizon of the day, so that the day can be sealed.
  const start = micros(dayStart(later.day) + hour);
  const batchRows = 50;
  await store.append({ at: start, observations: [labelOf(later, 0)], refusals: [], positions: [] });
  const waits: number[] = [];
  let sealing = true;
  const started = performance.now();
  const maintained = store.maintain(micros(start + dayLength)).finally(() => {
    sealing = false;
  });
  for (let row = 1; sealing && row + batchRows < 60_000; row += batchRows) {
    const observations = Array.from({ length: batchRows }, (_, i) => labelOf(later, row + i));
    const asked = performance.now();
    await store.append({ at: micros(start + row * 0.002 * second), observations, refusals: [], positions: [] });
    waits.push(performance.now() - asked);
    await delay(Math.max(0, 100 - (performance.now() - asked)));
  }
  const { sealed } = await maintained;
  report('sealing with 500 labels per second, s', (performance.now() - started) / 1000);
  report('sealed', sealed.join(' '));
  waits.sort((a, b) => a - b);
  report('append while sealing, p99 ms', waits[Math.floor(waits.length * 0.99)] ?? 0);
  report('append while sealing, maximum ms', waits.at(-1) ?? 0);
}
