import type { LabelerCounters } from '../../labeler-counters.ts';
import type { DayReader } from '../day/day-reader.ts';
import { type DayCounters, isEmpty } from '../labeler/day-counters.ts';
import { LabelerSum } from '../labeler/labeler-sum.ts';

/** Counters of one labeler on the open day, in packed and unpacked form. */
interface Entry {
  readonly packed: Buffer;
  readonly labeler: string;
  readonly counters: DayCounters;
  readonly texts: ReadonlyMap<number, string>;
  /** Sum with the counters of earlier days (`before`), or null until first requested. */
  summed: { readonly before: LabelerSum | null; readonly counters: LabelerCounters } | null;
}

/**
 * Counters of the newest day, to which rows are still added. Each read unpacks only the counters that changed since
 * the previous read, because most labelers apply no labels between two reads.
 */
export class OpenDay {
  readonly serial: number;
  #entries = new Map<number, Entry>();

  /** `serial` is the serial number of the day's opened file. */
  constructor(serial: number) {
    this.serial = serial;
  }

  /** Reads the counters in one transaction. Returns only labelers with rows. */
  read(day: DayReader): ReadonlyMap<string, Entry> {
    return day.atOnce(() => {
      const entries = new Map<number, Entry>();
      const changed: { source: number; packed: Buffer; counters: DayCounters }[] = [];
      for (const [source, packed] of day.labelerCounters.packed()) {
        const known = this.#entries.get(source);
        if (known?.packed.equals(packed)) entries.set(source, known);
        else changed.push({ source, packed, counters: day.labelerCounters.unpacked(source, packed) });
      }
      const names = day.namesOf('source', new Set(changed.map(({ source }) => source)));
      const texts = day.namesOf('val', new Set(changed.flatMap(({ counters }) => [...counters.values.keys()])));
      for (const { source, packed, counters } of changed) {
        entries.set(source, { packed, labeler: names.get(source) ?? '', counters, texts, summed: null });
      }
      this.#entries = entries;
      const counted = [...entries.values()].filter(({ counters }) => !isEmpty(counters));
      return new Map(counted.map((entry) => [entry.labeler, entry]));
    });
  }
}

/** Returns the counters of a labeler, summed over the open day and the earlier days in `before`. */
export function countersWith(entry: Entry, before: LabelerSum | null): LabelerCounters {
  if (entry.summed !== null && entry.summed.before === before) return entry.summed.counters;
  const sum = new LabelerSum();
  sum.addDay(entry.counters, entry.texts);
  if (before) sum.add(before);
  const counters = sum.counters(entry.labeler);
  entry.summed = { before, counters };
  return counters;
}
