/**
 * Measures the account-view surface: the built program, pinned to one core, over a generated store.
 *
 *   node bench/account.ts [--rows 3000000] [--dense 165000] [--labelers 150] [--gaps 10] [--clients 200] [--seconds 5]
 *     [--starts 10] [--folder DIR] [--keep]
 *
 * `--rows` is the number of rows in the 31 days before today (45000000, the size to plan for, takes 10 min and 8 GB).
 * One account gets `--dense` rows today, appended in the same way as by the instrument. Each of `--labelers` enrolled
 * labelers has `--gaps` gaps. A store in `--folder` is kept, and reused by a later run. `--keep` also keeps the store
 * of a run without `--folder`, which is in a temporary directory.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { takeSnapshot } from '../src/account/export/exports.ts';
import { rememberManifests } from '../src/account/export/manifest.ts';
import { begin, readExport } from '../src/account/export/rows.ts';
import { openSqliteReader } from '../src/store/sqlite/read/reader.ts';
import { openSqliteWriter } from '../src/store/sqlite/write/writer.ts';
import { dayOf, micros } from '../src/store/time.ts';
import {
  appendDense,
  appendSteadily,
  askAll,
  crowd,
  denseDid,
  enrolWithGaps,
  followExport,
  times,
} from './account-load.ts';
import { type Measured, startMeasured } from './processes.ts';
import { generateStore } from './store-generator.ts';
import { accountDid, denseAccount } from './store-traffic.ts';
import { dropPageCache } from './store-window.ts';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '3000000' },
    dense: { type: 'string', default: '165000' },
    labelers: { type: 'string', default: '150' },
    gaps: { type: 'string', default: '10' },
    clients: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '5' },
    starts: { type: 'string', default: '10' },
    folder: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
const days = 31;
const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'almanac-account-bench-'));
const store = join(folder, 'labels');
const now = (): number => Date.now() * 1000;

function report(what: string, figures: string): void {
  console.log(`${what.padEnd(72)}${figures}   (load ${loadavg()[0]?.toFixed(1)})`);
}

if (!existsSync(store)) {
  const rows = Math.round(Number(values.rows) / days);
  await generateStore({ folder: store, days, rows, last: dayOf(now()) - 1 });
}
const writer = openSqliteWriter({ folder: store, at: micros(now()) });
const already = await writer.readAccount({
  account: denseDid,
  start: (await writer.frontier()).floor,
  end: micros(now() + 60_000_000),
  order: 'newest',
  after: null,
  limit: 1,
});
if ((await writer.roster()).length === 0) {
  await enrolWithGaps(writer, { count: Number(values.labelers), gaps: Number(values.gaps) }, now);
}
if (already.rows.length === 0) await appendDense(writer, Number(values.dense), now);

const view = (account: string): string => `/account?did=${account}`;
const ordinary = (n: number): string => accountDid((n * 100_003) % 8_000_000);
const densest = accountDid(denseAccount(1));

await measureStore();
await measureFirst();
const program = await start();
try {
  await measureAnswers(program.url);
  await measureCrowd(program.url);
} finally {
  await program.stop();
  await writer.close();
  if (!values.keep && values.folder === undefined) rmSync(folder, { recursive: true, force: true });
}

/** Starts the built program on one core. */
async function start(): Promise<Measured> {
  const program = await startMeasured(0, [
    process.execPath,
    join(import.meta.dirname, '..', 'bin', 'almanac.mjs'),
    'account',
    ...['--port', '0', '--store', `sqlite:${store}`, '--data', folder, '--log-level', 'silent', '--trust-proxy', '1'],
    ...[
      '--max-export-rows',
      '1000000',
      '--client-accounts',
      '0',
      '--client-cost',
      '0',
      '--client-connections',
      '0',
      '--readers',
      '1',
    ],
  ]);
  // Send one unmeasured request first, to exclude the client's start-up cost.
  await askAll(1, () => `${program.url}/`);
  return program;
}

/**
 * Measures the first page after the program has started, with an empty page cache. If the page cache cannot be
 * dropped, reports this instead of a duration.
 */
async function measureFirst(): Promise<void> {
  const kinds = [
    ['ordinary account', ordinary],
    ['densest account of 30 sealed days', () => densest],
    ['dense account of an open day', () => denseDid],
  ] as const;
  for (const [kind, account] of kinds) {
    const took: number[] = [];
    for (let n = 1; n <= Number(values.starts); n++) {
      const program = await start();
      try {
        if (!dropPageCache())
          return report(
            'first page after a start, cold cache',
            'not measured: the page cache cannot be dropped on this machine',
          );
        took.push(...(await askAll(1, () => `${program.url}${view(account(n))}`)));
      } finally {
        await program.stop();
      }
    }
    report(`page, ${kind}, first after a start, cold cache`, times(took));
  }
}

/**
 * Measures two snapshots and exports of the hot account, read directly from the store. The figures include reading
 * chunks, formatting rows and computing the digest, but no transfer to another process or over a socket.
 */
async function measureStore(): Promise<void> {
  const reader = openSqliteReader(store);
  const query = { account: denseDid, asked: { kind: 'days', days: 7 }, filters: {} } as const;
  const bounds = { maxExportRows: 1_000_000, pageRows: 500, ttlMs: 900_000 };
  for (const state of ['first', 'again']) {
    const counting = performance.now();
    const taken = await takeSnapshot(reader, query, Date.now(), bounds);
    if (taken.kind !== 'taken') throw new Error(taken.kind);
    report(`dense account, ${state}: snapshot`, `${(performance.now() - counting).toFixed(0)} ms`);
    let progress = begin(await rememberManifests().of(reader, taken.snapshot));
    const started = performance.now();
    const processor = process.cpuUsage();
    for (let terminal = false; !terminal; ) {
      const read = await readExport(reader, { snapshot: taken.snapshot, from: progress, limit: 500, now: null });
      if (read.kind === 'refused') throw new Error(read.code);
      ({ progress, terminal } = read);
    }
    const perSecond = Math.round((progress.count * 1000) / (performance.now() - started));
    const { user, system } = process.cpuUsage(processor);
    const cost = ((user + system) / progress.count).toFixed(1);
    report(
      `dense account, ${state}: export read directly from the store`,
      `${progress.count} rows, ${perSecond} rows a second, ${cost} µs of processor time each`,
    );
  }
  await reader.close();
}

/** Measures requests that are sent one after another. */
async function measureAnswers(url: string): Promise<void> {
  const create = (n: number): string => `${url}/exports?did=${ordinary(n)}`;
  const page = (account: string): string => `${url}${view(account)}`;
  const cold: number[] = [];
  // Request a different account each time, with an empty page cache.
  for (let n = 1; n <= 200 && dropPageCache(); n++) cold.push(...(await askAll(1, () => page(ordinary(n)))));
  if (cold.length > 0) report('page, ordinary account, cold cache', times(cold));
  report('page, ordinary account, warm', times(await askAll(200, (n) => page(ordinary(n % 40)))));
  report('page, densest account of 30 sealed days, warm', times(await askAll(200, () => page(densest))));
  report('page, dense account of an open day, warm', times(await askAll(200, () => page(denseDid))));
  if (dropPageCache()) report('creating an export, ordinary account, cold cache', times(await askAll(40, create)));
  else
    report(
      'creating an export, ordinary account, cold cache',
      'not measured: the page cache cannot be dropped on this machine',
    );
  report('creating an export, ordinary account, warm', times(await askAll(200, (n) => create(n % 40))));
  report(
    'creating an export, dense account, warm',
    times(await askAll(20, () => `${url}/exports?did=${denseDid}&days=7`)),
  );
  const { rows, seconds, pageMs } = await followExport(url, denseDid);
  report('export of the dense account over HTTP', `${rows} rows, ${Math.round(rows / seconds)} rows a second`);
  report('  pages of 500 rows of that export', times(pageMs));
  report('resident memory of the serving process', `${program.residentMiB()} MiB`);
}

/**
 * Measures the responses to concurrent clients while 500 labels per second are committed, and the duration of the
 * commits.
 */
async function measureCrowd(url: string): Promise<void> {
  const ended = new AbortController();
  const appended = appendSteadily(writer, now, ended.signal);
  const { admitted, refused, others } = await crowd(url, Number(values.clients), Number(values.seconds));
  ended.abort();
  report(`${values.clients} concurrent clients: admitted`, `${admitted.length}, ${times(admitted)}`);
  report('  refused because the store is busy, with Retry-After', String(refused));
  report('  any other response', others.length === 0 ? 'nothing' : JSON.stringify(others.slice(0, 5)));
  report('commits of 50 labels, ten per second, at the same time', times(await appended));
}
