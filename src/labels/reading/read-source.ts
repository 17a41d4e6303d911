import { type Backoff, createBackoff } from '../../network/websocket/backoff.ts';
import { createIntake, type SourceIntake } from '../ingest/intake.ts';
import { note, type ReaderPorts, type ReaderTime } from '../ingest/ports.ts';
import { CapReached } from '../shares/daily-cap.ts';
import { type SourceFault, worseOf } from '../state/faults.ts';
import type { SessionOutcome } from '../state/session-outcome.ts';
import type { Source } from '../state/source.ts';
import { recordCaughtUp, unread } from './catch-up.ts';
import { pollRound, type RoundOutcome } from './poll-round.ts';
import { streamSession } from './stream-session.ts';

/** Least wait between two connections to one source, in milliseconds, however well the last one went. */
const minWaitMs = 100;

/**
 * Reads one source until the signal aborts, with pauses while it has given too much for a day. Resolves then; rejects
 * only when the writer does.
 */
export async function readSource(source: Source, ports: ReaderPorts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const full = new AbortController();
    const intake = createIntake(source, ports, () => full.abort());
    const reading = AbortSignal.any([signal, full.signal]);
    await readOn(source, intake, ports, reading).catch((error: unknown) => {
      if (!(error instanceof CapReached)) throw error;
    });
    if (full.signal.aborted && !signal.aborted) await pauseUntilNextDay(source, ports, signal);
  }
}

/** Waits for the next day. The gap so far is recorded again and again, so that a crash does not hide it. */
async function pauseUntilNextDay(source: Source, ports: ReaderPorts, signal: AbortSignal): Promise<void> {
  const { did } = source;
  const { gaps, report } = ports;
  const { cap } = ports.acceptance;
  const { clock, timings, wait } = ports.time;
  report.log.warn('a source used up its share of the day and is paused', { labeler: did, share: cap.reasonOf(did) });
  const record = (): Promise<void> =>
    note(source, gaps, { kind: 'share_used_up', now: clock(), epoch: ports.time.epoch });
  while (!signal.aborted && cap.isPaused(did)) {
    await record();
    await wait(Math.min(timings.heartbeatMs, cap.msLeft), signal);
  }
  await record();
}

/** Reads by the stream while there is one, else by polls, and again by the stream when there is one later. */
async function readOn(source: Source, intake: SourceIntake, ports: ReaderPorts, signal: AbortSignal): Promise<void> {
  const { clock, timings, wait } = ports.time;
  const backoff = { firstMs: timings.firstRetryMs, capMs: timings.maxRetryMs, random: ports.time.random };
  const patience = createBackoff(backoff);
  const afterReset = resetWaits(createBackoff(backoff), ports.time);
  let streamFault: SourceFault | null = null;
  let streamDue = 0;
  while (!signal.aborted) {
    source.apply({ kind: 'asked', now: clock() });
    const now = clock() / 1000;
    if (now >= streamDue) {
      const session: SessionOutcome = await streamSession(source, intake, ports, signal);
      if (signal.aborted) return;
      if (session.kind !== 'fault') {
        streamFault = null;
        if (session.kind === 'reset') {
          await wait(afterReset(), signal);
          continue;
        }
        if (session.progress) patience.reset();
        // A stream that opens and says nothing is no answer.
        else if (session.poll) await failed(source, ports, null, session.poll);
        await wait(minWaitMs + (session.progress ? 0 : patience.next()), signal);
        continue;
      }
      streamFault = session;
      // Our own limits may have room again soon; what the source says of streams seldom changes.
      if (session.fault === null) streamDue = now + timings.pollMs;
      else if (session.fault !== 'failed') streamDue = now + timings.streamRetryMs;
    }
    const before = unread(source, ports);
    const round: RoundOutcome = await pollRound(source, intake, ports, { before, signal });
    if (signal.aborted) return;
    if (round.kind === 'fault') await failed(source, ports, streamFault, round);
    else patience.reset();
    if (round.kind === 'quiet') await recordCaughtUp(source, ports, before);
    const pause = round.kind === 'reset' ? afterReset() : waitAfter(round, source, ports, patience.next);
    await wait(pause, signal);
  }
}

/** Waits after resets: the first reset is read at once, repeated ones at growing intervals. */
function resetWaits(patience: Backoff, { clock, timings }: ReaderTime): () => number {
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock() / 1000;
    const again = now - last < timings.tailMs;
    last = now;
    if (again) return minWaitMs + patience.next();
    patience.reset();
    return minWaitMs;
  };
}

async function failed(
  source: Source,
  ports: ReaderPorts,
  streamFault: SourceFault | null,
  poll: SourceFault,
): Promise<void> {
  const fault = worseOf(streamFault, poll);
  if (fault === null) {
    source.apply({ kind: 'not_asked' });
    return;
  }
  const before = source.tracker.state;
  await note(source, ports.gaps, { kind: 'failed', now: ports.time.clock(), fault });
  if (source.tracker.state !== before) {
    ports.report.suspectDocument(source.did);
    ports.report.log.info('a source cannot be read', {
      labeler: source.did,
      state: source.tracker.state,
      stream: streamFault?.why,
      poll: poll.why,
    });
  }
}

function waitAfter(
  round: Exclude<RoundOutcome, { kind: 'reset' }>,
  source: Source,
  ports: ReaderPorts,
  next: () => number,
): number {
  const { timings, clock, random } = ports.time;
  // Our own limits: asked again soon, and not more rarely for it. Chance keeps those that wait apart.
  if (round.kind === 'fault' && round.fault === null) return minWaitMs + random() * timings.pollMs;
  if (round.kind === 'quiet') return round.rows > 0 ? Math.min(minWaitMs, timings.pollMs) : timings.pollMs;
  if (!source.tracker.enrolled(clock())) return timings.notEnrolledMs;
  return Math.max(minWaitMs + next(), Math.min(round.retryAfterMs ?? 0, timings.maxRetryMs));
}
