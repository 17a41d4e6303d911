import type { Micros } from '../../contract/timestamp.ts';
import { createBackoff } from '../../network/websocket/backoff.ts';
import type { SourceIntake } from '../ingest/intake.ts';
import { note, type ReadingPorts } from '../ingest/ports.ts';
import { CapReached } from '../shares/daily-cap.ts';
import type { SourceFault } from '../state/reading-events.ts';
import { stateTimes } from '../state/reading-state.ts';
import type { Source } from '../state/source.ts';
import { recordCaughtUp, unread } from './catch-up.ts';
import { findStreamStart } from './cursor-search.ts';
import { fingerprintIn, rowAt } from './pages.ts';
import { pollRound, type RoundOutcome } from './poll-round.ts';

/** Number of transient failures after which pages count as unusable while the stream is open. */
const maxTransientFailures = 4;

/** Result of filling in the labels from before a connection. */
export interface Filled {
  /** True if polling works, so that all labels before the first live frame of the connection are stored. */
  readonly joined: boolean;
  /** True if the labeler's database was reset. */
  readonly reset: boolean;
  /** Last failure of a poll, or null if no poll failed, polling works again, or the database was reset. */
  readonly fault: SourceFault | null;
  /**
   * Cursor from which the stream replays labels that polls cannot return, or null if no such replay is necessary or
   * possible.
   */
  readonly replayFrom: number | null;
}

/** A connection whose earlier labels are filled in. */
interface OpenedStream {
  readonly resumed: boolean;
  readonly openedAt: Micros;
  /** Returns the time up to which everything that the connection delivered is stored. */
  readonly storedThrough: () => Micros;
  readonly signal: AbortSignal;
}

/**
 * Fills in the labels from before a connection. Time that neither polls nor the resumed stream can fill in is recorded
 * as a gap. Returns early, without such a gap, if the database was reset, the signal aborts, or the source used up its
 * daily allowance. Rejects with any other error of a round of polls, such as an error of the store.
 */
export async function fillBefore(
  source: Source,
  intake: SourceIntake,
  ports: ReadingPorts,
  { resumed, openedAt, storedThrough, signal }: OpenedStream,
): Promise<Filled> {
  const before = unread(source, ports);
  const { since } = before;
  const round = (): Promise<RoundOutcome | null> =>
    pollRound(source, intake, ports, { before, signal }).catch((error: unknown) => {
      // The signature check of an aborted round rejects with the reason of the abort.
      if (error instanceof CapReached || (signal.aborted && error === signal.reason)) return null;
      throw error;
    });
  const { timings, random, wait } = ports.time;
  const backoff = createBackoff({ firstMs: timings.firstRetryMs, capMs: timings.maxRetryMs, random });
  let fault: SourceFault | null = null;
  let outcome = await round();
  for (let failures = 0; outcome?.kind === 'fault' && !signal.aborted; outcome = await round()) {
    // Continue with the stream, because a limit of this instrument is not a failure of the source. The pages are
    // requested again later.
    if (outcome.fault === null) {
      await wait(random() * timings.pollMs, signal);
      continue;
    }
    fault = outcome;
    failures += 1;
    // A resumed stream needs no pages. Otherwise retry, because a single timeout must not turn all earlier labels into
    // a gap.
    if (resumed || outcome.fault !== 'failed' || failures >= maxTransientFailures) break;
    await wait(backoff.next(), signal);
  }
  if (outcome === null || signal.aborted) return { joined: false, reset: false, fault, replayFrom: null };
  if (outcome.kind === 'reset') return { joined: false, reset: true, fault: null, replayFrom: null };
  if (outcome.kind === 'quiet') {
    await recordCaughtUp(source, ports, { before, through: outcome.through });
    await intake.applyInTurn({ kind: 'joined' });
    return { joined: true, reset: false, fault: null, replayFrom: null };
  }
  if (resumed) return { joined: false, reset: false, fault: outcome, replayFrom: null };
  // The stream delivers only live labels, so the labels between the last read row and the first frame are unknown.
  if (since < openedAt) {
    await note(source, ports.gaps, { kind: 'not_filled_in', since, opened: openedAt });
    const passing = outcome.fault === 'failed';
    const replayFrom = passing ? null : await findStreamStart(source, intake, ports, openedAt, signal);
    if (replayFrom !== null) source.apply({ kind: 'replay_started', since });
    if (replayFrom !== null || signal.aborted) return { joined: false, reset: false, fault: outcome, replayFrom };
  }
  // All labels since the stream was opened are stored, except those of the messages that wait.
  source.apply({ kind: 'fill_in_abandoned', through: storedThrough() });
  await intake.applyInTurn({ kind: 'joined' });
  return { joined: false, reset: false, fault: outcome, replayFrom: null };
}

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
    // The fill-in and rounds of pages may take long, and messages may arrive for hours. So only the time since the first
    // of the rounds that failed in a row shows that the pages fail.
    let failingSince: Micros | null = null;
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
        failingSince = null;
        if (this.#source.progress.holes.length > 0) await time.wait(pollMs, signal);
        continue;
      }
      const passes = round !== null && (round.fault === null || round.fault === 'failed');
      const now = time.clock();
      failingSince ??= now;
      if (passes && now - failingSince <= stateTimes.delayLimit) {
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
    if (!joined || this.#source.isAligned) this.#laterPages = 'none';
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
    if (seq === null || seqTail === null || this.#source.isAligned || this.#isChecking || this.#checks >= maxChecks)
      return;
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
