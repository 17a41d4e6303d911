import type { Micros } from '../../../contract/timestamp.ts';
import { assertBounds, firstStamp, refusalsOf, sortOut } from '../../common/batch.ts';
import { IdentitySet, type KnownIdentities } from '../../common/identity-set.ts';
import { StoreError } from '../../errors.ts';
import { type AppendResult, type Batch, duplicateHorizon } from '../../port.ts';
import { dayName, dayOf, micros } from '../../time.ts';
import { binaryRows } from '../base/copy-in.ts';
import type { Lease } from '../base/lease.ts';
import { encodeRow, type NewRow } from '../base/row.ts';
import { longLimits, type Queries, type Session } from '../base/session.ts';
import { HotAccounts } from '../count/hot-accounts.ts';
import { NamedValues } from '../count/named-values.ts';
import { readIdentities } from '../read/identities.ts';
import { addPartition } from '../schema/partition.ts';
import { addCounts, insertRows, putRefusedRows } from './commit.ts';
import { SourceNumbers } from './source-numbers.ts';

/** Cached data of the day to which rows are added. */
interface OpenDay {
  readonly day: number;
  readonly hot: HotAccounts;
  readonly named: NamedValues;
}

/** Accepts batches: detects duplicates, assigns stamps, and commits each batch to the day of its stamps. */
export class Acceptance {
  readonly #session: Session;
  readonly #lease: Lease;
  readonly #sources = new SourceNumbers();
  readonly #known: IdentitySet;
  /** Last stamp whose identity is in memory, or null if no identity was read. */
  #knownThrough: number | null;
  #last: Micros | null = null;
  #through: Micros | null = null;
  /** Newest mark: every row with an earlier stamp is already stored. */
  #mark: Micros | null = null;
  #newestDay: number | null = null;
  #open: OpenDay | null = null;
  /** True if the cached state may differ from the database: before the first batch and after a failed commit. */
  #isStale = true;
  #queue: Promise<unknown> = Promise.resolve();

  /** `known` contains the identities that a standby has already read. */
  constructor(session: Session, lease: Lease, known?: KnownIdentities) {
    this.#session = session;
    this.#lease = lease;
    this.#known = known?.identities ?? new IdentitySet(duplicateHorizon);
    this.#knownThrough = known && known.through >= 0 ? known.through : null;
  }

  /** Last assigned stamp, or null before the first stamp. */
  get last(): Micros | null {
    return this.#last;
  }

  /** Reads the identities and the last stamp, so that the first batch does not have to wait. */
  load(): Promise<void> {
    return this.#inOrder(() => this.#reload());
  }

  /** Appends batches one by one, in the order of the calls. */
  append(batch: Batch): Promise<AppendResult> {
    return this.#inOrder(() => this.#append(batch));
  }

  /**
   * Stores a mark after the batches in progress. Rows of later batches get stamps at or after the mark. A heartbeat
   * cannot serve as a mark, because it states only that all data before the heartbeat is stored or recorded as a gap.
   */
  mark(at: Micros): Promise<void> {
    return this.#inOrder(async () => {
      // Set the mark in memory first: the database may store the mark even if its reply is lost.
      this.#mark = micros(Math.max(this.#mark ?? at, at));
      await this.#session.write(async (queries) => {
        await this.#lease.check(queries);
        await queries.run('UPDATE store SET mark = greatest(mark, $1)', [at]);
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

  async #append(batch: Batch): Promise<AppendResult> {
    assertBounds(batch);
    if (this.#isStale) await this.#reload();
    const { fresh, duplicates } = sortOut(batch, this.#known);
    const first = firstStamp(batch.at, this.#end, fresh.length);
    const last = fresh.length === 0 ? null : micros(first + fresh.length - 1);
    this.#assertOpen(dayOf(first));
    // If the reply to the commit is lost, the outcome of the commit is unknown, and the next batch must read the
    // state again.
    this.#isStale = true;
    const open = await this.#openDay(dayOf(first));
    const hot = await this.#commit(batch, { fresh, duplicates, first, last, open });
    this.#isStale = false;
    // Update the state in memory only after the commit, so that a failed batch does not change this state.
    open.hot.keep(hot);
    for (const [i, { identity }] of fresh.entries()) this.#known.add(identity, first + i);
    if (last !== null) this.#last = this.#knownThrough = last;
    this.#through = micros(Math.max(this.#through ?? batch.at, batch.at));
    return { accepted: fresh.length, duplicates, first: last === null ? null : first, last };
  }

  #commit(batch: Batch, accepted: Accepted): Promise<readonly string[]> {
    const { fresh, duplicates, first, last, open } = accepted;
    const refusals = refusalsOf(batch, duplicates);
    const dids = new Set([...fresh.map(({ observation }) => observation.label.src), ...refusedSources(refusals)]);
    let encoded: EncodedRows | null = null;
    const encode = (): EncodedRows => {
      encoded ??= encodeRows(accepted, this.#sources);
      return encoded;
    };
    return this.#session.writeJointly({
      first: advance(this.#lease.token, last, batch.at, this.#last, this.#through),
      meanwhile: () => {
        if (this.#sources.knows(dids)) encode();
      },
      send: async (queries, changed) => {
        if (changed === 0) {
          await this.#lease.check(queries);
          commitsLost(this.#session.name);
        }
        await this.#sources.load(queries, dids);
        const { rows, data } = encode();
        await open.named.load(queries, new Set(rows.map(({ source }) => source)));
        const statements = [
          ...(rows.length === 0 ? [] : [insertRows(queries, open.day, data)]),
          addCounts(queries, {
            ...{ day: open.day, stamp: first, rows, refusals, positions: batch.positions, at: batch.at },
            isNamed: (source, value) => open.named.isNamed(source, value),
            isHot: (subject) => open.hot.isKept(subject),
            numberOf: (did) => this.#sources.of(did),
          }),
          putRefusedRows(queries, batch.refusedRows ?? []),
        ];
        // The commit reports these errors. Until then, a failed query of hot accounts may end the transaction.
        for (const statement of statements) statement.catch(() => undefined);
        return { statements, result: await open.hot.countHot(queries, open.hot.notice(rows)) };
      },
    });
  }

  /**
   * Returns the stamp that the next stamp must exceed: the last assigned stamp or the stamp before the newest mark,
   * whichever is later. Returns null if neither exists.
   */
  get #end(): Micros | null {
    if (this.#mark === null) return this.#last;
    return micros(Math.max(this.#last ?? 0, this.#mark - 1));
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
        this.#mark ??= row?.mark ?? null;
        this.#newestDay = row?.day ?? null;
      },
      // Not repeated, because another server may lack rows whose identities this one has already returned.
      { locked: 'observation', limits: { ...longLimits, repeats: 'unbegun' } },
    );
    this.#isStale = false;
  }
}

interface Ends {
  readonly last: Micros | null;
  readonly through: Micros | null;
  readonly mark: Micros | null;
  readonly day: number | null;
}

/**
 * Returns a change that advances the last stamp and the time of the last batch from the values that this writer knows.
 * It changes no row if another process is the writer or if a commit of this process is missing.
 */
function advance(token: number, last: Micros | null, at: Micros, ...known: readonly (Micros | null)[]): string {
  const [knownLast, knownThrough] = known.map(integer);
  return `UPDATE store SET last_stamp = coalesce(${integer(last)}, last_stamp),
  observed_through = greatest(observed_through, ${integer(at)})
  WHERE token = ${integer(token)} AND last_stamp IS NOT DISTINCT FROM ${knownLast}
  AND observed_through IS NOT DISTINCT FROM ${knownThrough}`;
}

/** Returns a number as SQL. */
function integer(value: number | null): string {
  return value === null ? 'NULL::bigint' : BigInt(value).toString();
}

interface EncodedRows {
  readonly rows: readonly NewRow[];
  readonly data: Buffer;
}

function encodeRows({ fresh, first }: Accepted, sources: SourceNumbers): EncodedRows {
  const rows = fresh.map(({ observation, identity }, i) =>
    encodeRow(first + i, sources.of(observation.label.src), observation, identity),
  );
  return { rows, data: binaryRows(rows) };
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

interface Accepted extends ReturnType<typeof sortOut> {
  readonly first: Micros;
  readonly last: Micros | null;
  readonly open: OpenDay;
}

function refusedSources(refusals: ReturnType<typeof refusalsOf>): string[] {
  return [...refusals.values()].map(({ source }) => source);
}
