import type { Micros } from '../contract/timestamp.ts';
import { caughtUp, unread } from './catch-up.ts';
import type { SourceFault } from './faults.ts';
import type { SourceIntake } from './intake.ts';
import { pollRound } from './poll-round.ts';
import type { ReaderTools, Source } from './source.ts';
import { findStreamStart } from './stream-search.ts';

/** Result of filling in the time before a connection. */
export interface Filled {
  /** True if polling works: everything before the connection is stored, up to the first live frame. */
  readonly joined: boolean;
  readonly reset: boolean;
  readonly fault: SourceFault | null;
  /** Cursor from which the stream itself replays what polls cannot return; null if there is none. */
  readonly replayFrom: number | null;
}

/** Fills in what lies before a connection. What cannot be filled in, and is not resumed by the stream, is a gap. */
export async function fillBefore(
  source: Source,
  intake: SourceIntake,
  tools: ReaderTools,
  { resumed, openedAt, signal }: { resumed: boolean; openedAt: Micros; signal: AbortSignal },
): Promise<Filled> {
  const before = unread(source, tools);
  const { since } = before;
  const round = () => pollRound(source, intake, tools, { before, signal }).catch(() => null);
  let outcome = await round();
  // Our own limits cost the source nothing: live frames come meanwhile, and what lies before is asked for again.
  while (outcome?.kind === 'fault' && outcome.fault === null && !signal.aborted) {
    await tools.wait(tools.random() * tools.rhythm.pollMs, signal);
    outcome = await round();
  }
  if (outcome === null || signal.aborted) return { joined: false, reset: false, fault: null, replayFrom: null };
  if (outcome.kind === 'reset') return { joined: false, reset: true, fault: null, replayFrom: null };
  if (outcome.kind === 'quiet') {
    await caughtUp(source, tools, before);
    await joins(source, intake);
    return { joined: true, reset: false, fault: null, replayFrom: null };
  }
  if (resumed) return { joined: false, reset: false, fault: outcome, replayFrom: null };
  // Live only: the labels between the last read row and the first frame are unknown.
  if (since < openedAt) {
    await tools.recordGap({ source: source.did, start: since, end: openedAt, reason: 'source_unavailable' });
    const passing = outcome.fault === 'failed';
    const replayFrom = passing ? null : await findStreamStart(source, intake, tools, openedAt, signal);
    if (replayFrom !== null) source.tracker.fellBehind(since);
    if (replayFrom !== null || signal.aborted) return { joined: false, reset: false, fault: outcome, replayFrom };
  }
  // What came since it opened is there.
  source.tracker.gaveUp(tools.clock());
  await joins(source, intake);
  return { joined: false, reset: false, fault: outcome, replayFrom: null };
}

/** Everything before the live frames is stored, or a gap: from now on their numbers are the resume position. */
async function joins(source: Source, intake: SourceIntake): Promise<void> {
  await intake.place((position) => {
    source.contiguous = true;
    const { live } = source;
    if (live === null || live.seq < (position.seq ?? 0)) return position;
    return { ...position, seq: live.seq, seqTail: live.tail };
  });
}
