/**
 * Compares how two builds append the same rows to PostgreSQL: `node bench/store/postgres-append.ts --base DIR
 * [--rows 300000] [--batch 500] [--ahead 1] [--out FILE]`. `DIR` is another checkout of this project, with its dependencies.
 *
 * Each build has a server of its own, whose commits wait for the disk; the builds take turns, 16 batches at a time. Up to
 * `--ahead` batches are appended before the first of them is committed. Client and
 * servers share the processors, so that processor time is measured in addition to the time that passed. Prints the figures of
 * both builds and their ratio, and the bytes per row of each relation of this build.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { type PostgresServer, startPostgres } from '../../harness/postgres/server.ts';
import { processTree } from '../../harness/process/process-tree.ts';
import { packageRoot } from '../../src/main/command.ts';
import type { Batch, StoreWriter } from '../../src/store/port.ts';
import { dayFromName, dayStart, micros } from '../../src/store/time.ts';
import { labelOf, planDay } from '../store-traffic.ts';

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    rows: { type: 'string', default: '300000' },
    batch: { type: 'string', default: '500' },
    ahead: { type: 'string', default: '1' },
    out: { type: 'string' },
  },
});
const [rows, batchRows, ahead] = [Number(values.rows), Number(values.batch), Number(values.ahead)];
const turnRows = 16 * batchRows;
const day = dayFromName('2026-11-17') ?? 0;
const schema = 'bench';

/** Sums of one build. */
interface Run {
  readonly name: string;
  readonly server: PostgresServer;
  readonly store: StoreWriter;
  readonly waits: number[];
  tookMs: number;
  clientCpuMs: number;
}

type OpenModule = typeof import('../../src/store/open.ts');

async function start(name: string, folder: string): Promise<Run> {
  const { openStoreWriter } = (await import(join(resolve(folder), 'src/store/open.ts'))) as OpenModule;
  const server = await startPostgres({ durable: true });
  const store = await openStoreWriter(server.url(schema), { at: dayStart(day) });
  return { name, server, store, waits: [], tookMs: 0, clientCpuMs: 0 };
}

function batchOf(row: number, end: number): Batch {
  const observations = Array.from({ length: end - row }, (_, i) => labelOf(plan, row + i));
  const at = dayStart(day) + (plan.offsets[row] ?? 0);
  const positions = [{ source: 'did:web:mod.example', endpoint: 'wss://mod.example', value: String(at) }];
  return { at: micros(at), observations, refusals: [], positions };
}

/** Appends the rows of one turn. */
async function append(run: Run, row: number, end: number): Promise<void> {
  const batches: Batch[] = [];
  for (let at = row; at < end; at += batchRows) batches.push(batchOf(at, Math.min(end, at + batchRows)));
  const cpu = process.cpuUsage();
  const started = performance.now();
  const inProgress: Promise<void>[] = [];
  for (const batch of batches) {
    if (inProgress.length >= ahead) await inProgress.shift();
    const begun = performance.now();
    inProgress.push(run.store.append(batch).then(() => void run.waits.push(performance.now() - begun)));
  }
  await Promise.all(inProgress);
  run.tookMs += performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  run.clientCpuMs += (user + system) / 1000;
}

function serverCpuMs({ server }: Run): number {
  const [pid] = readFileSync(join(server.socket, 'data/postmaster.pid'), 'utf8').split('\n');
  return processTree(Number(pid)).cpuSeconds * 1000;
}

interface Relation {
  readonly name: string;
  readonly bytes: number;
}

async function relationsOf({ server }: Run): Promise<{ relations: Relation[]; logBytes: number }> {
  const client = new pg.Client(server.client);
  await client.connect();
  try {
    const { rows: relations } = await client.query<Relation>(
      `SELECT regexp_replace(relname, '_\\d{4}_\\d\\d_\\d\\d', '_DAY') AS name, pg_relation_size(c.oid)::float8 +
         CASE WHEN reltoastrelid = 0 THEN 0 ELSE pg_total_relation_size(reltoastrelid) END::float8 AS bytes
       FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
       WHERE nspname = $1 AND relkind IN ('r', 'i') ORDER BY 2 DESC`,
      [schema],
    );
    const { rows: log } = await client.query<{ bytes: number }>(
      "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS bytes",
    );
    return { relations, logBytes: log[0]?.bytes ?? 0 };
  } finally {
    await client.end();
  }
}

async function figuresOf(run: Run, before: { cpu: number; log: number }): Promise<Record<string, number>> {
  const sorted = run.waits.toSorted((a, b) => a - b);
  const serverMs = serverCpuMs(run) - before.cpu;
  const { relations, logBytes } = await relationsOf(run);
  const bytes = relations.reduce((sum, relation) => sum + relation.bytes, 0);
  return {
    'rows per second': (rows / run.tookMs) * 1000,
    'median of a batch, ms': sorted[Math.floor(sorted.length / 2)] ?? 0,
    'p99 of a batch, ms': sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    'processor time of the client per row, us': (run.clientCpuMs / rows) * 1000,
    'processor time of the server per row, us': (serverMs / rows) * 1000,
    'rows per second of processor time of one core': (rows / (serverMs + run.clientCpuMs)) * 1000,
    'bytes per row': bytes / rows,
    'bytes of the log per row': (logBytes - before.log) / rows,
  };
}

const plan = planDay(day, rows);
const runs = [await start('this build', packageRoot())];
if (values.base !== undefined) runs.unshift(await start('base', values.base));
const before = await Promise.all(
  runs.map(async (run) => ({ cpu: serverCpuMs(run), log: (await relationsOf(run)).logBytes })),
);
for (let row = 0; row < rows; row += turnRows) {
  // The first of a pair meets a colder cache, so that the order changes with each turn.
  const turns = (row / turnRows) % 2 === 0 ? runs : runs.toReversed();
  for (const run of turns) await append(run, row, Math.min(rows, row + turnRows));
}
const figures: Record<string, Record<string, number>> = {};
for (const [i, run] of runs.entries()) {
  figures[run.name] = await figuresOf(run, before[i] ?? { cpu: 0, log: 0 });
}
const format = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 2 }).padStart(12);
for (const name of Object.keys(figures['this build'] ?? {})) {
  const [base, own] = [figures.base?.[name], figures['this build']?.[name] ?? 0];
  const ratio = base === undefined ? '' : `${format(base)} ${format(own / base)}`;
  console.log(`${name.padEnd(48)} ${format(own)} ${ratio}`);
}
for (const run of runs) {
  console.log(`# ${run.name}: bytes per row`);
  const { relations } = await relationsOf(run);
  for (const { name, bytes } of relations.filter((one) => one.bytes / rows >= 0.5)) {
    console.log(`${name.padEnd(48)} ${format(bytes / rows)}`);
  }
}
for (const { store, server } of runs) {
  await store.close();
  await server.stop();
}
if (values.out !== undefined) writeFileSync(values.out, `${JSON.stringify(figures, null, 1)}\n`);
