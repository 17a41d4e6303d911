import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StoreReader } from '../../../store/port.ts';
import { hour, micros, minute } from '../../../store/time.ts';
import type { FilledInBySource, MinuteSpan } from '../../state/filled-in.ts';
import type { CountedHour } from './hour-counts.ts';

/** Number of rows that were read late, including repeats. */
export interface LateRows {
  readonly applied: number;
  readonly removed: number;
}

/** Rows of one hour that were read late, by labeler; labelers without such rows are absent. */
export type LateRowsOfHour = ReadonlyMap<string, LateRows>;

/** Times that are left out of rates: those of each labeler, and those of labelers without an entry. */
export interface LateTimes {
  readonly bySource: FilledInBySource;
  readonly others: readonly MinuteSpan[];
}

const none: LateRowsOfHour = new Map();

/**
 * Counts the rows that were accepted in given minutes. Reads the counters by minute, and only those of hours that
 * contain such minutes and rows. The counts of an hour are cached until its rows or minutes change.
 */
export class FilledInCounts {
  readonly #store: Pick<StoreReader, 'countsOverTime'>;
  #cached = new Map<number, { readonly key: string; readonly rows: LateRowsOfHour }>();

  constructor(store: Pick<StoreReader, 'countsOverTime'>) {
    this.#store = store;
  }

  /** Returns the rows of each hour that were accepted in the given times. Rejects with any error of the store. */
  async read(counted: readonly CountedHour[], times: LateTimes, floor: number): Promise<LateRowsOfHour[]> {
    const cached = new Map<number, { readonly key: string; readonly rows: LateRowsOfHour }>();
    const result: LateRowsOfHour[] = [];
    for (const one of counted) {
      const late = lateIn(one, times);
      if (late === null) {
        result.push(none);
        continue;
      }
      const before = this.#cached.get(one.start);
      const rows = before?.key === late.key ? before.rows : await this.#count(one, late, floor);
      cached.set(one.start, { key: late.key, rows });
      result.push(rows);
      await nextTurn();
    }
    this.#cached = cached;
    return result;
  }

  async #count({ end }: CountedHour, { from, until, spansOf }: LateHour, floor: number): Promise<LateRowsOfHour> {
    const start = micros(Math.max(from, Math.ceil(floor / minute)) * minute);
    const stop = micros(Math.min(until * minute, end));
    if (start >= stop) return none;
    const sums = new Map<string, LateRows>();
    for (const { labeler, start: at, applied, removed } of await this.#store.countsOverTime({
      ...{ bucket: 'minute', start, end: stop },
    })) {
      const isLate = spansOf(labeler).some((span) => at >= span.start * minute && at < span.end * minute);
      if (!isLate) continue;
      const sum = sums.get(labeler) ?? { applied: 0, removed: 0 };
      sums.set(labeler, { applied: sum.applied + applied, removed: sum.removed + removed });
    }
    return sums;
  }
}

interface LateHour {
  /** First and last minute that is late for any labeler of the hour; `until` is exclusive. */
  readonly from: number;
  readonly until: number;
  readonly spansOf: (labeler: string) => readonly MinuteSpan[];
  /** Text that changes whenever the rows or the late minutes of the hour change. */
  readonly key: string;
}

/** Returns the late minutes of the labelers that have rows in the hour; null if there are none. */
function lateIn({ start, counts }: CountedHour, { bySource, others }: LateTimes): LateHour | null {
  const [first, last] = [start / minute, (start + hour) / minute];
  const clipped = (spans: readonly MinuteSpan[]): MinuteSpan[] =>
    spans.filter((span) => span.start < last && span.end > first);
  const rest = clipped(others);
  const own = new Map<string, readonly MinuteSpan[]>();
  const key: string[] = [];
  let [from, until] = [last, first];
  for (const { labeler, applied, removed } of counts) {
    const all = bySource.get(labeler);
    const spans = all === undefined ? rest : clipped(all);
    if (spans.length === 0) continue;
    own.set(labeler, spans);
    key.push(`${labeler} ${applied} ${removed} ${spans.map((span) => `${span.start}-${span.end}`).join(' ')}`);
    from = Math.min(from, ...spans.map((span) => span.start));
    until = Math.max(until, ...spans.map((span) => span.end));
  }
  if (own.size === 0) return null;
  const spansOf = (labeler: string) => own.get(labeler) ?? [];
  return { from: Math.max(first, from), until: Math.min(last, until), spansOf, key: key.join('\n') };
}
