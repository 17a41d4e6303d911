import { type Backoff, createBackoff } from '../../network/websocket/backoff.ts';
import { createIntake, type SourceIntake } from '../ingest/intake.ts';
import { note, type ReaderPorts, type ReaderTime } from '../ingest/ports.ts';
import { CapReached } from '../shares/daily-cap.ts';
import { problemOf, type SourceFault, worseOf } from '../state/faults.ts';
import type { SessionOutcome } from '../state/session-outcome.ts';
import type { Source } from '../state/source.ts';
import { recordCaughtUp, unread } from './catch-up.ts';
import { untilOutage } from './outage-wait.ts';
import { pollRound, type RoundOutcome } from './poll-round.ts';
import { streamSession } from './stream-session.ts';

/** Minimum wait between two connections to one source, in milliseconds, even after a connection without a failure. */
const minWaitMs = 100;

/**
 * Reads one source until the signal aborts, and pauses while the source has used up its daily allowance. Rejects only
 * if the store fails permanently.
 */
export async function readSource(source: Source, ports: ReaderPorts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const full = new AbortController();
    const intake = createIntake(source, ports, () => full.abort());
    const reading = AbortSignal.any([signal, full.signal]);
    await readByTransports(source, intake, ports, reading).catch((error: unknown) => {
      if (!(error instanceof CapReached)) throw error;
    });
    if (full.signal.aborted && !signal.aborted) await pauseUntilNextDay(source, ports, signal);
  }
}

/** Waits while the source is paused. Records the growing gap repeatedly, so that a crash does not hide it. */
async function pauseUntilNextDay(source: Source, ports: ReaderPorts, signal: AbortSignal): Promise<void> {
  const { did } = source;
  const { gaps, report } = ports;
  const { cap } = ports.acceptance;
  const { clock, timings, wait } = ports.time;
  report.log.warn('a labeler used up its daily allowance and is paused', { labeler: did, share: cap.reasonOf(did) });
  const record = (): Promise<void> =>
    note(source, gaps, { kind: 'share_used_up', now: clock(), epoch: ports.time.epoch });
  while (!signal.aborted && cap.isPaused(did)) {
    await record();
    await wait(Math.min(timings.heartbeatMs, cap.msLeft), signal);
  }
  await record();
}

/** Reads a source from its stream while the stream works, and otherwise by polls. Tries a failed stream again later. */
async function readByTransports(
  source: Source,
  intake: SourceIntake,
  ports: ReaderPorts,
  signal: AbortSignal,
): Promise<void> {
  const { clock, timings, wait } = ports.time;
  const backoffOptions = { firstMs: timings.firstRetryMs, capMs: timings.maxRetryMs, random: ports.time.random };
  const backoff = createBackoff(backoffOptions);
  const afterReset = resetWaits(createBackoff(backoffOptions), ports.time);
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
        if (session.progress) backoff.reset();
        // A stream that opens and sends no message does not count as a response.
        else if (session.poll) await failed(source, ports, null, session.poll);
        await wait(minWaitMs + (session.progress ? 0 : soon(backoff.next(), source, ports.time)), signal);
        continue;
      }
      streamFault = session;
      // Try the stream again soon after a limit of this instrument prevented it, because such a limit passes, whereas a
      // source rarely begins to support streams.
      if (session.fault === null) streamDue = now + timings.pollMs;
      else if (session.fault !== 'failed') streamDue = now + timings.streamRetryMs;
    }
    const before = unread(source, ports);
    const round: RoundOutcome = await pollRound(source, intake, ports, { before, signal });
    if (signal.aborted) return;
    if (round.kind === 'fault') await failed(source, ports, streamFault, round);
    else backoff.reset();
    if (round.kind === 'quiet') source.apply({ kind: 'pages_read' });
    if (round.kind === 'quiet') await recordCaughtUp(source, ports, before);
    const pause = round.kind === 'reset' ? afterReset() : waitAfter(round, source, ports, backoff.next);
    await wait(pause, signal);
  }
}

/** Limits a wait after a failure, so that an outage is detected soon. */
function soon(ms: number, { tracker }: Source, { clock, random }: ReaderTime): number {
  return untilOutage(ms, { failingSince: tracker.reading.failing?.since ?? null, now: clock(), random });
}

/**
 * Returns a function that computes the wait after each reset, in milliseconds: the minimum wait after the first
 * reset, and growing waits while resets repeat.
 */
function resetWaits(backoff: Backoff, { clock, timings }: ReaderTime): () => number {
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock() / 1000;
    const again = now - last < timings.tailMs;
    last = now;
    if (again) return minWaitMs + backoff.next();
    backoff.reset();
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
  const problem = problemOf(streamFault, poll);
  const before = source.tracker.state;
  await note(source, ports.gaps, { kind: 'failed', now: ports.time.clock(), fault, problem });
  if (source.tracker.state !== before) {
    ports.report.suspectDocument(source.did);
    ports.report.log.info('a labeler cannot be read', {
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
  // After a limit of this instrument, wait for a short time that does not grow. The time is random, so that sources do
  // not retry simultaneously.
  if (round.kind === 'fault' && round.fault === null) return minWaitMs + random() * timings.pollMs;
  if (round.kind === 'quiet') return round.rows > 0 ? Math.min(minWaitMs, timings.pollMs) : timings.pollMs;
  if (!source.tracker.enrolled(clock())) return timings.notEnrolledMs;
  return Math.max(minWaitMs + soon(next(), source, ports.time), Math.min(round.retryAfterMs ?? 0, timings.maxRetryMs));
}
