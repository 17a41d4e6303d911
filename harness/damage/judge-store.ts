import { rowOf } from '../../src/account/export/rows.ts';
import { recordDowntime } from '../../src/labels/assembly/heartbeat.ts';
import type { Log } from '../../src/ops/log.ts';
import { StoreError } from '../../src/store/errors.ts';
import type { Observation, RefusalCount, StoredGap, StoreReader } from '../../src/store/port.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day, micros } from '../../src/store/time.ts';
import { noon, subjects } from '../conformance/labels.ts';
import { everyRow } from '../store/scan.ts';

/**
 * Effects of a damaged file, from harmless to harmful: none; an error in some or all queries; an earlier state with a
 * gap for the missing commits; a wrong result that `verify` detects; a wrong result that `verify` does not detect, or
 * an error that the store does not document.
 */
export const verdicts = ['unchanged', 'refused', 'gap', 'found by verify', 'silent'] as const;
type Verdict = (typeof verdicts)[number];

/** A verdict and its reason: the error or the first wrong result; empty for an unchanged result. */
export interface Judged {
  readonly verdict: Verdict;
  readonly why: string;
}

/** Results of all queries on an undamaged store. */
export interface StoreTruth {
  readonly rows: ReadonlyMap<string, Observation>;
  readonly answers: Readonly<Record<string, unknown>>;
  readonly gaps: readonly StoredGap[];
  readonly refusals: readonly RefusalCount[];
}

/** Time at which the damaged store is opened, in microseconds. */
const reopenedAt = micros(noon + 5 * day + day / 4);
const interval = { start: noon, end: micros(noon + 6 * day) };
const silentLog = { info: () => undefined, warn: () => undefined } as unknown as Log;

/**
 * Queries whose entire results are compared. `heartbeat` and `gaps` are compared separately because opening the store
 * may add to them.
 */
const questions: Readonly<Record<string, (store: StoreReader) => Promise<unknown>>> = {
  epoch: (store) => store.epoch(),
  floor: async (store) => (await store.frontier()).floor,
  positions: (store) => store.positions(),
  purges: (store) => store.purges(),
  roster: (store) => store.roster(),
  note: (store) => store.note('test'),
};

/** Returns a row as it is published: with the verdict on the labeler's signature, but without the signature. */
function published(row: Observation): string {
  return JSON.stringify(rowOf(row));
}

/** Reads the results of an undamaged store. */
export async function storeTruth(folder: string): Promise<StoreTruth> {
  const reader = openSqliteReader(folder);
  try {
    const rows = await everyRow(reader, interval);
    const answers: Record<string, unknown> = {};
    for (const [name, ask] of Object.entries(questions)) answers[name] = await ask(reader);
    const gaps = await reader.gaps(interval);
    const refusals = await reader.refusals(interval);
    return { rows: new Map(rows.map((row) => [published(row), row])), answers, gaps, refusals };
  } finally {
    await reader.close();
  }
}

/**
 * Opens a damaged store as the instrument does and compares its results. `earlier` contains the results of the
 * undamaged store after each of its changes.
 */
export async function judgeStore(folder: string, truth: StoreTruth, earlier: readonly StoreTruth[]): Promise<Judged> {
  try {
    const writer = openSqliteWriter({ folder, at: reopenedAt });
    try {
      const { startedAt } = await writer.epoch();
      await recordDowntime(writer, { artifacts: folder, clock: () => reopenedAt, log: silentLog }, startedAt);
    } finally {
      await writer.close();
    }
  } catch (error) {
    return refusal(error);
  }
  let reader: StoreReader;
  try {
    reader = openSqliteReader(folder);
  } catch (error) {
    return refusal(error);
  }
  try {
    return await compare(reader, truth, earlier);
  } finally {
    await reader.close();
  }
}

function refusal(error: unknown): Judged {
  if (error instanceof StoreError) return { verdict: 'refused', why: error.message };
  const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { verdict: 'silent', why: `an error that the store does not document: ${what}` };
}

async function compare(reader: StoreReader, truth: StoreTruth, earlier: readonly StoreTruth[]): Promise<Judged> {
  let refused: string | null = null;
  const undocumented: string[] = [];
  async function asked<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      const judged = refusal(error);
      if (judged.verdict === 'silent') undocumented.push(judged.why);
      refused ??= judged.why;
      return null;
    }
  }
  const wrong: string[] = [];
  let isEarlier = false;
  const gaps = await asked(() => reader.gaps(interval));
  const covers = (at: number, source: string): boolean =>
    gaps?.some((gap) => (gap.source === null || gap.source === source) && gap.start <= at && at < gap.end) ?? true;
  const rows = await asked(() => everyRow(reader, interval));
  if (rows) {
    const served = new Set(rows.map(published));
    const invented = [...served].find((row) => !truth.rows.has(row));
    if (invented !== undefined) wrong.push(`a served row was never stored: ${invented}`);
    const missing = [...truth.rows].filter(([text]) => !served.has(text)).map(([, row]) => row);
    isEarlier = missing.length > 0;
    const hidden = missing.find(({ observedAt, label }) => !covers(observedAt, label.src));
    if (hidden) wrong.push(`a row is missing and no gap covers it: ${JSON.stringify(hidden)}`);
    wrong.push(...(await wrongCounts(reader, rows, asked)));
  }
  for (const [name, ask] of Object.entries(questions)) {
    const answer = await asked(async () => ({ is: JSON.stringify(await ask(reader)) }));
    if (answer === null || answer.is === JSON.stringify(truth.answers[name])) continue;
    if (earlier.some(({ answers }) => answer.is === JSON.stringify(answers[name]))) isEarlier = true;
    else wrong.push(`${name} is ${answer.is}`);
  }
  const refusals = await asked(() => reader.refusals(interval));
  for (const { source, reason, count } of truth.refusals) {
    const found = refusals?.find((one) => one.source === source && one.reason === reason)?.count ?? 0;
    // Allow lower counts for lost commits if a gap covers those commits.
    if (refusals && (found > count || (found < count && !isEarlier)))
      wrong.push(`${found} refusals were counted, expected ${count}`);
  }
  for (const gap of gaps === null ? [] : truth.gaps) {
    const isThere = gaps?.some(
      ({ source, start, end }) => source === gap.source && start <= gap.start && end >= gap.end,
    );
    if (isThere) continue;
    if (covers(gap.start, gap.source ?? '')) isEarlier = true;
    else wrong.push(`a gap is missing: ${JSON.stringify(gap)}`);
  }
  const [first] = [...undocumented, ...wrong];
  if (first === undefined) return verdictWithout(refused, isEarlier);
  const found = await foundByVerify(reader);
  return { verdict: found && undocumented.length === 0 ? 'found by verify' : 'silent', why: first };
}

function verdictWithout(refused: string | null, isEarlier: boolean): Judged {
  if (refused !== null) return { verdict: 'refused', why: refused };
  return isEarlier
    ? { verdict: 'gap', why: 'the last commits are missing, and a gap covers them' }
    : { verdict: 'unchanged', why: '' };
}

/** Returns a problem for each counter or stored count that does not match the served rows. */
async function wrongCounts(
  reader: StoreReader,
  rows: readonly Observation[],
  asked: <T>(work: () => Promise<T>) => Promise<T | null>,
): Promise<string[]> {
  const wrong: string[] = [];
  const expected = new Map<string, number>();
  for (const { label } of rows) expected.set(label.src, (expected.get(label.src) ?? 0) + 1);
  const counts = await asked(() => reader.countsByLabeler(interval));
  for (const { labeler, applied, removed } of counts ?? []) {
    if (expected.get(labeler) !== applied + removed)
      wrong.push(`${applied + removed} rows were counted for ${labeler}, but ${expected.get(labeler) ?? 0} are served`);
  }
  if (counts && counts.length !== expected.size)
    wrong.push(`${counts.length} labelers were counted, expected ${expected.size}`);
  wrong.push(...(await wrongLabelers(reader, rows, asked)));
  for (const account of subjects) {
    const tally = await asked(() => reader.tallyAccount({ account, ...interval, budget: 1e6 }));
    const counted = tally?.days.reduce((sum, { counts: of }) => sum + (of?.rows ?? 0), 0);
    const own = rows.filter(({ label }) => label.uri.includes(account)).length;
    if (tally && counted !== own) wrong.push(`${counted} rows were counted for ${account}, but ${own} are served`);
  }
  return wrong;
}

/** Returns a problem for each labeler counter, by verdict or by value, that does not match the served rows. */
async function wrongLabelers(
  reader: StoreReader,
  rows: readonly Observation[],
  asked: <T>(work: () => Promise<T>) => Promise<T | null>,
): Promise<string[]> {
  const counters = await asked(() => reader.labelerCounters(interval));
  if (!counters) return [];
  const found = counters.labelers.flatMap(({ labeler, verdicts, values }) => [
    ...Object.entries(verdicts).map(([verdict, count]) => [`${labeler} ${verdict}`, count] as const),
    ...values.map(({ value, applied, removed }) => [`${labeler} value ${value}`, applied + removed] as const),
  ]);
  const expected = new Map<string, number>();
  for (const { label, signature } of rows) {
    for (const key of [`${label.src} ${signature}`, `${label.src} value ${label.val}`]) {
      expected.set(key, (expected.get(key) ?? 0) + 1);
    }
  }
  const wrong = found.filter(([key, count]) => (expected.get(key) ?? 0) !== count);
  const missing = [...expected].filter(([key]) => !found.some(([one]) => one === key));
  return [...wrong, ...missing].map(([key, count]) => `the counter of ${key} is wrong or missing: ${count}`);
}

async function foundByVerify(reader: StoreReader): Promise<boolean> {
  try {
    for await (const { problems } of reader.verify()) if (problems.length > 0) return true;
    return false;
  } catch {
    return true;
  }
}
