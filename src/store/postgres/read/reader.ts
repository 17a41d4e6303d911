import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import { type SignatureVerdict, signatureVerdicts } from '../../label.ts';
import {
  delayBounds,
  type LabelerCounters,
  type LabelersCounters,
  maxCountedValues,
  type ValueCount,
} from '../../labeler-counters.ts';
import type { Frontier, Position, StoreReader } from '../../port.ts';
import { dayOf, dayStart, type Interval, micros } from '../../time.ts';
import type { PostgresPlace } from '../base/place.ts';
import { subjectDid } from '../base/row.ts';
import { type Queries, Session } from '../base/session.ts';
import { labelerKinds } from '../count/labeler-kinds.ts';
import { assertReadable } from '../schema/migrate.ts';
import { coverageIn, gapsIn } from '../state/gaps.ts';
import { readNote } from '../state/instrument.ts';
import { readDefinitions, readKeys } from '../state/labelers.ts';
import { readPurges } from '../state/purges.ts';
import { readRoster } from '../state/roster.ts';
import { accountIntervals, readAccount } from './account-read.ts';
import { tallyAccount } from './account-tally.ts';
import { countsByLabeler, countsOverTime, refusals } from './counts.ts';
import { readRows, readState, throughIn } from './look.ts';
import { verifyStore } from './verify.ts';

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
    readAccount: (asked) => query(async () => readAccount(session, asked)),
    accountIntervals: (asked) => query(() => accountIntervals(session, asked)),
    tallyAccount: (asked) => query(async () => tallyAccount(session, asked)),
    busyAccounts: (limit) => query(() => busyAccounts(session, limit)),
    countsByLabeler: (interval) => query(() => countsByLabeler(session, interval)),
    countsOverTime: (asked) => query(() => countsOverTime(session, asked)),
    labelersActive: (interval) => query(async () => (await countsByLabeler(session, interval)).length),
    refusals: (interval) => query(() => refusals(session, interval)),
    labelerCounters: (interval) => query(() => labelerCounters(session, interval)),
    verify: () => verifyStore(session),
    close: () => {
      closing ??= release();
      return closing;
    },
  };
}

type Query = <T>(work: () => Promise<T>) => Promise<T>;

/** Creates the methods that read small tables. */
function stateReads(query: Query, session: Session) {
  const read = <T>(work: (queries: Queries) => Promise<T>): Promise<T> => query(() => session.read(work));
  return {
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
    gaps: ({ source, ...interval }) =>
      query(() => readState(session, interval, (queries) => gapsIn(queries, interval, source))),
    coverage: ({ labelers, ...interval }) =>
      query(() => readState(session, interval, (queries) => coverageIn(queries, interval, labelers))),
    purges: () => read(readPurges),
    // There is nothing to report: only earlier versions of the embedded store accepted rows about spaces.
    spaceRemoval: () => query(() => Promise.resolve(null)),
    roster: () => read(readRoster),
    keys: (did) => read((queries) => readKeys(queries, did)),
    definitions: (did) => read((queries) => readDefinitions(queries, did)),
    note: (name) => read((queries) => readNote(queries, name)),
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
  const frontier = { generationId, floor, end, observedThrough: observed, revision };
  return through === null ? frontier : { ...frontier, replicatedThrough: through };
}

/** Maximum number of groups of an account that is used for warm-up. */
const fewGroups = 1_000;

async function busyAccounts(session: Session, limit: number): Promise<string[]> {
  const rows = await session.read((queries) =>
    queries.rows<{ subject: string }>(
      `SELECT subject FROM account_group WHERE day = (SELECT max(day) FROM day WHERE sealed) GROUP BY subject
       HAVING count(*) <= ${fewGroups} ORDER BY subject DESC LIMIT $1`,
      [limit],
    ),
  );
  return rows.map(({ subject }) => subjectDid(subject)).filter((did) => did.startsWith('did:'));
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
