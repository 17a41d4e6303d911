/**
 * Writes sealed days with the network's distribution of labels directly into a store's directory, with the rows in
 * the order that sealing produces. The script creates a 30-day store of 42 M rows in minutes. Use it only for
 * measurements and tests of scale, never for a live store.
 *
 * node bench/store-generator.ts FOLDER [--days 31] [--rows 1400000] [--last 2026-11-20]
 */
import { chmodSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import { migrate, openWritable, setPragma, syncFolder } from '../src/store/sqlite/base/connection.ts';
import { dayPath, storePaths } from '../src/store/sqlite/base/files.ts';
import { encodeRow, type Intern, packStamps, rowColumns, type Stamp } from '../src/store/sqlite/base/row.ts';
import { keepChecksums } from '../src/store/sqlite/blocks/blocks.ts';
import { keepFilter } from '../src/store/sqlite/day/account-rows.ts';
import { storeSealedDayCounts } from '../src/store/sqlite/hot/hot-counts.ts';
import { recountLabelers } from '../src/store/sqlite/labeler/stored-counters.ts';
import { metaNames, sealedDayMigrations } from '../src/store/sqlite/schema/day-schema.ts';
import { stateChanges } from '../src/store/sqlite/state/state.ts';
import { openSqliteWriter } from '../src/store/sqlite/write/writer.ts';
import { dayFromName, dayName, dayStart, minute } from '../src/store/time.ts';
import { type DayPlan, labelOf, planDay, rowsOfDay } from './store-traffic.ts';

/** Options for the generated store. */
interface GeneratorOptions {
  readonly folder: string;
  readonly days: number;
  readonly rows: number;
  /** The last generated day, as a number of days since 1970. */
  readonly last: number;
  readonly progress?: (day: string, seconds: number) => void;
}

/** Creates a store of sealed days. Deletes the previous content of the directory. */
export async function generateStore({ folder, days, rows, last, progress }: GeneratorOptions): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const first = last - days + 1;
  const store = openSqliteWriter({ folder, at: dayStart(first) });
  const { generationId } = await store.epoch();
  await store.close();
  const paths = storePaths(folder);
  const db = openWritable(paths.state, 1024 * 1024);
  const state = stateChanges(db);
  for (let day = first; day <= last; day++) {
    const started = performance.now();
    writeSealedDay(dayPath(paths, day, 'sealed'), planDay(day, rows), generationId);
    state.addDay(day, true);
    progress?.(dayName(day), (performance.now() - started) / 1000);
  }
  syncFolder(paths.days);
  db.close();
}

/** Writes one sealed day of a plan. */
function writeSealedDay(path: string, plan: DayPlan, generationId: string): void {
  const db = new Database(path);
  setPragma(db, 'journal_mode', 'memory');
  setPragma(db, 'synchronous', 0);
  migrate(db, sealedDayMigrations, new Date(dayStart(plan.day) / 1000).toISOString());
  const columns = rowColumns.replace('id, subject', 'subject, id');
  const insert = db.prepare(`INSERT INTO observation(${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const names = new Map<string, number>();
  const intern: Intern = (table, name) => {
    const key = `${table} ${name}`;
    let id = names.get(key);
    if (id === undefined) {
      id = Number(db.prepare(`INSERT INTO ${table}(name) VALUES (?)`).run(name).lastInsertRowid);
      names.set(key, id);
    }
    return id;
  };
  const stamps = new Map<string, Stamp[]>();
  db.transaction(() => {
    for (const row of bySubject(plan)) {
      const id = dayStart(plan.day) + (plan.offsets[row] ?? 0);
      const { label, signature } = labelOf(plan, row);
      const [, subject, source, ...rest] = encodeRow(id, { label, signature, live: true }, intern);
      insert.run(subject, id, source, ...rest);
      const key = `${Math.floor(id / minute)} ${source}`;
      const of = stamps.get(key) ?? [];
      if (of.length === 0) stamps.set(key, of);
      of.push({ offset: id % minute, removed: label.neg === true });
    }
    writeCounters(db, stamps);
    recountLabelers(db);
    storeSealedDayCounts(db);
    keepFilter(db);
    const setMeta = db.prepare('INSERT INTO meta(name, value) VALUES (?, ?)');
    const end = dayStart(plan.day) + (plan.offsets.at(-1) ?? 0);
    setMeta.run(metaNames.generation, generationId);
    setMeta.run(metaNames.last, end);
    setMeta.run(metaNames.through, end);
    setMeta.run(metaNames.rows, plan.accounts.length);
  })();
  keepChecksums(db, plan.day);
  setPragma(db, 'journal_mode', 'delete');
  db.close();
  chmodSync(path, 0o444);
}

/**
 * Returns the row numbers of a plan in the order of (subject, id). Compares account numbers, because DIDs ascend with
 * account numbers.
 */
function bySubject({ accounts }: DayPlan): Uint32Array {
  const order = new Uint32Array(accounts.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  return order.sort((a, b) => (accounts[a] ?? 0) - (accounts[b] ?? 0) || a - b);
}

function writeCounters(db: Database.Database, stamps: ReadonlyMap<string, Stamp[]>): void {
  const countMinute = db.prepare('INSERT INTO counter_minute VALUES (?, ?, ?, ?, ?)');
  const countHour = db.prepare(
    `INSERT INTO counter_hour VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET applied = applied + excluded.applied, removed = removed + excluded.removed`,
  );
  for (const [key, of] of stamps) {
    const [at = 0, source = 0] = key.split(' ').map(Number);
    of.sort((a, b) => a.offset - b.offset);
    const removed = of.filter((stamp) => stamp.removed).length;
    countMinute.run(at, source, of.length - removed, removed, packStamps(of));
    countHour.run(Math.floor(at / 60), source, of.length - removed, removed);
  }
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      days: { type: 'string', default: '31' },
      rows: { type: 'string', default: String(rowsOfDay) },
      last: { type: 'string', default: '2026-11-20' },
    },
  });
  const [folder] = positionals;
  const last = dayFromName(values.last);
  if (folder === undefined || last === null) {
    console.error('usage: store-generator.ts FOLDER [--days N] [--rows N] [--last YYYY-MM-DD]');
    process.exit(1);
  }
  const progress = (day: string, seconds: number): void => console.error(`${day}: ${seconds.toFixed(1)} s`);
  await generateStore({ folder, days: Number(values.days), rows: Number(values.rows), last, progress });
}
