import type { SourceIntake } from '../ingest/intake.ts';
import { fingerprintIn } from '../poll/last-row.ts';
import { aligned } from '../state/read-progress.ts';
import type { Source } from '../state/source.ts';
import { type PageRequester, rowAt } from './row-at.ts';

/** Looks whether numbers are cursors, of one connection. */
const maxChecks = 5;

/**
 * Detects that a source's cursors are frame numbers: a page shows the newest frame's row under its number. From then
 * on both positions move together, so that the next start does not poll again what came by the stream. One instance
 * per connection.
 */
export class Alignment {
  readonly #source: Source;
  readonly #intake: SourceIntake;
  readonly #ports: PageRequester['ports'];
  readonly #signal: AbortSignal;
  #looks = 0;
  #looking = false;

  constructor(source: Source, intake: SourceIntake, ports: PageRequester['ports'], signal: AbortSignal) {
    this.#source = source;
    this.#intake = intake;
    this.#ports = ports;
    this.#signal = signal;
  }

  /** Checks again without delaying the reading. */
  look(): void {
    const { position } = this.#source;
    const { seq, seqTail } = position;
    if (seq === null || seqTail === null || aligned(position) || this.#looking || this.#looks >= maxChecks) return;
    this.#looks += 1;
    this.#looking = true;
    void rowAt({ source: this.#source, ports: this.#ports, signal: this.#signal }, seq)
      .then(async (row) => {
        if (row.kind === 'row' && row.fingerprint === fingerprintIn(seqTail))
          await this.#intake.take({ rows: [], transport: 'poll', move: { kind: 'align', seq } }, this.#signal);
      })
      // The reading meets the same, and says it.
      .catch(() => undefined)
      .finally(() => {
        this.#looking = false;
      });
  }
}
