import { createBackoff } from '../../network/websocket/backoff.ts';
import type { SourceIntake } from '../ingest/intake.ts';
import { note, type ReadingPorts } from '../ingest/ports.ts';
import { CapReached } from '../shares/daily-cap.ts';
import { delayLimit } from '../state/reading-state.ts';
import type { Source } from '../state/source.ts';
import { recordCaughtUp, unread } from './catch-up.ts';
import type { Filled } from './fill-before.ts';
import { pollRound, type RoundOutcome } from './poll-round.ts';

/** The connection whose holes are closed. */
interface HoledConnection {
  /** Result of filling in the labels from before the connection. */
  readonly filled: Promise<Filled>;
  /** Called if the labeler's database was reset, or if an error ended the closing of holes. */
  readonly end: () => void;
  readonly signal: AbortSignal;
}

/**
 * Closes the holes of one connection: the labels of messages that were not understood are read from the labeler's pages.
 * If the pages cannot be read, records a gap. Pages are requested some time after the last message, because the pages of
 * a replica may lag behind the stream. Works in the background, so that the frames after a hole are read without delay.
 */
export class HoleCloser {
  readonly #source: Source;
  readonly #intake: SourceIntake;
  readonly #ports: ReadingPorts;
  readonly #connection: HoledConnection;
  #working: Promise<'reset' | null> | null = null;

  constructor(source: Source, intake: SourceIntake, ports: ReadingPorts, connection: HoledConnection) {
    this.#source = source;
    this.#intake = intake;
    this.#ports = ports;
    this.#connection = connection;
  }

  /** Closes the holes of the source, unless that is already under way. */
  start(): void {
    if (this.#working !== null || this.#source.progress.holes.length === 0) return;
    const working = this.#close();
    this.#working = working;
    working.then(
      (outcome) => {
        if (outcome === 'reset') this.#connection.end();
        else this.#working = null;
      },
      // The error is thrown by `ended`.
      () => this.#connection.end(),
    );
  }

  /**
   * Resolves once no work is under way, with `reset` if the labeler's database was reset. Rejects with the error that
   * ended the work.
   */
  async ended(): Promise<'reset' | null> {
    return (await this.#working) ?? null;
  }

  async #close(): Promise<'reset' | null> {
    const { time } = this.#ports;
    const { signal } = this.#connection;
    const { firstRetryMs, maxRetryMs, pollMs } = time.timings;
    const backoff = createBackoff({ firstMs: firstRetryMs, capMs: maxRetryMs, random: time.random });
    const since = time.clock();
    const filled = await this.#connection.filled;
    const hasPages = filled.joined || filled.fault === null || filled.fault.fault === 'failed';
    for (;;) {
      const [hole] = this.#source.progress.holes;
      if (hole === undefined || signal.aborted) return null;
      await time.wait(Math.max(0, time.timings.resumeMs - (time.clock() - hole.last) / 1000), signal);
      const before = unread(this.#source, this.#ports);
      const round = hasPages && !signal.aborted ? await this.#round(before) : null;
      if (signal.aborted || round?.kind === 'reset') return round?.kind === 'reset' ? 'reset' : null;
      if (round?.kind === 'quiet') {
        await recordCaughtUp(this.#source, this.#ports, { before, through: round.through });
        backoff.reset();
        if (this.#source.progress.holes.length > 0) await time.wait(pollMs, signal);
        continue;
      }
      const passes = round !== null && (round.fault === null || round.fault === 'failed');
      if (passes && time.clock() - since <= delayLimit) {
        await time.wait(pollMs + backoff.next(), signal);
        continue;
      }
      await note(this.#source, this.#ports.gaps, { kind: 'holes_left' });
    }
  }

  /** Reads the pages to their end. Returns null if the source used up its allowance or the connection ends. */
  async #round(before: ReturnType<typeof unread>): Promise<RoundOutcome | null> {
    const { signal } = this.#connection;
    return pollRound(this.#source, this.#intake, this.#ports, { before, signal }).catch((error: unknown) => {
      if (error instanceof CapReached || (signal.aborted && error === signal.reason)) return null;
      throw error;
    });
  }
}
