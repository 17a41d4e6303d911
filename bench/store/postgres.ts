/**
 * Compares a store in PostgreSQL with an embedded one in one run: `node bench/store/postgres.ts [--rows 1400000]
 * [--batch 500] [--days 1] [--out FILE]`.
 *
 *  1. Appending the rows of several days to both stores, alternating batch by batch; each batch is durable.
 *  2. Account pages, and the export of the account with the most rows, from both stores.
 *  3. The overview's counts.
 *
 * Starts its own PostgreSQL server, whose commits wait for the disk. Client and server share the processors.
 */
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '../../harness/postgres/server.ts';
import { temporaryFolder } from '../../harness/process/at-exit.ts';
import { scanAccount } from '../../harness/store/scan.ts';
import { splitUri } from '../../src/store/label.ts';
import { inspect, openStoreReader, openStoreWriter } from '../../src/store/open.ts';
import type { StoreReader } from '../../src/store/port.ts';
import { dayFromName, dayStart, type Interval, micros } from '../../src/store/time.ts';
import { timedInTurn } from '../store-day.ts';
import { labelOf, planDay, rowsOfDay } from '../store-traffic.ts';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: String(rowsOfDay) },
    batch: { type: 'string', default: '500' },
    days: { type: 'string', default: '1' },
    out: { type: 'string' },
  },
});
const [rows, batchRows, days] = [Number(values.rows), Number(values.batch), Number(values.days)];
const figures: Record<string, number> = {};
const firstDay = dayFromName('2026-11-17') ?? 0;
const pageRows = 100;
const pages = 400;

function report(name: string, value: number): void {
  figures[name] = value;
  console.log(`${name.padEnd(62)} ${value.toLocaleString('en', { maximumFractionDigits: 2 })}`);
}

const { folder, remove } = temporaryFolder('bench');
const server = await startPostgres({ durable: true });
try {
  const urls = { sqlite: `sqlite:${join(folder, 'store')}`, postgres: server.url('bench') };
  const accounts = await append(urls);
  await measureSize(urls);
  const end = micros(dayStart(firstDay + days));
  for (const [name, url] of Object.entries(urls)) {
    const reader = await openStoreReader(url);
    await measureReads(name, reader, accounts, { start: dayStart(firstDay), end });
    await reader.close();
  }
} finally {
  await server.stop();
  remove();
}
if (values.out !== undefined) writeFileSync(values.out, `${JSON.stringify(figures, null, 1)}\n`);

/** Appends the same rows to both stores. Returns the number of rows by account. */
async function append(urls: Readonly<Record<string, string>>): Promise<ReadonlyMap<string, number>> {
  const accounts = new Map<string, number>();
  const stores = await Promise.all(Object.values(urls).map((url) => openStoreWriter(url, { at: dayStart(firstDay) })));
  for (let day = firstDay; day < firstDay + days; day++) {
    const plan = planDay(day, rows);
    const ways = stores.map((store) => async (observations: ReturnType<typeof labelOf>[], at: number) => {
      const positions = [{ source: 'did:web:mod.example', endpoint: 'wss://mod.example', value: String(at) }];
      await store.append({ at: micros(at), observations, refusals: [], positions });
    });
    const timings = await timedInTurn(plan, batchRows, ways);
    for (const [i, name] of Object.keys(urls).entries()) {
      report(`${name}: append, rows per second, day ${day - firstDay + 1}`, timings[i]?.whole ?? 0);
      report(`${name}: append, p99 of a batch of ${batchRows}, ms`, timings[i]?.p99 ?? 0);
    }
    for (let row = 0; row < rows; row++) {
      const account = splitUri(labelOf(plan, row).label.uri)?.did ?? '';
      accounts.set(account, (accounts.get(account) ?? 0) + 1);
    }
  }
  for (const store of stores) await store.close();
  return accounts;
}

async function measureSize(urls: { readonly sqlite: string; readonly postgres: string }): Promise<void> {
  const files = join(folder, 'store', 'days');
  const bytes = readdirSync(files).reduce((sum, name) => sum + statSync(join(files, name)).size, 0);
  report('sqlite: bytes per row of open days', bytes / rows / days);
  report('postgres: bytes per row, with indexes and counters', (await inspect(urls.postgres)).bytes / rows / days);
}

async function measureReads(
  name: string,
  reader: StoreReader,
  accounts: ReadonlyMap<string, number>,
  interval: Interval,
): Promise<void> {
  const all = [...accounts.keys()];
  const [densest = '', most = 0] = [...accounts].reduce((a, b) => (b[1] > a[1] ? b : a));
  const page = (account: string) => async () => {
    await reader.readAccount({ account, ...interval, order: 'newest', after: null, limit: pageRows });
    await reader.tallyAccount({ account, ...interval, budget: 50_000 });
  };
  const ordinary = Array.from({ length: pages }, (_, i) => page(all[(i * 7919) % all.length] ?? ''));
  await reportTimes(`${name}: page and counts of an ordinary account`, ordinary);
  await reportTimes(
    `${name}: page and counts of the account with ${most} rows`,
    Array.from({ length: 50 }, () => page(densest)),
  );
  await reportTimes(
    `${name}: overview counts`,
    Array.from({ length: 50 }, () => () => reader.countsByLabeler(interval)),
  );
  await reportTimes(
    `${name}: counters of all labelers`,
    Array.from({ length: 20 }, () => () => reader.labelerCounters(interval)),
  );
  const started = performance.now();
  let exported = 0;
  for await (const chunk of scanAccount(reader, { account: densest, ...interval, order: 'oldest' }, 1e9)) {
    exported += chunk.length;
  }
  report(`${name}: export, rows per second`, (exported / (performance.now() - started)) * 1000);
}

async function reportTimes(name: string, works: readonly (() => Promise<unknown>)[]): Promise<void> {
  const took: number[] = [];
  for (const work of works) {
    const started = performance.now();
    await work();
    took.push(performance.now() - started);
  }
  took.sort((a, b) => a - b);
  report(`${name}, p50 ms`, took[Math.floor(took.length / 2)] ?? 0);
  report(`${name}, p99 ms`, took[Math.floor(took.length * 0.99)] ?? 0);
}
