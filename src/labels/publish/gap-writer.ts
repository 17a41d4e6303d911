import type { GapChange, StoredGap, StoreWriter } from '../../store/port.ts';
import { micros } from '../../store/time.ts';

/** Dependencies of writing gaps. */
export interface GapWriterOptions {
  readonly store: Pick<StoreWriter, 'changeGaps'>;
  /** A clock that is never set, in microseconds. */
  readonly monotonic: () => number;
  /** Gaps of one source are written at most this often unless a position of it is, in milliseconds. */
  readonly minIntervalMs: number;
}

/** Changes of one source that may wait; more become one gap that covers them all, which overstates. */
const maxPending = 64;

/**
 * Gaps on their way to the store. A labeler can cause a gap with a frame of 30 bytes, so gaps wait here, those of many
 * sources share a commit, and those of one source are written rarely. `flush` makes them durable: it is called before a
 * position of the source is committed, so that a crash between the two overstates a gap and never hides it.
 */
export class GapWriter {
  readonly #options: GapWriterOptions;
  readonly #pending = new Map<string, GapChange[]>();
  readonly #writtenAt = new Map<string, number>();
  #writing: Promise<void> = Promise.resolve();

  constructor(options: GapWriterOptions) {
    this.#options = options;
  }

  /** Records a gap of a source; ignores an empty one. */
  record(gap: StoredGap): void {
    if (gap.start >= gap.end) return;
    const changes = this.#changesOf(gap);
    const last = changes.at(-1);
    if (last?.kind === 'record' && touches(last.gap, gap)) {
      changes[changes.length - 1] = { kind: 'record', gap: joined(last.gap, gap, gap.reason) };
      return;
    }
    changes.push({ kind: 'record', gap });
    if (changes.length > maxPending) {
      const all = changes.map((change) => change.gap);
      const union = all.reduce((one, other) => joined(one, other, 'unknown'));
      changes.splice(0, changes.length, { kind: 'record', gap: { ...union, reason: 'unknown' } });
    }
  }

  /** Records a gap, or takes back what was recorded of one. */
  change({ kind, gap }: GapChange): void {
    if (kind === 'record') this.record(gap);
    else this.withdraw(gap);
  }

  /** Takes back what was recorded of a gap of a source. */
  withdraw(gap: StoredGap): void {
    if (gap.start >= gap.end) return;
    this.#changesOf(gap).push({ kind: 'withdraw', gap });
  }

  /** Makes durable what waits, of these sources or of all. Rejects as the store does; what was not written waits on. */
  flush(sources?: Iterable<string>): Promise<void> {
    const wanted = sources === undefined ? null : [...sources];
    // What waits is looked up in turn: a write that is under way may fail, and then it waits again.
    const turn = this.#writing.then(() => this.#write(wanted ?? [...this.#pending.keys()]));
    this.#writing = turn.catch(() => undefined);
    return turn;
  }

  /** Writes what has waited for long enough. */
  async tick(): Promise<void> {
    const { monotonic, minIntervalMs } = this.#options;
    const before = monotonic() - minIntervalMs * 1_000;
    for (const [source, at] of this.#writtenAt) if (at <= before) this.#writtenAt.delete(source);
    await this.flush([...this.#pending.keys()].filter((source) => !this.#writtenAt.has(source)));
  }

  async #write(sources: readonly string[]): Promise<void> {
    const { store, monotonic } = this.#options;
    const taken = [...new Set(sources)].flatMap((source) => {
      const own = this.#pending.get(source);
      return own === undefined ? [] : [[source, own] as const];
    });
    if (taken.length === 0) return;
    for (const [source] of taken) this.#pending.delete(source);
    try {
      await store.changeGaps(taken.flatMap(([, own]) => own));
    } catch (error) {
      // Before what came meanwhile.
      for (const [source, own] of taken) this.#pending.set(source, [...own, ...(this.#pending.get(source) ?? [])]);
      throw error;
    }
    for (const [source] of taken) this.#writtenAt.set(source, monotonic());
  }

  #changesOf({ source }: StoredGap): GapChange[] {
    const name = source ?? '';
    const changes = this.#pending.get(name) ?? [];
    this.#pending.set(name, changes);
    return changes;
  }
}

function touches(a: StoredGap, b: StoredGap): boolean {
  return a.reason === b.reason && a.start <= b.end && b.start <= a.end;
}

function joined(a: StoredGap, b: StoredGap, reason: StoredGap['reason']): StoredGap {
  return { ...a, reason, start: micros(Math.min(a.start, b.start)), end: micros(Math.max(a.end, b.end)) };
}
