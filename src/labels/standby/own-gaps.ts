import { changedGaps } from '../../store/gaps.ts';
import type { GapChange, StoredGap } from '../../store/port.ts';

/** Gaps of a standby by source. The source is null for a gap of the whole standby. */
export class OwnGaps {
  readonly #gaps = new Map<string | null, StoredGap[]>();

  /** Records or withdraws a gap; ignores an empty gap. */
  change(change: GapChange): void {
    const { gap } = change;
    if (gap.start >= gap.end) return;
    const before = this.of(gap.source);
    const after = changedGaps(before, change);
    if (after.length > 0) this.#gaps.set(gap.source, after);
    else this.#gaps.delete(gap.source);
  }

  of(source: string | null): StoredGap[] {
    return this.#gaps.get(source) ?? [];
  }

  clear(): void {
    this.#gaps.clear();
  }
}
