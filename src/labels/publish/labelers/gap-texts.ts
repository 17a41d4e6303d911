import type { LabelerLine } from '../../../artifact/labelers.ts';
import { maxLabelerGaps } from '../../../artifact/labelers.ts';
import { formatTimestamp, type Micros } from '../../../contract/timestamp.ts';
import { listedGaps, type UnreadGap } from './unread-time.ts';

/** Maximum number of gaps that may use the bytes reserved for values. */
const minGaps = 4;

/** Gaps of a labeler in JSON. */
export interface WrittenGaps {
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
export class GapTexts {
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
