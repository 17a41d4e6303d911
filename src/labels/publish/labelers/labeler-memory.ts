import { formatTimestamp, type Micros } from '../../../contract/timestamp.ts';
import type { DayCount, DayCounts } from '../window/day-counts.ts';
import { GapTexts } from './gap-texts.ts';

/** Parts of a labeler's line as they were last written, for the next publication. */
export class LabelerMemory {
  readonly gaps = new GapTexts();
  readonly #stamps = new Map<string, { readonly at: Micros; readonly text: string }>();
  #days: readonly DayCounts[] = [];
  #counts: readonly (DayCount | undefined)[] = [];

  /** Returns the timestamp of a member. Most members have the same one again. */
  stamp(member: string, at: Micros): string {
    const known = this.#stamps.get(member);
    if (known?.at === at) return known.text;
    const text = formatTimestamp(Math.floor(at / 1000));
    this.#stamps.set(member, { at, text });
    return text;
  }

  /** Returns the counts of a labeler by day. The counts of a day that did not change are the same object again. */
  countsOf(did: string, days: readonly DayCounts[]): readonly (DayCount | undefined)[] {
    if (days.length !== this.#days.length || days.some((counts, i) => counts !== this.#days[i])) {
      this.#counts = days.map((counts, i) => (counts === this.#days[i] ? this.#counts[i] : counts.get(did)));
      this.#days = days;
    }
    return this.#counts;
  }
}
