import type { Micros } from '../../contract/timestamp.ts';
import { type Backoff, createBackoff } from '../../network/websocket/backoff.ts';
import { ConnectError, type GuardedSocket } from '../../network/websocket/websocket.ts';
import { errorFields } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import { stoppable } from '../clock/clock.ts';
import { createIntake, type SourceIntake } from '../ingest/intake.ts';
import { note, type ReaderPorts, type ReaderTime, type ReadingPorts } from '../ingest/ports.ts';
import { CapReached } from '../shares/daily-cap.ts';
import { connectFault, problemOf, type SourceFault, worseOf } from '../state/reading-events.ts';
import { stateTimes } from '../state/reading-state.ts';
import type { Source } from '../state/source.ts';
import { recordCaughtUp, unread, untilReadable } from './catch-up.ts';
import { type Filled, fillBefore, HoleCloser } from './fill-in.ts';
import { FrameReader, type SessionOutcome } from './frame-reader.ts';
import { pollRound, type RoundOutcome } from './poll-round.ts';

/** Minimum wait between two connections to one source, in milliseconds, even after a connection without a failure. */
const minWaitMs = 100;

/**
 * Reads a source until the signal aborts. If the data of the source, a bug in this instrument or a transient failure
 * of the store causes an error, the source counts as rejecting and is read again later. Only the first error is
 * logged. Other sources are not affected. Rejects only on a permanent failure of the store.
 */
export async function containReading(
  source: Source,
  ports: ReaderPorts,
  signal: AbortSignal,
  read: typeof readSource = readSource,
): Promise<void> {
  const { gaps } = ports;
  const { timings, random, clock, wait } = ports.time;
  const { telemetry, log } = ports.report;
  const backoff = createBackoff({ firstMs: timings.firstRetryMs, capMs: timings.maxRetryMs, random });
  let hasFailed = false;
  while (!signal.aborted) {
    try {
      return await read(source, ports, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof StoreError && !error.retry) throw error;
      telemetry.sourceFailed('reader');
      if (!hasFailed)
        log.warn('an error ended the reading of a labeler; reading will be retried', {
          labeler: source.did,
          ...errorFields(error),
        });
      hasFailed = true;
      await note(source, gaps, { kind: 'failed', now: clock(), fault: 'rejecting' });
      await wait(timings.firstRetryMs + backoff.next(), signal);
    }
  }
}

/**
 * Reads one source until the signal aborts, and pauses while a daily share is used up or the disk is nearly full. Rejects
 * only if the store fails permanently.
 */
export async function readSource(source: Source, ports: ReaderPorts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const reading = stoppable(signal);
    let isFull = false;
    const intake = createIntake(source, ports, () => {
      isFull = true;
      reading.abort();
    });
    try {
      await readByTransports(source, intake, ports, reading.signal);
    } catch (error) {
      if (!(error instanceof CapReached)) throw error;
    } finally {
      reading.abort();
    }
    if (isFull && !signal.aborted) await pauseUntilNextDay(source, ports, signal);
  }
}

/** Waits while the source is paused. Records the growing gap repeatedly, so that a crash does not hide it. */
async function pauseUntilNextDay(source: Source, ports: ReaderPorts, signal: AbortSignal): Promise<void> {
  const { did } = source;
  const { gaps, report } = ports;
  const { cap } = ports.acceptance;
  const { clock, timings, wait } = ports.time;
  report.log.warn('a labeler is paused because a daily share is used up or the disk is nearly full', {
    labeler: did,
    share: cap.reasonOf(did),
  });
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
  let streamWait: StreamWait = { since: 0, ms: 0 };
  while (!signal.aborted) {
    source.apply({ kind: 'asked', now: clock() });
    const now = clock() / 1000;
    if (isOver(streamWait, now)) {
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
      if (session.fault === null) streamWait = { since: now, ms: timings.pollMs };
      else if (session.fault !== 'failed') streamWait = { since: now, ms: timings.streamRetryMs };
    }
    const before = unread(source, ports);
    const round: RoundOutcome = await pollRound(source, intake, ports, { before, signal });
    if (signal.aborted) return;
    if (round.kind === 'fault') await failed(source, ports, streamFault, round);
    else backoff.reset();
    if (round.kind === 'quiet') source.apply({ kind: 'pages_read' });
    if (round.kind === 'quiet') await recordCaughtUp(source, ports, { before, through: round.through });
    const pause = round.kind === 'reset' ? afterReset() : waitAfter(round, source, ports, backoff.next);
    await wait(pause, signal);
  }
}

/** Time of the last attempt to open a stream, and the minimum time until the next one, in milliseconds. */
interface StreamWait {
  readonly since: number;
  readonly ms: number;
}

/** Returns true if a wait has ended, or if it began while the clock was ahead, so that its end may be days away. */
function isOver({ since, ms }: StreamWait, now: number): boolean {
  return now < since || now - since >= ms;
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

/** Maximum time by which the attempts of different sources are spread, in milliseconds. */
const spreadMs = 15_000;

/** Start of a source's failures, and the time at which its next wait begins. */
interface OutageWait {
  /** Time of the first of the current failures; null if the last attempt succeeded. */
  readonly failingSince: Micros | null;
  readonly now: Micros;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
}

/**
 * Limits a wait in milliseconds so that an attempt follows soon after the failures of a source become an outage. Only
 * an attempt changes the state of the source, and without this limit the wait before that attempt could be as long as
 * the delay limit.
 */
export function untilOutage(ms: number, { failingSince, now, random }: OutageWait): number {
  const leftMs = failingSince === null ? -1 : (failingSince + stateTimes.delayLimit - now) / 1000;
  return leftMs < 0 ? ms : Math.min(ms, leftMs + random() * spreadMs);
}

/**
 * Reads one connection to `subscribeLabels`, from its opening to its end. While the stream is read live, polls fill in
 * the labels from before its first live frame. A resumed stream is requested from the last frame that was read: if
 * another frame has the number of that frame, the labeler's database was replaced.
 */
export async function streamSession(
  source: Source,
  intake: SourceIntake,
  ports: ReadingPorts,
  outer: AbortSignal,
): Promise<SessionOutcome> {
  // Charge the session for its setup, so that a connection that ends immediately is not reopened immediately.
  ports.pace.charge(source.did, { controls: 1 });
  await untilReadable(source, ports, outer);
  const slot = await ports.query.streams.acquire({ host: new URL(source.endpoint).host, ...source.peer }, 0, outer);
  if (typeof slot === 'string') {
    if (slot === 'busy') ports.report.telemetry.hostFull('stream');
    // The caller polls the labeler without an open connection, and requests a stream again later.
    return { kind: 'fault', fault: null, why: 'host_full', retryAfterMs: null };
  }
  const { signal, abort: stop } = stoppable(outer);
  source.apply({ kind: 'stream_opening' });
  const session = new FrameReader(source, intake, ports, signal);
  try {
    const socket = await opened(source, session, ports, signal);
    source.apply({ kind: 'stream_opened' });
    const openedAt = ports.time.clock();
    const { resumed } = source.progress.stream;
    const storedThrough = (): Micros => session.storedThrough;
    const filling = fillBefore(source, intake, ports, { resumed, openedAt, storedThrough, signal });
    let unreadable = false;
    void socket.closed.then(({ reason }) => {
      unreadable = reason === 'too_large';
      session.close();
    });
    closeAfter(filling, session);
    const holes = new HoleCloser(source, intake, ports, { filled: filling, end: () => session.close(), signal });
    const outcome = await session.run({ filled: filling, openedAt, resume: () => socket.resume(), holes });
    stop();
    socket.close();
    const { reset, fault, replayFrom } = await filling;
    if (reset || (await holes.ended()) === 'reset') return { kind: 'reset' };
    // A frame that is too large would arrive again after each reconnect. Polls therefore read the labels of that frame,
    // and the stream begins after the frame.
    if (unreadable)
      source.apply({ kind: 'hole_found', now: ports.time.clock(), epoch: ports.time.epoch, before: null });
    if (unreadable || replayFrom !== null) await intake.applyInTurn({ kind: 'number_forgotten' });
    source.apply({ kind: 'replay_found', cursor: replayFrom });
    // The samples that showed where to begin a replay are a response too.
    const answered = session.answered || replayFrom !== null;
    return outcome.kind === 'ended' ? { ...outcome, poll: answered ? null : fault } : outcome;
  } catch (error) {
    if (outer.aborted) return { kind: 'ended', progress: false };
    if (!(error instanceof ConnectError)) throw error;
    if (error.kind === 'busy') ports.report.telemetry.hostFull('stream');
    return { kind: 'fault', ...connectFault(error) };
  } finally {
    stop();
    session.release();
    slot();
  }
}

/**
 * Closes a session after a fill-in that found a reset, after which the next session reads all labels again, or a replay,
 * for which it opens the stream at an earlier cursor. Also closes the session after an error, which the caller handles.
 */
function closeAfter(filling: Promise<Filled>, session: FrameReader): void {
  filling.then(
    ({ reset, replayFrom }) => {
      if (reset || replayFrom !== null) session.close();
    },
    () => session.close(),
  );
}

/** Opens the stream of a source at the stored position, and passes its frames to a session. */
async function opened(
  source: Source,
  session: FrameReader,
  { query }: Pick<ReadingPorts, 'query'>,
  signal: AbortSignal,
): Promise<GuardedSocket> {
  // Frames may arrive before `openStream` resolves.
  let socket: GuardedSocket | null = null;
  socket = await query.openStream(
    source,
    source.progress.stream.cursor,
    {
      partialMs: 30_000,
      onPartial: (bytes) => session.holdPartial(bytes),
      onFrame: (data) => {
        if (session.push(data)) socket?.pause();
      },
      onRead: (cpuMs) => {
        if (session.charge(cpuMs)) socket?.pause();
      },
    },
    signal,
  );
  return socket;
}
