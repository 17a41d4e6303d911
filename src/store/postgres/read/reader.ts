import type { Micros } from '../../../contract/timestamp.ts';
import { type SignatureVerdict, signatureVerdicts } from '../../../contract/vocabulary.ts';
import {
  delayBounds,
  type LabelerCounters,
  type LabelersCounters,
  maxCountedValues,
  type ValueCount,
} from '../../counts.ts';
import { StoreError } from '../../errors.ts';
import type { DayReport, Frontier, Position, StoreReader } from '../../port.ts';
import { dayName, dayOf, dayStart, hour, type Interval, micros, minute } from '../../time.ts';
import type { PostgresPlace } from '../base/place.ts';
import { decodeRow, isLive, isRemoval, isStoredForm, type RowRecord, recordColumns, removalFlag } from '../base/row.ts';
import { longLimits, type Queries, Session } from '../base/session.ts';
import { delayOf, labelerKinds } from '../count/counters.ts';
import { assertReadable, partitionOf } from '../schema/migrate.ts';
import { tableReads } from '../state/state.ts';
import { tallyReads } from './account-tally.ts';
import { type Query, readRows, readState, rowReads, throughIn } from './queries.ts';

/**
 * Opens the store in a database for reading. Throws `not_a_store` if the database contains no store or one of an
 * earlier version, `schema_newer` for a store of a newer version, and `unfinished_copy` for an incomplete copy.
 */
export async function openPostgresReader(place: PostgresPlace): Promise<StoreReader> {
  const session = new Session(place, place.target, place.connections);
  try {
    await assertReadable(session);
  } catch (error) {
    await session.close();
    throw error;
  }
  return readerOver(session, () => session.close());
}

/** Creates a reader over a session. `release` runs once, when the reader is closed. */
export function readerOver(session: Session, release: () => Promise<void>): StoreReader {
  let closing: Promise<void> | null = null;
  const query = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closing) throw new StoreError('closed', `the store in ${session.name} was closed`);
    return work();
  };
  return {
    ...stateReads(query, session),
    ...rowReads(query, session),
    ...tallyReads(query, session),
    labelerCounters: (interval) => query(() => labelerCounters(session, interval)),
    verify: () => verifyStore(session),
    close: () => {
      closing ??= release();
      return closing;
    },
  };
}

/** Creates the methods that read small tables. */
function stateReads(query: Query, session: Session) {
  const read = <T>(work: (queries: Queries) => Promise<T>): Promise<T> => query(() => session.read(work));
  return {
    ...tableReads(read, (interval, work) => query(() => readState(session, interval, work))),
    epoch: () =>
      read(async (queries) => {
        const { generationId, startedAt } = await storeRow(queries);
        return { generationId, startedAt };
      }),
    frontier: () => read((queries) => frontierIn(queries, throughIn(session))),
    heartbeat: () => read(async (queries) => (await storeRow(queries)).heartbeat),
    positions: () =>
      read((queries) =>
        queries.rows<Position>(
          'SELECT source, endpoint, value, accepted_at AS "acceptedAt" FROM position ORDER BY source, endpoint',
        ),
      ),
    // There is nothing to report: only earlier versions of the embedded store accepted rows about spaces.
    spaceRemoval: () => query(() => Promise.resolve(null)),
  } satisfies Partial<StoreReader>;
}

interface StoreRow {
  readonly generationId: string;
  readonly startedAt: Micros;
  readonly floor: Micros;
  readonly revision: number;
  readonly heartbeat: Micros | null;
  readonly last: Micros | null;
  readonly observed: Micros | null;
  readonly through: Micros | null;
}

async function storeRow(queries: Queries, through = 'NULL::bigint'): Promise<StoreRow> {
  const [row] = await queries.rows<StoreRow>(
    `SELECT generation AS "generationId", started_at AS "startedAt", floor, revision, heartbeat, last_stamp AS last,
     observed_through AS observed, ${through} AS through FROM store`,
  );
  if (!row) throw new StoreError('damaged', 'the table "store" has no row');
  return row;
}

async function frontierIn(queries: Queries, expression: string): Promise<Frontier> {
  const { generationId, floor, revision, last, observed, through } = await storeRow(queries, expression);
  const end = micros(Math.max(floor, (last ?? -1) + 1));
  // Not everything before a later page has been received. If the replication stopped after a page without rows, an interval
  // would otherwise end before that page, and thus never have a silence.
  const received = observed === null || through === null ? observed : micros(Math.min(observed, through - 1));
  const frontier = { generationId, floor, end, observedThrough: received, revision };
  return through === null ? frontier : { ...frontier, replicatedThrough: through };
}

interface Count {
  readonly labeler: string;
  readonly kind: number;
  readonly key: string;
  readonly applied: number;
  readonly removed: number;
}

/** Returns the counts of each labeler over the whole days that overlap an interval. */
function labelerCounters(session: Session, interval: Interval): Promise<LabelersCounters> {
  return readRows(session, interval, async (queries, { floor }) => {
    const counts = await queries.rows<Count>(
      `SELECT s.did AS labeler, c.kind, c.key, c.applied, c.removed FROM
       (SELECT source, kind, key, sum(applied)::bigint AS applied, sum(removed)::bigint AS removed FROM labeler_count
        WHERE day >= $1 AND day <= $2 GROUP BY source, kind, key) c JOIN source s ON s.id = c.source
       WHERE c.applied + c.removed > 0`,
      [dayOf(interval.start), dayOf(interval.end - 1)],
    );
    const labelers = [...Map.groupBy(counts, ({ labeler }) => labeler)].map(([labeler, of]) => sumOf(labeler, of));
    labelers.sort((a, b) => (a.labeler < b.labeler ? -1 : 1));
    return { since: micros(Math.max(dayStart(dayOf(interval.start)), floor)), labelers };
  });
}

function sumOf(labeler: string, counts: readonly Count[]): LabelerCounters {
  const verdicts = new Map<string, number>();
  const values: ValueCount[] = [];
  const others = { applied: 0, removed: 0 };
  const delays = Array.from({ length: delayBounds.length + 1 }, () => 0);
  for (const { kind, key, applied, removed } of counts) {
    if (kind === labelerKinds.verdict) verdicts.set(key, applied);
    else if (kind === labelerKinds.value) values.push({ value: key, applied, removed });
    else if (kind === labelerKinds.delay) delays[Number(key)] = applied;
    else {
      others.applied += applied;
      others.removed += removed;
    }
  }
  values.sort((a, b) => b.applied + b.removed - a.applied - a.removed || (a.value < b.value ? -1 : 1));
  for (const { applied, removed } of values.slice(maxCountedValues)) {
    others.applied += applied;
    others.removed += removed;
  }
  const byVerdict = signatureVerdicts.map((verdict) => [verdict, verdicts.get(verdict) ?? 0]);
  return {
    labeler,
    verdicts: Object.fromEntries(byVerdict) as Record<SignatureVerdict, number>,
    values: values.slice(0, maxCountedValues),
    others,
    delays,
  };
}

/** Maximum number of problems listed per day. */
const maxProblems = 50;
/** Number of rows per FETCH. */
const rowsAtOnce = 5_000;

type Report = (problem: string) => void;
/** Numbers of applications and removals, by key. */
type Sums = Map<string, [applied: number, removed: number]>;

/** Recomputes the data that is derived from the rows of each day, and yields a report per day, oldest day first. */
async function* verifyStore(session: Session): AsyncGenerator<DayReport> {
  const days = await session.read((queries) => queries.rows<{ day: number }>('SELECT day FROM day ORDER BY day'));
  for (const { day } of days) {
    const report = await session.read((queries) => verifyDay(queries, day), {
      locked: 'observation',
      limits: longLimits,
    });
    if (report) yield report;
  }
}

/**
 * Verifies one day. Returns null if the day has expired since it was listed, because missing rows are then expected.
 */
async function verifyDay(queries: Queries, day: number): Promise<DayReport | null> {
  const [listed] = await queries.rows<{ sealed: boolean; last: number | null }>(
    'SELECT sealed, (SELECT last_stamp FROM store) AS last FROM day WHERE day = $1',
    [day],
  );
  if (!listed) return null;
  const problems: string[] = [];
  const report: Report = (problem) => {
    if (problems.length < maxProblems) problems.push(problem);
  };
  const [table] = await queries.rows<{ name: string | null }>('SELECT to_regclass($1)::text AS name', [
    partitionOf(day),
  ]);
  let rows = 0;
  if (!table?.name) report('the table with the rows of this day does not exist');
  else {
    const check = new DayCheck(day, report);
    rows = await check.readRows(queries);
    if (check.last > (listed.last ?? 0))
      report(`the stamp of row ${check.last} is later than the last assigned stamp ${listed.last}`);
    await check.compareTimes(queries);
    await check.compareLabelers(queries);
    await compareGroups(queries, day, report);
  }
  return { day: dayName(day), sealed: listed.sealed, unverified: false, rows, problems };
}

/** Sums over the rows of one day, which are compared with the stored counters. */
class DayCheck {
  readonly #day: number;
  readonly #report: Report;
  readonly #minutes: Sums = new Map();
  readonly #hours: Sums = new Map();
  /** Sums by labeler, kind and key. Contains every value by name, without the limit of the stored counters. */
  readonly #labelers: Sums = new Map();
  last = 0;

  constructor(day: number, report: Report) {
    this.#day = day;
    this.#report = report;
  }

  /** Reads and checks every row; returns the number of rows. */
  async readRows(queries: Queries): Promise<number> {
    const columns = `${recordColumns}, o.source, o.target`;
    await queries.run(
      `DECLARE verified NO SCROLL CURSOR FOR SELECT ${columns} FROM ${partitionOf(this.#day)} o LEFT JOIN source s ON s.id = o.source`,
    );
    const identities = new Set<string>();
    const stamps = new Set<number>();
    for (;;) {
      const rows = await queries.rows<CheckedRecord>(`FETCH ${rowsAtOnce} FROM verified`);
      for (const row of rows) {
        this.#add(row);
        if (stamps.has(row.at)) this.#report(`the stamp ${row.at} is assigned twice`);
        stamps.add(row.at);
        const identity = row.identity.toString('latin1');
        if (identities.has(identity)) this.#report(`row ${row.at} is stored twice`);
        identities.add(identity);
      }
      if (rows.length < rowsAtOnce) break;
    }
    await queries.run('CLOSE verified');
    return stamps.size;
  }

  #add(row: CheckedRecord): void {
    const { at, source, flags, val } = row;
    this.last = Math.max(this.last, at);
    if (dayOf(at) !== this.#day) this.#report(`row ${at} belongs to another day`);
    this.#checkContent(row);
    const removed = isRemoval(flags);
    increase(this.#minutes, `${Math.floor(at / minute)} ${source}`, removed);
    increase(this.#hours, `${Math.floor(at / hour)} ${source}`, removed);
    increase(this.#labelers, nameOf(source, labelerKinds.value, val), removed);
  }

  /** Checks that a row contains the accepted label, and that its derived columns match the label. */
  #checkContent(row: CheckedRecord): void {
    try {
      const { label, signature } = decodeRow(row);
      increase(this.#labelers, nameOf(row.source, labelerKinds.verdict, signature), false);
      const delay = delayOf(row.at, row.flags, label.cts);
      if (delay !== null) increase(this.#labelers, nameOf(row.source, labelerKinds.delay, String(delay)), false);
      if (!isStoredForm(row, { label, signature, live: isLive(row.flags) })) {
        this.#report(`the columns of row ${row.at} do not match its label`);
      }
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.#report(error.message);
    }
  }

  /** Compares the sums with the counters of minutes and hours. */
  async compareTimes(queries: Queries): Promise<void> {
    for (const [bucket, length, expected] of [
      ['minute', minute, this.#minutes],
      ['hour', hour, this.#hours],
    ] as const) {
      const stored = await queries.rows<{ key: string; applied: number; removed: number }>(
        `SELECT ${bucket} || ' ' || source AS key, applied, removed FROM counter_${bucket}
         WHERE ${bucket} >= $1 AND ${bucket} < $2 AND applied + removed <> 0`,
        [dayStart(this.#day) / length, dayStart(this.#day + 1) / length],
      );
      this.#compare(bucket, expected, stored);
    }
  }

  /** Compares the sums with the counters of labelers. */
  async compareLabelers(queries: Queries): Promise<void> {
    const stored = await queries.rows<{ source: number; kind: number; key: string; applied: number; removed: number }>(
      'SELECT source, kind, key, applied, removed FROM labeler_count WHERE day = $1',
      [this.#day],
    );
    const named = new Set(stored.map(({ source, kind, key }) => nameOf(source, kind, key)));
    const expected: Sums = new Map();
    for (const [name, [applied, removed]] of this.#labelers) {
      const [source, kind] = JSON.parse(name) as [number, number, string];
      const isOther = kind === labelerKinds.value && !named.has(name);
      const key = isOther ? nameOf(source, labelerKinds.others, '') : name;
      const [a, r] = expected.get(key) ?? [0, 0];
      expected.set(key, [a + applied, r + removed]);
    }
    const counted = stored
      .filter(({ applied, removed }) => applied + removed !== 0)
      .map(({ source, kind, key, applied, removed }) => ({ key: nameOf(source, kind, key), applied, removed }));
    this.#compare('labeler', expected, counted);
  }

  #compare(what: string, expected: Sums, stored: readonly { key: string; applied: number; removed: number }[]): void {
    const left = new Map(expected);
    for (const { key, applied, removed } of stored) {
      const [a, r] = left.get(key) ?? [0, 0];
      left.delete(key);
      if (a !== applied || r !== removed) {
        this.#report(
          `${what} ${key}: the counter has ${applied} applications and ${removed} removals, but the rows have ${a} and ${r}`,
        );
      }
    }
    for (const [key, [a, r]] of left)
      this.#report(`${what} ${key}: no counter exists, but the rows have ${a} applications and ${r} removals`);
  }
}

interface CheckedRecord extends RowRecord {
  readonly source: number;
  readonly target: number;
}

/** Compares the stored counts of hot accounts with the rows of these accounts. */
async function compareGroups(queries: Queries, day: number, report: Report): Promise<void> {
  const wrong = await queries.rows<{ subject: string }>(
    `SELECT DISTINCT subject FROM (
       SELECT subject, source, target, val, applied, removed FROM account_group WHERE day = $1
       UNION ALL
       SELECT account_key(subject), source, target, val, -count(*) FILTER (WHERE flags & ${removalFlag} = 0),
         -count(*) FILTER (WHERE flags & ${removalFlag} <> 0)
       FROM ${partitionOf(day)} WHERE account_key(subject) IN (SELECT subject FROM account_group WHERE day = $1)
       GROUP BY 1, source, target, val
     ) g GROUP BY subject, source, target, val HAVING sum(applied) <> 0 OR sum(removed) <> 0 LIMIT ${maxProblems}`,
    [day],
  );
  for (const { subject } of wrong) report(`the counts of ${subject} do not match its rows`);
}

function nameOf(source: number, kind: number, key: string): string {
  return JSON.stringify([source, kind, key]);
}

function increase(sums: Sums, key: string, removed: boolean): void {
  const [a, r] = sums.get(key) ?? [0, 0];
  sums.set(key, removed ? [a, r + 1] : [a + 1, r]);
}
