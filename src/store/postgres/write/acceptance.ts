import type { Micros } from '../../../contract/timestamp.ts';
import { assertBounds, pagesAt } from '../../common/batch.ts';
import { IdentitySet, type KnownIdentities } from '../../common/identity-set.ts';
import { StoreError } from '../../errors.ts';
import { type AppendResult, type Batch, duplicateHorizon } from '../../port.ts';
import { dayName, dayOf, dayStart, micros } from '../../time.ts';
import type { Lease } from '../base/lease.ts';
import type { NewRow } from '../base/row.ts';
import { longLimits, type Queries, type Session } from '../base/session.ts';
import { codeOf, stateOf } from '../base/sqlstates.ts';
import { HotAccounts, NamedValues } from '../count/counters.ts';
import { readIdentities } from '../read/queries.ts';
import { partitionOf } from '../schema/migrate.ts';
import { addCounts, insertRows, type Prepared, putRefusedRows, rowsOf, WaitingBatches } from './commit.ts';
import { SourceNumbers } from './source-numbers.ts';
import type { Reached } from './unanswered.ts';

/** Cached data of the day to which rows are added. */
interface OpenDay {
  readonly day: number;
  readonly hot: HotAccounts;
  readonly named: NamedValues;
}

/**
 * Accepts batches: detects duplicates, assigns stamps, and commits batches to the day of their stamps. While the server
 * commits a batch, the next ones are prepared. The server then gets them at once, in one commit, so that neither the
 * server nor this process waits for the other.
 */
export class Acceptance {
  readonly #session: Session;
  readonly #lease: Lease;
  readonly #sources = new SourceNumbers();
  readonly #known: IdentitySet;
  /** Last stamp whose identity is in memory, or null if no identity was read. */
  #knownThrough: number | null;
  #last: Micros | null = null;
  readonly #waiting: WaitingBatches;
  /** True if a batch was waiting when the last commit ended. */
  #isBusy = false;
  #through: Micros | null = null;
  #newestDay: number | null = null;
  #open: OpenDay | null = null;
  /** True if the cached state may differ from the database: before the first batch and after a failed commit. */
  #isStale = true;
  #isCommitting = false;
  #queue: Promise<unknown> = Promise.resolve();

  /** `known` contains the identities that a standby or the last writer has already read. */
  constructor(session: Session, lease: Lease, known: KnownIdentities | null = null) {
    this.#session = session;
    this.#lease = lease;
    this.#known = known?.identities ?? new IdentitySet(duplicateHorizon);
    this.#knownThrough = known && known.through >= 0 ? known.through : null;
    this.#waiting = new WaitingBatches(this.#known, this.#sources, (day) => this.#assertOpen(day));
  }

  /** Last assigned stamp, or null before the first stamp. */
  get last(): Micros | null {
    return this.#last;
  }

  /** Identities of the rows of the last two days; null if the last commit failed, so that they may be incomplete. */
  get known(): KnownIdentities | null {
    if (this.#isStale) return null;
    return { identities: this.#known, through: this.#knownThrough ?? -1 };
  }

  /** Reads the identities and the last stamp, so that the first batch does not have to wait. */
  load(): Promise<void> {
    return this.#inOrder(() => this.#reload());
  }

  /** Appends a batch after those of earlier calls. Batches that wait for a commit share the next one. */
  async append(batch: Batch): Promise<AppendResult> {
    assertBounds(batch);
    return new Promise<AppendResult>((resolve, reject) => {
      const waiting = this.#waiting.add(batch, resolve, reject);
      // Encode the rows while the server works. Without a commit in progress, the turn of the batch does so.
      if (this.#isCommitting) this.#waiting.prepare();
      void this.#inOrder(async () => {
        if (!waiting.isSettled) await this.#commitWaiting();
      });
    });
  }

  /**
   * Stores a mark after the batches in progress. Its time is `at`, or that of the oldest waiting batch if that is
   * earlier. Rows of later batches get stamps at or after the mark. A heartbeat cannot serve as a mark, because it states
   * only that all data before the heartbeat is stored or recorded as a gap.
   */
  mark(at: Micros): Promise<void> {
    // Set the mark in memory first: batches may be prepared before the database stores the mark, and the database may
    // store it even if its reply is lost.
    const time = this.#waiting.mark(at);
    return this.#inOrder(async () => {
      await this.#session.write(async (queries) => {
        await this.#lease.check(queries);
        await queries.run('UPDATE store SET mark = greatest(mark, $1)', [time]);
      });
    });
  }

  /** Throws `commits_lost` if the database lacks a batch that this writer has committed. */
  async assertKept(queries: Queries): Promise<void> {
    // Copy the cached values before the query, because its result may lack a batch that is committed during the query.
    const [last, through] = [this.#last, this.#through];
    const sql = 'SELECT last_stamp AS last, observed_through AS through FROM store';
    const [row] = await queries.rows<Pick<Ends, 'last' | 'through'>>(sql);
    if (isBefore(row?.last ?? null, last) || isBefore(row?.through ?? null, through)) commitsLost(this.#session.name);
  }

  /** Removes the identities of removed rows from memory, so that the same labels can be accepted again. */
  forget(identities: readonly Buffer[]): void {
    for (const identity of identities) this.#known.delete(identity);
  }

  /** Resolves once all batches passed to `append` are stored or rejected. */
  async ended(): Promise<void> {
    await this.#queue;
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => undefined);
    return done;
  }

  /**
   * Commits the first waiting batches together, as many as fit a commit. Settles at least one of them. A busy machine may
   * leave a transaction idle until the server rolls it back: the commit is then repeated once, so that acceptance need not
   * pause. It is also repeated once if the server stored an earlier commit only after its connection was lost.
   */
  async #commitWaiting(isRepeated = false): Promise<void> {
    let group: readonly Prepared[];
    try {
      if (this.#isStale) await this.#reload();
      group = this.#waiting.take();
    } catch (error) {
      this.#waiting.reject(1, error);
      return;
    }
    this.#isCommitting = true;
    try {
      await this.#commit(group);
    } catch (error) {
      // No batch may be prepared before the state is read again.
      this.#isCommitting = false;
      // If the reply to the commit is lost, the outcome of the commit is unknown, and the next batch must read the
      // state again.
      this.#isStale = true;
      // The last stamp may also differ because an earlier commit without a reply is stored only now. The state, which
      // is read again, shows whether commits are lost. This commit is not remembered then, because it changed nothing.
      const mayBeLate = error instanceof StoreError && error.code === 'commits_lost' && this.#waiting.hasUnanswered;
      this.#waiting.discard(group, this.#reached, mayBeLate ? this.#reached : this.#reachedBy(group));
      if (!isRepeated && (mayBeLate || stateOf(error)?.repeatsChange === true)) await this.#commitWaiting(true);
      else this.#waiting.reject(group.length, error);
      return;
    }
    this.#isCommitting = false;
    this.#isBusy = this.#waiting.resolve(group);
  }

  /** Commits prepared batches, and then updates the state in memory, so that a failed commit does not change it. */
  async #commit(batches: readonly Prepared[]): Promise<void> {
    const at = micros(Math.max(...batches.map(({ batch }) => batch.at)));
    const open = await this.#openDay(dayOf(batches[0]?.first ?? at));
    const to = this.#reachedBy(batches);
    const first = advance(this.#lease.token, to, this.#reached);
    const group: Group = { batches, open, first };
    const isKnown = batches.every(({ encoded }) => encoded !== null && open.named.knows(encoded.rows));
    const isAtOnce = this.#isBusy && isKnown && open.hot.notice(rowsOf(batches)).length === 0;
    if (isAtOnce) await this.#commitAtOnce(group);
    else open.hot.keep(await this.#commitInTurns(group));
    if (to.last !== this.#last) this.#last = this.#knownThrough = to.last;
    this.#through = to.through;
  }

  /** Ends of the store, as far as this writer knows them. */
  get #reached(): Reached {
    return { last: this.#last, through: this.#through };
  }

  /** Returns the ends of the store after the commit of prepared batches. */
  #reachedBy(batches: readonly Prepared[]): Reached {
    const pages = batches.flatMap(({ batch }) => pagesAt(batch) ?? []);
    return {
      last: batches.findLast((one) => one.last !== null)?.last ?? this.#last,
      through: pages.length === 0 ? this.#through : micros(Math.max(...pages, this.#through ?? 0)),
    };
  }

  /**
   * Commits batches in one round trip. Only while batches wait, because a commit in turns, unlike this one, survives the
   * loss of an idle connection.
   */
  async #commitAtOnce({ batches, open, first }: Group): Promise<void> {
    // A division by zero ends the transaction if the change changed no row.
    const checked = `WITH advanced AS (${first} RETURNING 1) SELECT 1 / count(*) FROM advanced`;
    try {
      await this.#session.writeAtOnce(checked, (queries) => Promise.all(this.#changes(queries, batches, open)));
    } catch (error) {
      if (!(error instanceof StoreError) || codeOf(error.cause) !== divisionByZero) throw error;
      await this.#session.write((queries) => this.#lease.check(queries));
      commitsLost(this.#session.name);
    }
  }

  /** Commits batches in two round trips. Returns the accounts that have become hot. */
  #commitInTurns({ batches, open, first }: Group): Promise<readonly string[]> {
    return this.#session.writeJointly({
      first,
      send: async (queries, changed) => {
        if (changed === 0) {
          await this.#lease.check(queries);
          commitsLost(this.#session.name);
        }
        await this.#sources.load(queries, new Set(batches.flatMap(({ dids }) => [...dids])));
        for (const prepared of batches) this.#waiting.encode(prepared);
        const rows = rowsOf(batches);
        await open.named.load(queries, new Set(rows.map(({ source }) => source)));
        const statements = this.#changes(queries, batches, open);
        // The commit reports these errors.
        for (const statement of statements) statement.catch(() => undefined);
        const result = await open.hot.countHot(queries, open.hot.notice(rows)).catch(async (error: unknown) => {
          // After a failed statement, this query fails with 25P02: report the error of that statement instead.
          await Promise.all(statements);
          throw error;
        });
        return { statements, result };
      },
    });
  }

  /** Writes all changes of batches except their hot accounts. */
  #changes(queries: Queries, batches: readonly Prepared[], open: OpenDay): Promise<unknown>[] {
    const rows = rowsOf(batches);
    const data = batches.flatMap(({ encoded }) =>
      encoded === null || encoded.rows.length === 0 ? [] : [encoded.data],
    );
    const counts = (one: Prepared, counted: readonly NewRow[]): Promise<void> =>
      addCounts(queries, {
        ...{ day: open.day, stamp: one.first, rows: counted, refusals: one.refusals },
        ...{ positions: one.batch.positions, at: one.batch.at },
        isNamed: (source, value) => open.named.isNamed(source, value),
        isHot: (subject) => open.hot.isKept(subject),
        numberOf: (did) => this.#sources.of(did),
      });
    return [
      ...(data.length === 0 ? [] : [insertRows(queries, open.day, data)]),
      // The rows of all batches are counted together. Positions and refused labels have the time of their own batch.
      ...batches.map((one, i) => counts(one, i === 0 ? rows : [])),
      putRefusedRows(
        queries,
        batches.flatMap(({ batch }) => batch.refusedRows ?? []),
      ),
    ];
  }

  #assertOpen(day: number): void {
    if (this.#newestDay !== null && day < this.#newestDay) {
      throw new StoreError(
        'clock_behind',
        `the clock is at ${dayName(day)}, a day that no longer accepts rows: check the clock`,
      );
    }
  }

  async #openDay(day: number): Promise<OpenDay> {
    if (this.#open?.day === day) return this.#open;
    const hot = await this.#session.write(async (queries) => {
      await this.#lease.check(queries);
      if (day !== this.#newestDay) {
        // List the day and create its table in one commit, before the first row of the day is committed.
        await queries.run('INSERT INTO day(day) VALUES ($1)', [day]);
        await addPartition(queries, day);
      }
      return HotAccounts.load(queries, day);
    });
    this.#newestDay = day;
    this.#open = { day, hot, named: new NamedValues(day) };
    return this.#open;
  }

  /**
   * Reads the state of the database into memory. After a failed commit, reads only the rows that the commit may have
   * added.
   */
  async #reload(): Promise<void> {
    this.#sources.clear();
    this.#open = null;
    await this.#session.read(
      async (queries) => {
        const [row] = await queries.rows<Ends>(
          `SELECT last_stamp AS last, observed_through AS through, mark, (SELECT max(day) FROM day) AS day
           FROM store`,
        );
        const last = row?.last ?? null;
        const through = row?.through ?? null;
        if (isBefore(last, this.#knownThrough) || isBefore(through, this.#through)) commitsLost(this.#session.name);
        const since = this.#knownThrough === null ? (last ?? 0) - duplicateHorizon : this.#knownThrough + 1;
        if (last !== null) await readIdentities(queries, since, (at, identity) => this.#known.add(identity, at));
        this.#knownThrough = last;
        this.#last = last;
        this.#through = through;
        this.#waiting.restart({ last, through }, row?.mark ?? null);
        this.#newestDay = row?.day ?? null;
      },
      // Not repeated, because another server may lack rows whose identities this one has already returned.
      { locked: 'observation', limits: { ...longLimits, repeats: 'unbegun' }, isUrgent: true },
    );
    this.#isStale = false;
  }
}

interface Ends extends Reached {
  readonly mark: Micros | null;
  readonly day: number | null;
}

/**
 * Returns a change that advances the last stamp and the time of the last page from the values that this writer knows. It
 * changes no row if another process is the writer or if a commit of this process is missing.
 */
function advance(token: number, to: Reached, known: Reached): string {
  return `UPDATE store SET last_stamp = ${integer(to.last)}, observed_through = ${integer(to.through)}
  WHERE token = ${integer(token)} AND last_stamp IS NOT DISTINCT FROM ${integer(known.last)}
  AND observed_through IS NOT DISTINCT FROM ${integer(known.through)}`;
}

/** Returns a number as SQL. */
function integer(value: number | null): string {
  return value === null ? 'NULL::bigint' : BigInt(value).toString();
}

function isBefore(found: number | null, known: number | null): boolean {
  return known !== null && (found === null || found < known);
}

/** Throws `commits_lost`: the memory contains identities and positions of rows that the database has lost. */
function commitsLost(name: string): never {
  throw new StoreError(
    'commits_lost',
    `${name} lost commits that it had confirmed, for example in a failover; restart this process, so that the labels are read again`,
  );
}

/** Batches that share a commit. */
interface Group {
  readonly batches: readonly Prepared[];
  readonly open: OpenDay;
  /** Change that advances the last stamp; see `advance`. */
  readonly first: string;
}

/** SQLSTATE of a division by zero. */
const divisionByZero = '22012';

/**
 * Adds the table of a day. Creates the table first and then attaches it, because attaching does not wait for readers,
 * whereas creating a table as a partition does.
 */
async function addPartition(queries: Queries, day: number): Promise<void> {
  const name = partitionOf(day);
  await queries.run(`CREATE TABLE ${name} (LIKE observation INCLUDING ALL)`);
  const bounds = `FROM (${dayStart(day)}) TO (${dayStart(day + 1)})`;
  await queries.run(`ALTER TABLE observation ATTACH PARTITION ${name} FOR VALUES ${bounds}`);
}
