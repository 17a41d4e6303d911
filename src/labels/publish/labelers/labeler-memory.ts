import { type LabelerLine, maxLabelerGaps } from '../../../artifact/labelers.ts';
import { formatTimestamp, type Micros } from '../../../contract/timestamp.ts';
import type { DayCount, DayCounts } from '../window/day-counts.ts';
import { listedGaps, type UnreadGap } from './unread-time.ts';

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

/** Maximum number of gaps that may use the bytes reserved for values. */
const minGaps = 4;

/** Gaps of a labeler in JSON. */
interface WrittenGaps {
  /** JSON array. */
  readonly text: string;
  /** True if gaps were merged. */
  readonly overflow: boolean;
  /** Bytes of the array, or 0 for an empty array. */
  readonly bytes: number;
}

interface GapText extends UnreadGap {
  readonly text: string;
}

/** Cache of a labeler's gaps in JSON, because most publications write the same gaps again. */
class GapTexts {
  #written: readonly GapText[] = [];
  #text = '[]';

  /**
   * Returns the gaps in JSON. Merges gaps until the JSON fits into `preferred` bytes, or into `room` bytes once at most
   * `minGaps` gaps are left. Returns two gaps even if their JSON does not fit.
   */
  within(unread: readonly UnreadGap[], preferred: number, room: number): WrittenGaps {
    for (let limit = maxLabelerGaps; ; limit -= 2) {
      const { gaps, overflow } = listedGaps(unread, limit);
      this.#write(gaps);
      const bytes = gaps.length === 0 ? 0 : this.#text.length;
      if (bytes <= (limit <= minGaps ? room : preferred) || limit <= 2) return { text: this.#text, overflow, bytes };
    }
  }

  #write(gaps: readonly UnreadGap[]): void {
    const texts = gaps.map((gap, i) => this.#textOf(gap, i));
    if (texts.length === this.#written.length && texts.every((text, i) => text === this.#written[i])) return;
    this.#written = texts;
    this.#text = `[${texts.map(({ text }) => text).join(',')}]`;
  }

  #textOf(gap: UnreadGap, place: number): GapText {
    const before = this.#written[place];
    if (before && isSame(before, gap)) return before;
    const known = this.#written.find((written) => isSame(written, gap));
    if (known) return known;
    const { start, end, reason } = gap;
    const written: LabelerLine['gaps'][number] = { start: startTexts.of(start), end: endTexts.of(end), reason };
    return { start, end, reason, text: JSON.stringify(written) };
  }
}

function isSame(a: UnreadGap, b: UnreadGap): boolean {
  return a.start === b.start && a.end === b.end && a.reason === b.reason;
}

/**
 * Cache of the timestamp that was formatted last, because consecutive labelers often have gaps at the same bound of the
 * window.
 */
class LastText {
  #at: Micros | null = null;
  #text = '';

  of(at: Micros): string {
    if (this.#at !== at) this.#text = formatTimestamp(Math.floor(at / 1000));
    this.#at = at;
    return this.#text;
  }
}

const startTexts = new LastText();
const endTexts = new LastText();
