import { hash } from 'node:crypto';
import { signatureVerdicts } from '../../../contract/vocabulary.ts';
import type {
  CopiedRow,
  CopyTarget,
  DayCounts,
  DayProgress,
  LabelerDay,
  SourceLook,
  StoreContent,
} from '../../copy/parts.ts';
import { StoreError } from '../../errors.ts';
import { dayStart, hour, minute } from '../../time.ts';
import type { PostgresPlace } from '../base/place.ts';
import { encodeRow } from '../base/row.ts';
import { type Limits, longLimits, type Queries, Session } from '../base/session.ts';
import { binaryRows, type Scalar } from '../base/value.ts';
import { labelerKinds, NamedValues } from '../count/counters.ts';
import { copyTable, isUnfinishedCopy, migrate, partitionOf, storeVersion } from '../schema/migrate.ts';
import { migrations } from '../schema/migrations.ts';
import { putRoster } from '../state/state.ts';
import { countLabelers, insertRows } from '../write/commit.ts';
import { SourceNumbers } from '../write/source-numbers.ts';
import { bounds, readDayCounts, tableRows } from './source.ts';

/** Number of connections: one for rows to be stored, and one for rows that are read back. */
const connections = 2;

/**
 * Opens a schema as the target of a copy, and creates missing tables. The schema must not contain a store. The tables
 * of the copy prevent every other process from opening the schema as a store until the copy is complete. A second call
 * takes over the copy; every change by the first caller then throws `second_writer`. Throws `occupied` if the schema
 * contains a store or a copy of another store.
 */
export async function openPostgresTarget(place: PostgresPlace, generation: string, at: number): Promise<CopyTarget> {
  const session = new Session(place, 'primary', connections);
  try {
    // Check first: a migration must not change the tables of a store that has a writer.
    const version = await storeVersion(session);
    if (version > 0) await session.read((queries) => assertVacant(queries, session.name));
    // Before the migration, so that an interruption repeats this.
    if (version > 0 && version < migrations.length) await session.write(dropUnattached);
    await migrate(session, at);
    const token = await session.write((queries) => begin(queries, session.name, generation));
    return targetOver(session, token);
  } catch (error) {
    await session.close();
    throw error;
  }
}

async function begin(queries: Queries, name: string, generation: string): Promise<number> {
  // A writer that creates a store at the same time waits for this lock, and then finds the copy.
  await queries.run('LOCK TABLE store IN EXCLUSIVE MODE');
  await assertVacant(queries, name);
  if (!(await isUnfinishedCopy(queries))) {
    await queries.run(`CREATE TABLE ${copyTable} (generation text NOT NULL, token bigint NOT NULL)`);
    await queries.run(`CREATE TABLE ${copyDayTable} (day integer PRIMARY KEY, revision bigint NOT NULL,
      through bigint NOT NULL, rows bigint NOT NULL, digest text NOT NULL, verified boolean NOT NULL)`);
    await queries.run(`INSERT INTO ${copyTable}(generation, token) VALUES ($1, 0)`, [generation]);
  }
  const [row] = await queries.rows<{ generation: string; token: number }>(
    `UPDATE ${copyTable} SET token = token + 1 RETURNING generation, token`,
  );
  if (row?.generation !== generation) {
    throw new StoreError('occupied', `${name} contains an unfinished copy of another store; use another schema`);
  }
  return row.token;
}

/** Drops the days of an unfinished copy whose tables are not attached: a migration does not change these tables. */
async function dropUnattached(queries: Queries): Promise<void> {
  if (!(await isUnfinishedCopy(queries))) return;
  for (const { day } of await queries.rows<{ day: number }>(`SELECT day FROM ${copyDayTable}`)) {
    if (!(await isAttached(queries, day))) await dropDay(queries, day);
  }
}

async function assertVacant(queries: Queries, name: string): Promise<void> {
  if ((await queries.rows('SELECT 1 FROM store')).length === 0) return;
  throw new StoreError('occupied', `${name} already contains a store; use another schema in the URL`);
}

/** Limits of a change. It is not repeated once it has begun, because its work caches ids that a rollback removes. */
const changeLimits: Limits = { ...longLimits, repeats: 'unbegun' };

function targetOver(session: Session, token: number): CopyTarget {
  const sources = new SourceNumbers();

  /** Runs a change in a transaction that checks that no other process has taken over this copy. */
  async function change<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    try {
      return await session.write(async (queries) => {
        const held = await queries.rows(`SELECT 1 FROM ${copyTable} WHERE token = $1 FOR SHARE`, [token]);
        if (held.length > 0) return work(queries);
        throw new StoreError(
          'second_writer',
          `another process has taken over the copy to ${session.name}; this process stops`,
        );
      }, changeLimits);
    } catch (error) {
      // Discard the cached source ids, because ids that the failed transaction assigned do not exist in the database.
      sources.clear();
      throw error;
    }
  }

  return {
    progress: () =>
      session.read((queries) =>
        queries.rows<DayProgress>(
          `SELECT day, revision, through, rows, digest, verified AS "isVerified" FROM ${copyDayTable} ORDER BY day`,
        ),
      ),
    beginDay: (day, revision) => change((queries) => beginDay(queries, day, revision)),
    add: (rows, progress) =>
      change(async (queries) => {
        await sources.load(queries, new Set(rows.map(({ observation }) => observation.label.src)));
        const encoded = rows.map(({ at, observation, identity }: CopiedRow) =>
          encodeRow(at, sources.of(observation.label.src), observation, identity),
        );
        await Promise.all([insertRows(queries, progress.day, [binaryRows(encoded)]), putProgress(queries, progress)]);
      }),
    index: (day) => change((queries) => indexDay(queries, day)),
    rows: (day, after, each) =>
      // Not repeated, because the caller would receive the first rows twice.
      session.read((queries) => tableRows(queries, day, { after, isOrdered: false }, each), {
        limits: { ...longLimits, repeats: 'unbegun' },
      }),
    putCounts: (day, counts) =>
      change(async (queries) => {
        await sources.load(queries, sourcesOf(counts));
        await writeDayCounts(queries, day, counts, (did) => sources.of(did));
        if (counts.countedFrom !== null) await recountLabelers(queries, day);
      }),
    counts: (day) => session.read((queries) => readDayCounts(queries, day), { limits: longLimits }),
    verified: (progress) => change((queries) => putProgress(queries, progress)),
    dropDay: (day) => change((queries) => dropDay(queries, day)),
    complete: (look, content) => change((queries) => complete(queries, look, content)),
    close: () => session.close(),
  };
}

async function beginDay(queries: Queries, day: number, revision: number): Promise<void> {
  await dropDay(queries, day);
  // Create the table without indexes; they are built once, after most rows are stored.
  await queries.run(
    `CREATE TABLE ${partitionOf(day)} (LIKE observation INCLUDING ALL EXCLUDING INDEXES EXCLUDING CONSTRAINTS)`,
  );
  await putProgress(queries, { day, revision, through: -1, rows: 0, digest: '', isVerified: false });
}

/**
 * Stores all data that does not belong to a day and the row of the table `store`, then drops the tables of the copy.
 */
async function complete(queries: Queries, look: SourceLook, content: StoreContent): Promise<void> {
  const { epoch, floor, revision, heartbeat, last, through, days } = look;
  await queries.run('INSERT INTO day(day, revision) SELECT * FROM unnest($1::int[], $2::bigint[])', [
    days.map(({ day }) => day),
    days.map((one) => one.revision),
  ]);
  await writeContent(queries, content);
  await queries.run(
    `INSERT INTO store(generation, started_at, floor, revision, heartbeat, last_stamp, observed_through)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [epoch.generationId, epoch.startedAt, floor, revision, heartbeat, last, through],
  );
  await queries.run(`DROP TABLE ${copyTable}, ${copyDayTable}`);
}

async function putProgress(queries: Queries, progress: DayProgress): Promise<void> {
  const { day, revision, through, rows, digest, isVerified } = progress;
  await queries.run(
    `INSERT INTO ${copyDayTable}(day, revision, through, rows, digest, verified) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (day) DO UPDATE SET revision = excluded.revision, through = excluded.through, rows = excluded.rows,
     digest = excluded.digest, verified = excluded.verified`,
    [day, revision, through, rows, digest, isVerified],
  );
}

async function dropDay(queries: Queries, day: number): Promise<void> {
  await queries.run(`DROP TABLE IF EXISTS ${partitionOf(day)}`);
  await dropDayCounts(queries, day);
  await queries.run(`DELETE FROM ${copyDayTable} WHERE day = $1`, [day]);
}

/** Attaches the table of a day, which builds its indexes, and updates the planner statistics. */
async function indexDay(queries: Queries, day: number): Promise<void> {
  const table = partitionOf(day);
  if (!(await isAttached(queries, day))) {
    const bounds = `FROM (${dayStart(day)}) TO (${dayStart(day + 1)})`;
    await queries.run(`ALTER TABLE observation ATTACH PARTITION ${table} FOR VALUES ${bounds}`);
    await queries.run(`ANALYZE ${table}`);
  }
}

async function isAttached(queries: Queries, day: number): Promise<boolean> {
  const [found] = await queries.rows<{ attached: boolean }>(
    'SELECT relispartition AS attached FROM pg_class WHERE oid = $1::regclass',
    [partitionOf(day)],
  );
  return found?.attached === true;
}

function sourcesOf({ minutes, hours, refusals, labelers }: DayCounts): Set<string> {
  const dids = [...minutes, ...hours].map(([, did]) => did);
  return new Set([...dids, ...refusals.map(([, did]) => did), ...labelers.map(({ labeler }) => labeler)]);
}

/**
 * Recomputes the labeler counters of a day from all its rows. In an embedded store, the labeler counters may omit the
 * first rows of a day, because an earlier version accepted them. A database store cannot record such an omission.
 */
async function recountLabelers(queries: Queries, day: number): Promise<void> {
  await queries.run('DELETE FROM labeler_count WHERE day = $1', [day]);
  const sources = new SourceNumbers();
  const named = new NamedValues(day);
  await tableRows(queries, day, { after: -1, isOrdered: true }, async (rows: readonly CopiedRow[]) => {
    await sources.load(queries, new Set(rows.map(({ observation }) => observation.label.src)));
    const encoded = rows.map(({ at, observation, identity }) =>
      encodeRow(at, sources.of(observation.label.src), observation, identity),
    );
    await named.load(queries, new Set(encoded.map(({ source }) => source)));
    await countLabelers(queries, { day, rows: encoded, isNamed: (source, value) => named.isNamed(source, value) });
  });
}

/** Writes all data that does not belong to a day into empty tables, in the caller's transaction. */
async function writeContent(queries: Queries, content: StoreContent): Promise<void> {
  const { positions, refusedRows, gaps, roster, keys, definitions, notes, dailyBytes, directories, purges } = content;
  await insertAll(
    queries,
    'position',
    ['key text', 'source text', 'endpoint text', 'value text', 'accepted_at bigint'],
    positions.map(({ source, endpoint, value, acceptedAt }) => [
      ...[hash('sha256', JSON.stringify([source, endpoint]), 'base64'), source, endpoint, value, acceptedAt],
    ]),
  );
  await insertAll(
    queries,
    'refused_rows',
    ['source text', 'bucket smallint', 'rows text'],
    refusedRows.map(({ source, bucket, rows }) => [source, bucket, rows]),
  );
  await insertAll(
    queries,
    'gap',
    ['source text', 'started bigint', 'ended bigint', 'reason text'],
    gaps.map(({ source, start, end, reason }) => [source ?? '', start, end, reason]),
  );
  await putRoster(queries, roster);
  await insertAll(
    queries,
    'label_key',
    ['did text', 'label_key text', 'first_seen bigint', 'last_seen bigint'],
    keys.map(({ did, key, firstSeen, lastSeen }) => [did, key, firstSeen, lastSeen]),
  );
  // Insert definitions one by one: they are large, and their ids must follow their order.
  for (const { did, seenAt, content: text } of definitions) {
    await queries.run('INSERT INTO definitions(did, seen_at, content) VALUES ($1, $2, $3)', [did, seenAt, text]);
  }
  await insertAll(queries, 'note', ['name text', 'content text'], notes);
  await insertAll(queries, 'daily_bytes', ['source text', 'day int', 'bytes bigint'], dailyBytes);
  await insertAll(
    queries,
    'directory_position',
    ['host text', 'seq bigint'],
    directories.map(({ host, seq }) => [host, seq]),
  );
  await insertAll(
    queries,
    'purge',
    ['source text', 'requested_at bigint', 'completed_at bigint', 'removed bigint', 'next_day int'],
    purges.map((one) => [one.source, one.requestedAt, one.completedAt, one.removed, one.nextDay]),
  );
}

/** Removes the counters of a day. */
async function dropDayCounts(queries: Queries, day: number): Promise<void> {
  for (const [table, column, length] of [
    ['counter_minute', 'minute', minute],
    ['counter_hour', 'hour', hour],
    ['refusal', 'hour', hour],
  ] as const) {
    await queries.run(`DELETE FROM ${table} WHERE ${column} >= $1 AND ${column} < $2`, bounds(day, length));
  }
  await queries.run('DELETE FROM labeler_count WHERE day = $1', [day]);
}

/** Replaces the counters of a day. `numberOf` returns the numeric id of a source. */
async function writeDayCounts(
  queries: Queries,
  day: number,
  counts: DayCounts,
  numberOf: (did: string) => number,
): Promise<void> {
  await dropDayCounts(queries, day);
  for (const bucket of ['minute', 'hour'] as const) {
    const counted = bucket === 'minute' ? counts.minutes : counts.hours;
    const rows = counted.filter(([, , applied, removed]) => applied + removed > 0);
    const columns = [`${bucket} int`, 'source int', 'applied int', 'removed int'];
    await insertAll(
      queries,
      `counter_${bucket}`,
      columns,
      rows.map(([at, did, applied, removed]) => [at, numberOf(did), applied, removed]),
    );
  }
  await insertAll(
    queries,
    'refusal',
    ['hour int', 'source int', 'reason text', 'n bigint'],
    counts.refusals.map(([at, did, reason, rows]) => [at, numberOf(did), reason, rows]),
  );
  await insertAll(
    queries,
    'labeler_count',
    ['day int', 'source int', 'kind smallint', 'key text', 'applied bigint', 'removed bigint'],
    counts.labelers.flatMap((one) => labelerRows(one).map((row) => [day, numberOf(one.labeler), ...row])),
  );
}

/** Returns the counters of a labeler as rows of kind, key, applications and removals. */
function labelerRows({ verdicts, values, others, delays }: LabelerDay): Scalar[][] {
  const [applied, removed] = others;
  // Skip values with zero counts if `others` is zero. Otherwise the labeler may have reached its maximum number of
  // named values: keep the entries, so that no other value takes their place.
  const kept = values.filter(([, a, r]) => a + r > 0 || applied + removed > 0);
  const rows: (readonly [kind: number, key: string, applied: number, removed: number])[] = [
    ...signatureVerdicts.map((verdict) => [labelerKinds.verdict, verdict, verdicts[verdict] ?? 0, 0] as const),
    ...kept.map(([value, a, r]) => [labelerKinds.value, value, a, r] as const),
    [labelerKinds.others, '', applied, removed],
    ...delays.map(([range, n]) => [labelerKinds.delay, String(range), n, 0] as const),
  ];
  return rows.filter(([kind, , a, r]) => kind === labelerKinds.value || a + r > 0).map((row) => [...row]);
}

/** Maximum number of rows per INSERT. */
const rowsAtOnce = 20_000;

/** Inserts rows into a table. Each column is given as its name followed by its type. */
async function insertAll(
  queries: Queries,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly Scalar[])[],
): Promise<void> {
  const split = columns.map((column) => column.split(' '));
  const names = split.map(([name]) => name).join(', ');
  const types = split.map(([, type], i) => `$${i + 1}::${type}[]`).join(', ');
  for (let from = 0; from < rows.length; from += rowsAtOnce) {
    const some = rows.slice(from, from + rowsAtOnce);
    await queries.run(
      `INSERT INTO ${table}(${names}) SELECT * FROM unnest(${types})`,
      columns.map((_, i) => some.map((row) => row[i] ?? null)),
    );
  }
}

/** Table with the copy progress of each day. */
const copyDayTable = 'store_copy_day';
