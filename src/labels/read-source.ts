import { createBackoff } from '../network/backoff.ts';
import { type SourceFault, worseOf } from './faults.ts';
import { createIntake } from './intake.ts';
import { pollRound, type RoundOutcome, recordNotObserved } from './poll-round.ts';
import { fillTarget, type ReaderTools, type Source, unreadSince } from './source.ts';
import { type SessionOutcome, streamSession } from './stream-session.ts';

/** Least wait between two connections to one source, in milliseconds, however well the last one went. */
const leastWaitMs = 100;

/**
 * Reads one source until the signal aborts: by its stream while it has one, else by polls, and again by its stream when
 * it has one later. Resolves then; rejects only when the writer does.
 */
export async function readSource(source: Source, tools: ReaderTools, signal: AbortSignal): Promise<void> {
  const { tracker } = source;
  const { clock, rhythm, wait } = tools;
  const intake = createIntake(source, tools);
  const patience = createBackoff({
    firstMs: rhythm.firstRetryMs,
    capMs: rhythm.longestRetryMs,
    random: tools.random,
  });
  let streamFault: SourceFault | null = null;
  let streamDue = 0;
  let tailDue = 0;
  while (!signal.aborted) {
    tracker.asked(clock());
    const now = clock() / 1000;
    if (now >= streamDue) {
      const session: SessionOutcome = await streamSession(source, intake, tools, signal);
      if (signal.aborted) return;
      if (session.kind !== 'fault') {
        streamFault = null;
        if (session.kind === 'reset' || session.progress) patience.reset();
        // A stream that opens and says nothing is no answer.
        else if (session.poll) await failed(source, tools, null, session.poll);
        await wait(leastWaitMs + (session.kind === 'ended' && !session.progress ? patience.next() : 0), signal);
        continue;
      }
      streamFault = session;
      if (session.fault !== 'failed') streamDue = now + rhythm.streamRetryMs;
    }
    const checkTail = clock() / 1000 >= tailDue;
    if (checkTail) tailDue = clock() / 1000 + rhythm.tailMs;
    const since = unreadSince(source, tools.epoch);
    const target = fillTarget(tools.epoch, clock());
    const round: RoundOutcome = await pollRound(source, intake, tools, { checkTail, signal });
    if (signal.aborted) return;
    if (round.kind === 'quiet') await recordNotObserved(source, tools, since, target);
    if (round.kind === 'fault') await failed(source, tools, streamFault, round);
    else patience.reset();
    await wait(waitAfter(round, source, tools, patience.next), signal);
  }
}

async function failed(
  source: Source,
  tools: ReaderTools,
  streamFault: SourceFault | null,
  poll: SourceFault,
): Promise<void> {
  const fault = worseOf(streamFault?.fault ?? null, poll.fault);
  if (fault === null) return;
  const before = source.tracker.state;
  const gap = source.tracker.failed(tools.clock(), fault);
  if (gap) await tools.recordGap(gap);
  if (source.tracker.state !== before) {
    tools.doubt(source.did);
    tools.log.info('a source cannot be read', {
      labeler: source.did,
      state: source.tracker.state,
      stream: streamFault?.why,
      poll: poll.why,
    });
  }
}

function waitAfter(round: RoundOutcome, source: Source, tools: ReaderTools, next: () => number): number {
  const { rhythm, clock } = tools;
  if (round.kind === 'reset') return leastWaitMs;
  if (round.kind === 'quiet') return round.rows > 0 ? Math.min(leastWaitMs, rhythm.pollMs) : rhythm.pollMs;
  if (!source.tracker.enrolled(clock())) return rhythm.notEnrolledMs;
  return Math.max(leastWaitMs + next(), Math.min(round.retryAfterMs ?? 0, rhythm.longestRetryMs));
}
