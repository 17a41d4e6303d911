import type { DayReader } from '../day/day-reader.ts';
import { type DayCounters, isEmpty } from '../labeler/day-counters.ts';
import { PackedDay } from './packed-day.ts';

/** Number of labelers that are processed between two checks of the time. */
const labelersAtOnce = 50;

/** Packs the counters of one day in steps, because a day may have thousands of labelers. */
export class DayPacking {
  /** Serial number of the day's opened file. */
  readonly serial: number;
  readonly #rows: readonly (readonly [source: number, packed: Buffer])[];
  readonly #counted: (readonly [source: number, counters: DayCounters])[] = [];
  #next = 0;

  constructor(day: DayReader) {
    this.serial = day.serial;
    this.#rows = [...day.labelerCounters.packed()];
  }

  /**
   * Unpacks stored counters until `isOver` returns true. Returns the packed day once all counters are processed, and
   * null until then.
   */
  advance(day: DayReader, isOver: () => boolean): PackedDay | null {
    while (this.#next < this.#rows.length) {
      for (const [source, packed] of this.#rows.slice(this.#next, this.#next + labelersAtOnce)) {
        const counters = day.labelerCounters.unpacked(source, packed);
        // Skip empty counters, which belong to a labeler whose rows were purged.
        if (!isEmpty(counters)) this.#counted.push([source, counters]);
      }
      this.#next += labelersAtOnce;
      if (this.#next < this.#rows.length && isOver()) return null;
    }
    const names = day.namesOf('source', new Set(this.#counted.map(([source]) => source)));
    const values = day.namesOf('val', new Set(this.#counted.flatMap(([, counters]) => [...counters.values.keys()])));
    return PackedDay.of({ counted: this.#counted, names, values });
  }
}
