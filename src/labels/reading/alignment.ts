import type { SourceIntake } from '../ingest/intake.ts';
import { fingerprintIn } from '../poll/last-row.ts';
import { aligned } from '../state/read-progress.ts';
import type { Source } from '../state/source.ts';
import { type PageRequester, rowAt } from './row-at.ts';

/** Maximum number of alignment checks per connection. */
const maxChecks = 5;

/**
 * Detects whether a source's cursors are frame numbers. If they are, a look-up of the number of the newest frame
 * returns the row of that frame. From then on, the frame number and the cursor of the position advance together, so
 * that the next start does not poll rows that the stream delivered. Each connection has its own instance.
 */
export class Alignment {
  readonly #source: Source;
  readonly #intake: SourceIntake;
  readonly #ports: PageRequester['ports'];
  readonly #signal: AbortSignal;
  #checks = 0;
  #isChecking = false;

  constructor(source: Source, intake: SourceIntake, ports: PageRequester['ports'], signal: AbortSignal) {
    this.#source = source;
    this.#intake = intake;
    this.#ports = ports;
    this.#signal = signal;
  }

  /**
   * Starts a check in the background, so that the check does not delay reading. Does nothing if there is no frame to
   * compare, the positions are aligned, a check is running, or the maximum number of checks is reached.
   */
  check(): void {
    const { position } = this.#source;
    const { seq, seqTail } = position;
    if (seq === null || seqTail === null || aligned(position) || this.#isChecking || this.#checks >= maxChecks) return;
    this.#checks += 1;
    this.#isChecking = true;
    void rowAt({ source: this.#source, ports: this.#ports, signal: this.#signal }, seq)
      .then(async (row) => {
        if (row.kind === 'row' && row.fingerprint === fingerprintIn(seqTail))
          await this.#intake.take({ rows: [], transport: 'poll', move: { kind: 'align', seq } }, this.#signal);
      })
      // Ignore the error, because the reader encounters the same error and reports it.
      .catch(() => undefined)
      .finally(() => {
        this.#isChecking = false;
      });
  }
}
