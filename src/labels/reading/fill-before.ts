import type { Micros } from '../../contract/timestamp.ts';
import { createBackoff } from '../../network/websocket/backoff.ts';
import type { SourceIntake } from '../ingest/intake.ts';
import { note, type ReadingPorts } from '../ingest/ports.ts';
import { CapReached } from '../shares/daily-cap.ts';
import type { SourceFault } from '../state/faults.ts';
import type { Source } from '../state/source.ts';
import { recordCaughtUp, unread } from './catch-up.ts';
import { pollRound, type RoundOutcome } from './poll-round.ts';
import { findStreamStart } from './stream-search.ts';

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

/**
 * Fills in the labels from before a connection. Time that neither polls nor the resumed stream can fill in is recorded
 * as a gap. Returns early, without such a gap, if the database was reset, the signal aborts, or the source used up its
 * daily allowance. Rejects with any other error of a round of polls, such as an error of the store.
 */
export async function fillBefore(
  source: Source,
  intake: SourceIntake,
  ports: ReadingPorts,
  { resumed, openedAt, signal }: { resumed: boolean; openedAt: Micros; signal: AbortSignal },
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
    await recordCaughtUp(source, ports, before);
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
  // The source is complete up to now, because all labels since the stream was opened are stored.
  source.apply({ kind: 'fill_in_abandoned', through: ports.time.clock() });
  await intake.applyInTurn({ kind: 'joined' });
  return { joined: false, reset: false, fault: outcome, replayFrom: null };
}
