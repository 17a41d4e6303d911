import { formatTimestamp, type Micros } from '../../../contract/timestamp.ts';
import type { DayCount, DayCounts } from '../window/day-counts.ts';
import { GapTexts } from './gap-texts.ts';

/** Cached parts of a labeler's line from the last publication, which the next publication uses again. */
export class LabelerMemory {
  readonly gaps = new GapTexts();
  readonly #stamps = new Map<string, { readonly at: Micros; readonly text: string }>();
  #days: readonly DayCounts[] = [];
  #counts: readonly (DayCount | undefined)[] = [];

  /** Returns the formatted timestamp of a member. The timestamp is cached, because most members rarely change. */
  stamp(member: string, at: Micros): string {
    const known = this.#stamps.get(member);
    if (known?.at === at) return known.text;
    const text = formatTimestamp(Math.floor(at / 1000));
    this.#stamps.set(member, { at, text });
    return text;
  }

  /** Returns the counts of a labeler by day. Returns the same object again for a day whose counts did not change. */
  countsOf(did: string, days: readonly DayCounts[]): readonly (DayCount | undefined)[] {
    if (days.length !== this.#days.length || days.some((counts, i) => counts !== this.#days[i])) {
      this.#counts = days.map((counts, i) => (counts === this.#days[i] ? this.#counts[i] : counts.get(did)));
      this.#days = days;
    }
    return this.#counts;
  }
}
