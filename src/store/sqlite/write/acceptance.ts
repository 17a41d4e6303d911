import type { Micros } from '../../../contract/timestamp.ts';
import { assertBounds, firstStamp, refusalsOf, sortOut } from '../../common/batch.ts';
import { IdentitySet, type KnownIdentities } from '../../common/identity-set.ts';
import { StoreError } from '../../errors.ts';
import type { RefusedRows } from '../../label.ts';
import { type AppendResult, type Batch, duplicateHorizon } from '../../port.ts';
import { dayName, dayOf, dayStart, micros } from '../../time.ts';
import { syncFolder } from '../base/connection.ts';
import { type DayForm, dayPath, type StorePaths } from '../base/files.ts';
import { DayReader } from '../day/day-reader.ts';
import { DayWriter } from '../day/day-writer.ts';
import type { StateChanges } from '../state/state.ts';

type WriterParameters = ConstructorParameters<typeof DayWriter>;
type WriterOptions = WriterParameters[4];

/** State and options for accepting batches. */
interface AcceptanceOptions extends WriterOptions {
  readonly paths: StorePaths;
  readonly state: StateChanges;
  /** Identities that a standby has already read; absent if there is no standby. */
  readonly known?: KnownIdentities | undefined;
}

/** Accepts batches: detects duplicates, assigns stamps, and commits each batch to the day of its stamps. */
export class Acceptance {
  readonly #options: AcceptanceOptions;
  readonly #known: IdentitySet;
  #writer: DayWriter | null = null;
  #last: Micros | null = null;
  /**
   * Reader that keeps the newest day open until the day writer opens it. A killed writer may leave a commit in the
   * log that becomes visible only when SQLite recovers the log, which happens when the first connection opens. The
   * recovery must happen before the identities are read.
   */
  #held: DayReader | null = null;

  constructor(options: AcceptanceOptions) {
    this.#options = options;
    const newest = options.state.catalog().days.at(-1);
    if (newest?.sealed === 0)
      this.#held = new DayReader(dayPath(options.paths, newest.day, 'open'), newest.day, 'open');
    this.#known = options.known?.identities ?? new IdentitySet(duplicateHorizon);
    try {
      this.#last = this.#newest((reader) => reader.ends().last) ?? null;
      this.#rememberIdentities();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Last assigned stamp, or null before the first stamp. */
  get last(): Micros | null {
    return this.#last;
  }

  append(batch: Batch): AppendResult {
    const bytes = assertBounds(batch);
    const { fresh, duplicates } = sortOut(batch, this.#known);
    const first = firstStamp(batch.at, this.#last, fresh.length);
    const rows = fresh.map(({ observation, identity }, i) => ({ observation, identity, at: first + i }));
    const commit: Parameters<DayWriter['commit']>[0] = {
      rows,
      refusals: refusalsOf(batch, duplicates),
      positions: batch.positions,
      refusedRows: batch.refusedRows ?? [],
      at: batch.at,
      stamp: first,
      bytes,
    };
    this.#writerOf(dayOf(first)).commit(commit);
    // Add the identities only after the commit, so that a failed batch leaves no identities in memory.
    for (const { identity, at } of rows) this.#known.add(identity, at);
    const last = rows.at(-1)?.at;
    if (last !== undefined) this.#last = micros(last);
    this.#options.faults?.('append.committed');
    return {
      accepted: rows.length,
      duplicates,
      first: rows.length > 0 ? first : null,
      last: last === undefined ? null : micros(last),
    };
  }

  /** Returns the refused rows as of the last commit. */
  refusedRows(): RefusedRows[] {
    return this.#newest((reader) => reader.refusedRows()) ?? [];
  }

  /** Removes the identities of removed rows from memory, so that the same labels can be accepted again. */
  forget(identities: readonly Buffer[]): void {
    for (const identity of identities) this.#known.delete(identity);
  }

  limitPages(pages: number): void {
    this.#writer?.limitPages(pages);
  }

  close(): void {
    this.#writer?.close();
    this.#writer = null;
    this.#held?.close();
    this.#held = null;
  }

  #writerOf(day: number): DayWriter {
    if (this.#writer?.day === day) return this.#writer;
    const { paths, state, durable, faults } = this.#options;
    const newest = state.catalog().days.at(-1);
    if (newest && (day < newest.day || (day === newest.day && newest.sealed === 1))) {
      throw new StoreError(
        'clock_behind',
        `the clock is at ${dayName(day)}, a day that no longer accepts rows: check the clock`,
      );
    }
    const generation = state.epoch().generationId;
    const carried: WriterParameters[2] = this.#newest((reader) => ({
      positions: reader.positions(),
      refusedRows: reader.refusedRows(),
      last: reader.ends().last,
      through: reader.ends().through,
      generation,
    })) ?? { positions: [], refusedRows: [], last: null, through: null, generation };
    const writer = new DayWriter(dayPath(paths, day, 'open'), day, carried, dayTime(day), this.#options);
    this.close();
    if (durable) syncFolder(paths.days);
    faults?.('rollover.created');
    // List the day before its first row is committed, so that no reader misses the day.
    state.addDay(day, false);
    this.#writer = writer;
    return writer;
  }

  #newest<T>(work: (reader: DayReader) => T): T | undefined {
    const newest = this.#options.state.catalog().days.at(-1);
    return newest && this.#read(newest.day, newest.sealed === 1 ? 'sealed' : 'open', work);
  }

  #read<T>(day: number, form: DayForm, work: (reader: DayReader) => T): T {
    const reader = new DayReader(dayPath(this.#options.paths, day, form), day, form);
    try {
      return work(reader);
    } finally {
      reader.close();
    }
  }

  #rememberIdentities(): void {
    if (this.#last === null) return;
    const since = Math.max(this.#last - duplicateHorizon, (this.#options.known?.through ?? -1) + 1);
    for (const { day, sealed } of this.#options.state.catalog().days) {
      if (sealed === 1 || dayStart(day + 1) <= since) continue;
      this.#read(day, 'open', (reader) => {
        for (const [id, identity] of reader.identities(since)) this.#known.add(identity, id);
      });
    }
  }
}

function dayTime(day: number): string {
  return new Date(dayStart(day) / 1000).toISOString();
}
