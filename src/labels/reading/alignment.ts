import type { Micros } from '../../contract/timestamp.ts';
import type { SourceIntake } from '../ingest/intake.ts';
import type { ReadingPorts } from '../ingest/ports.ts';
import { fingerprintIn } from '../poll/last-row.ts';
import { aligned, type Source } from '../state/source.ts';
import { unread } from './catch-up.ts';
import { pollRound, type RoundOutcome } from './poll-round.ts';
import { rowAt } from './row-at.ts';

/** Maximum number of alignment checks per connection. */
const maxChecks = 5;

/**
 * Detects whether a source's cursors are frame numbers. If they are, a look-up of the number of the newest frame
 * returns the row of that frame. From then on, the frame number and the cursor of the position advance together, so
 * that the next start does not poll rows that the stream delivered. Each connection has its own instance.
 *
 * Before, the pages are read once more some time after the opening: those of a replica may lag, so that the pages of the
 * fill-in lack the last labels from before the connection, and a live stream never delivers these labels.
 */
export class Alignment {
  readonly #source: Source;
  readonly #intake: SourceIntake;
  readonly #ports: ReadingPorts;
  readonly #signal: AbortSignal;
  #checks = 0;
  #retry: () => void = () => undefined;
  #isChecking = false;
  /** State of the later pages: they are not due yet, they must be read now, or no pages are needed. */
  #laterPages: 'waiting' | 'due' | 'none' = 'waiting';

  constructor(source: Source, intake: SourceIntake, ports: ReadingPorts, signal: AbortSignal) {
    this.#source = source;
    this.#intake = intake;
    this.#ports = ports;
    this.#signal = signal;
  }

  /**
   * Must be called after the fill-in of a connection that was opened at `openedAt`. `joined` is true if the pages work.
   * Calls `wake` when the later pages must be read.
   */
  filled(joined: boolean, openedAt: Micros, wake: () => void): void {
    // An aligned position means that the pages were read after an earlier opening.
    if (!joined || aligned(this.#source.position)) this.#laterPages = 'none';
    else this.#awaitLaterPages(openedAt, wake);
  }

  #awaitLaterPages(since: Micros, wake: () => void): void {
    const { timings, wait, clock } = this.#ports.time;
    const ms = Math.max(0, timings.resumeMs - (clock() - since) / 1000);
    void wait(ms, this.#signal).then(() => {
      this.#laterPages = 'due';
      this.#retry = () => this.#awaitLaterPages(clock(), wake);
      wake();
    });
  }

  /**
   * Reads the later pages if they are due, and later again if they cannot be read. Returns the outcome if the labeler's
   * database was reset, and null otherwise.
   */
  async askLaterPages(): Promise<Extract<RoundOutcome, { kind: 'reset' }> | null> {
    if (this.#laterPages !== 'due') return null;
    this.#laterPages = 'waiting';
    const before = unread(this.#source, this.#ports);
    const round = await pollRound(this.#source, this.#intake, this.#ports, { before, signal: this.#signal });
    if (round.kind === 'quiet') this.#laterPages = 'none';
    if (round.kind === 'fault') this.#retry();
    return round.kind === 'reset' ? round : null;
  }

  /**
   * Starts a check in the background, so that the check does not delay reading. Does nothing if there is no frame to
   * compare, the positions are aligned, the later pages are not read yet, a check is running, or the maximum number of
   * checks is reached.
   */
  check(): void {
    const { position } = this.#source;
    const { seq, seqTail } = position;
    if (this.#laterPages !== 'none') return;
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
