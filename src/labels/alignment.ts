import type { SourceIntake } from './intake.ts';
import { fingerprintIn } from './last-row.ts';
import type { ReadPosition } from './position.ts';
import { rowAt } from './row-at.ts';
import type { ReaderTools, Source } from './source.ts';

/** Looks whether numbers are cursors, of one connection. */
const mostLooks = 5;

/** Returns true if the numbers of a source's frames and the cursors of its pages were seen to be the same. */
export function aligned({ seq, seqTail, cursor, cursorTail }: ReadPosition): boolean {
  return seq !== null && seq === cursor && seqTail !== null && seqTail === cursorTail;
}

/**
 * Detects that a source's cursors are frame numbers: a page shows the newest frame's row under its number. From then
 * on both positions move together, so that the next start does not poll again what came by the stream. One instance
 * per connection.
 */
export class Alignment {
  readonly #source: Source;
  readonly #intake: SourceIntake;
  readonly #tools: ReaderTools;
  readonly #signal: AbortSignal;
  #looks = 0;
  #looking = false;

  constructor(source: Source, intake: SourceIntake, tools: ReaderTools, signal: AbortSignal) {
    this.#source = source;
    this.#intake = intake;
    this.#tools = tools;
    this.#signal = signal;
  }

  /** Checks again without delaying the reading. */
  look(): void {
    const { position } = this.#source;
    const { seq, seqTail } = position;
    if (seq === null || seqTail === null || aligned(position) || this.#looking || this.#looks >= mostLooks) return;
    this.#looks += 1;
    this.#looking = true;
    const move = (now: ReadPosition): ReadPosition =>
      now.seq !== null && now.seq >= seq ? { ...now, cursor: now.seq, cursorTail: now.seqTail } : now;
    void rowAt({ source: this.#source, tools: this.#tools, signal: this.#signal }, seq)
      .then(async (row) => {
        if (row.kind === 'row' && row.fingerprint === fingerprintIn(seqTail))
          await this.#intake.take({ rows: [], way: 'poll', move }, this.#signal);
      })
      // The reading meets the same, and says it.
      .catch(() => undefined)
      .finally(() => {
        this.#looking = false;
      });
  }
}
