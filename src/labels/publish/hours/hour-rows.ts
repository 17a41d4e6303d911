import { type Interval, micros } from '../../../store/time.ts';
import { burstsIn } from '../../repeats/repeats.ts';
import { intervalOf, type MinuteSpan } from '../../state/filled-in.ts';
import type { Turns } from '../turns.ts';
import type { WindowReading } from '../window/window-reader.ts';
import type { CountedHour, LateRows, LateRowsOfHour, LateTimes } from './hour-counts.ts';

/** Rows of one labeler, or of all labelers, in one hour. */
export interface HourRows {
  readonly applied: number;
  readonly removed: number;
  readonly repeats: number;
  /** Part of `applied` and `removed` that was read late. */
  readonly late: LateRows;
}

/** Input of `countHourRows`. */
interface HourRowsInputs {
  readonly counted: readonly CountedHour[];
  readonly bursts: WindowReading['bursts'];
  readonly times: LateTimes;
  /** Rows that were read late, in the order of `counted`. */
  readonly lateRows: readonly LateRowsOfHour[];
}

/** Number of labelers whose rows are processed between two checks of the turn. */
const labelersAtOnce = 250;

/** Counts the rows of each labeler by hour. Subtracts repeats from applications first, as in the counts of days. */
export async function countHourRows(inputs: HourRowsInputs, turns: Turns): Promise<HourRowTable> {
  const { counted, bursts, times, lateRows } = inputs;
  const table = new HourRowTable(counted.length);
  for (const [at, { counts, start, end }] of counted.entries()) {
    for (const [nth, { labeler, applied, removed }] of counts.entries()) {
      if (nth % labelersAtOnce === 0 && turns.isOver) await turns.next();
      const own = bursts.get(labeler) ?? [];
      const repeatsIn = (parts: readonly Interval[]) => parts.reduce((sum, part) => sum + burstsIn(own, part), 0);
      const rows = withoutBursts({ applied, removed }, own.length === 0 ? 0 : repeatsIn([{ start, end }]));
      table.set(labeler, at, rows);
      const late = lateRows[at]?.get(labeler);
      if (late === undefined) continue;
      const spans = within(times.bySource.get(labeler) ?? times.others, { start, end });
      const lateEvents = withoutBursts(late, repeatsIn(spans));
      table.setLate(labeler, at, {
        applied: Math.min(rows.applied, lateEvents.applied),
        removed: Math.min(rows.removed, lateEvents.removed),
      });
    }
  }
  return table;
}

/** Numbers of an hour in the table: applied, removed, repeats, and the two numbers of late rows. */
const columns = 5;

/**
 * Rows of each labeler by hour. Thousands of labelers have hundreds of thousands of such hours. The table holds their
 * numbers in one array per labeler, because collecting garbage among as many objects takes longer than a turn.
 */
class HourRowTable {
  readonly #hours: number;
  readonly #byLabeler = new Map<string, Float64Array>();

  constructor(hours: number) {
    this.#hours = hours;
  }

  set(labeler: string, at: number, { applied, removed, repeats }: Omit<HourRows, 'late'>): void {
    const own = this.#byLabeler.get(labeler) ?? new Float64Array(columns * this.#hours);
    this.#byLabeler.set(labeler, own);
    // A call of `TypedArray.set` with a list takes several times as long as three assignments.
    own[columns * at] = applied;
    own[columns * at + 1] = removed;
    own[columns * at + 2] = repeats;
  }

  setLate(labeler: string, at: number, { applied, removed }: LateRows): void {
    this.#byLabeler.get(labeler)?.set([applied, removed], columns * at + 3);
  }

  /** Returns the rows of the labeler in each hour; 0 rows where it has none. */
  of(labeler: string): readonly HourRows[] {
    const own = this.#byLabeler.get(labeler) ?? new Float64Array(columns * this.#hours);
    return Array.from({ length: this.#hours }, (_, at) => rowsAt(own, columns * at));
  }

  /** Returns the rows of all labelers in the hour. */
  total(at: number): HourRows {
    const sum = new Float64Array(columns);
    for (const own of this.#byLabeler.values()) {
      for (let column = 0; column < columns; column += 1) {
        sum[column] = (sum[column] ?? 0) + (own[columns * at + column] ?? 0);
      }
    }
    return rowsAt(sum, 0);
  }
}

/** Returns the rows whose numbers begin at `from`. */
function rowsAt(numbers: Float64Array, from: number): HourRows {
  const at = (column: number): number => numbers[from + column] ?? 0;
  return { applied: at(0), removed: at(1), repeats: at(2), late: { applied: at(3), removed: at(4) } };
}

/** Returns the parts of the spans that lie in the interval. */
function within(spans: readonly MinuteSpan[], { start, end }: Interval): readonly Interval[] {
  return spans.map(intervalOf).map((one) => {
    return { start: micros(Math.max(one.start, start)), end: micros(Math.min(one.end, end)) };
  });
}

/** Subtracts at most `max` repeats from the rows, first from the applications. */
function withoutBursts({ applied, removed }: LateRows, max: number): Omit<HourRows, 'late'> {
  const repeats = Math.min(applied + removed, max);
  const fromApplied = Math.min(applied, repeats);
  return { applied: applied - fromApplied, removed: removed - (repeats - fromApplied), repeats };
}
