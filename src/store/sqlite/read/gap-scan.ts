import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Micros } from '../../../contract/timestamp.ts';
import type { GapReason } from '../../../contract/vocabulary.ts';
import { StoreError } from '../../errors.ts';
import { compareGaps } from '../../gaps.ts';
import type { StoredGap } from '../../port.ts';
import { day, type Interval, micros } from '../../time.ts';
import type { Sqlite } from '../base/connection.ts';
import { everySource, type GapRow } from '../state/gap-state.ts';

/** Number of gaps that are read per turn of the event loop. */
const rowsPerTurn = 500;

type Key = readonly [source: string, started: number, ended: number, reason: string];

/** A gap whose end may be extended while the other gaps of its source are read. */
type OpenGap = { -readonly [Name in keyof StoredGap]: StoredGap[Name] };

/**
 * Reads the gaps of all sources over several turns of the event loop. A read transaction on a separate connection
 * preserves the state at the time of the call, while other queries continue.
 */
export class GapScan {
  readonly #open: () => Sqlite;
  /** Connection without a transaction that the next scan can use, or null if there is none. */
  #idle: Sqlite | null = null;
  #isClosed = false;

  /** `open` opens a read-only connection to the state file. */
  constructor(open: () => Sqlite) {
    this.#open = open;
  }

  /**
   * Returns the gaps in an interval as of the time of the call, clipped to the interval and sorted by start.
   * Overlapping and touching gaps of one source and reason are merged.
   */
  async over(interval: Interval): Promise<StoredGap[]> {
    const db = this.#idle ?? this.#open();
    this.#idle = null;
    try {
      // The first query, which runs in the turn of the call, fixes the snapshot for all queries of the transaction.
      db.exec('BEGIN');
      const gaps = new GapsByDay(interval);
      const next = db.prepare<[...Key, number, number], GapRow>(
        `SELECT * FROM gap WHERE (source, started, ended, reason) > (?, ?, ?, ?) AND +ended > ? AND started < ?
         ORDER BY source, started, ended, reason LIMIT ${rowsPerTurn}`,
      );
      let rows = next.all('', Number.MIN_SAFE_INTEGER, 0, '', interval.start, interval.end);
      for (;;) {
        for (const row of rows) gaps.add(row);
        const last = rows.at(-1);
        if (last === undefined || rows.length < rowsPerTurn) break;
        await this.#nextTurn();
        const { source, started, ended, reason } = last;
        rows = next.all(source, started, ended, reason, interval.start, interval.end);
      }
      db.exec('COMMIT');
      const sorted: StoredGap[] = [];
      for (const part of gaps.parts()) {
        sorted.push(...part);
        if (sorted.length > rowsPerTurn) await this.#nextTurn();
      }
      return sorted;
    } finally {
      this.#release(db);
    }
  }

  /** Closes the idle connection. A scan in progress rejects with `closed`. */
  close(): void {
    this.#isClosed = true;
    this.#idle?.close();
    this.#idle = null;
  }

  async #nextTurn(): Promise<void> {
    await nextTurn();
    if (this.#isClosed) throw new StoreError('closed', 'the store was closed while gaps were read');
  }

  #release(db: Sqlite): void {
    if (this.#isClosed || this.#idle !== null || db.inTransaction) db.close();
    else this.#idle = db;
  }
}

/** Collects gaps by the day on which they start, so that each day is sorted in a separate turn of the event loop. */
class GapsByDay {
  readonly #interval: Interval;
  readonly #days = new Map<number, OpenGap[]>();
  #source: string | null = null;
  /** Last gap of the current source, by reason. */
  readonly #last = new Map<GapReason, OpenGap>();

  constructor(interval: Interval) {
    this.#interval = interval;
  }

  /** Adds a gap. All gaps of a source must be added consecutively, in order of their starts. */
  add({ source, started, ended, reason }: GapRow): void {
    if (source !== this.#source) this.#last.clear();
    this.#source = source;
    const start: Micros = micros(Math.max(started, this.#interval.start));
    const end: Micros = micros(Math.min(ended, this.#interval.end));
    const last = this.#last.get(reason);
    if (last && start <= last.end) {
      last.end = micros(Math.max(last.end, end));
      return;
    }
    const gap: OpenGap = { source: source === everySource ? null : source, start, end, reason };
    this.#last.set(reason, gap);
    const at = Math.floor(start / day);
    const own = this.#days.get(at);
    if (own) own.push(gap);
    else this.#days.set(at, [gap]);
  }

  /** Yields the sorted gaps of each day, oldest day first. */
  *parts(): Generator<readonly StoredGap[]> {
    for (const [, gaps] of [...this.#days].sort(([a], [b]) => a - b)) yield gaps.sort(compareGaps);
  }
}
