import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Micros } from '../../src/contract/timestamp.ts';
import type { Observation, StoreReader, StoreWriter } from '../../src/store/port.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day, micros } from '../../src/store/time.ts';
import { noon, subjects } from '../conformance/labels.ts';
import { everyRow } from '../store/scan.ts';

/** Results of all queries. Two stores with equal content have equal results. */
interface Answers {
  readonly rows: readonly Observation[];
  /** Problems that `verify` reports. */
  readonly problems: readonly string[];
  readonly [name: string]: unknown;
}

/** Results of all queries, and the names of the day files. */
export interface StoreState extends Answers {
  readonly files: readonly string[];
}

/** A timestamp after all rows in the tests, in microseconds. */
const end = micros(noon + 60 * day);

/** Returns the fixed generation id that every store in the tests receives. */
export const generationId = (): string => '11111111-2222-4333-8444-555555555555';

/** Opens a store as the next writer would, closes it, and reads its entire content. */
export async function storeState(folder: string, at: Micros): Promise<StoreState> {
  const writer = openSqliteWriter({ folder, at, generationId });
  const instrument = await readInstrumentData(writer).finally(() => writer.close());
  const reader = openSqliteReader(folder);
  try {
    return { ...(await readAll(reader)), instrument, files: dayFiles(folder) };
  } finally {
    await reader.close();
  }
}

/** Returns the results of all queries. */
export async function readAll(reader: StoreReader): Promise<Answers> {
  const frontier = await reader.frontier();
  const interval = { start: frontier.floor, end };
  const rows = await everyRow(reader, interval);
  const problems: string[] = [];
  for await (const report of reader.verify()) problems.push(...report.problems);
  return {
    rows,
    problems,
    frontier,
    counts: await reader.countsByLabeler(interval),
    refusals: await reader.refusals(interval),
    labelers: await reader.labelerCounters(interval),
    positions: await reader.positions(),
    gaps: await reader.gaps(interval),
    purges: await reader.purges(),
    heartbeat: await reader.heartbeat(),
    roster: await reader.roster(),
    note: await reader.note('test'),
    tallies: await Promise.all(subjects.map((account) => reader.tallyAccount({ account, ...interval, budget: 1e6 }))),
  };
}

/** Returns the data that only the instrument reads. */
async function readInstrumentData(writer: StoreWriter): Promise<unknown> {
  return {
    refusedRows: await writer.refusedRows(),
    bytes: [...(await writer.dailyBytes(20_005)).bytes],
    directory: await writer.directoryPosition('plc.example'),
  };
}

/** Returns the names of the day files, without SQLite's auxiliary files of open days. */
function dayFiles(folder: string): string[] {
  return readdirSync(join(folder, 'days'))
    .filter((name) => !/-(wal|shm)$/.test(name))
    .sort();
}
