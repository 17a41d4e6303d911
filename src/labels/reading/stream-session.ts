import { ConnectError } from '../../network/websocket/connect-error.ts';
import type { GuardedSocket } from '../../network/websocket/websocket.ts';
import type { SourceIntake } from '../ingest/intake.ts';
import type { ReadingPorts } from '../ingest/ports.ts';
import { connectFault } from '../state/faults.ts';
import type { SessionOutcome } from '../state/session-outcome.ts';
import type { Source } from '../state/source.ts';
import type { StreamEvents } from '../stream/open-stream.ts';
import { type Filled, fillBefore } from './fill-before.ts';
import { FrameReader } from './frame-reader.ts';
import { HoleCloser } from './hole-closer.ts';
import { untilReadable } from './throttle.ts';

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
  const stop = new AbortController();
  const signal = AbortSignal.any([outer, stop.signal]);
  source.apply({ kind: 'stream_opening' });
  const session = new FrameReader(source, intake, ports, signal);
  try {
    const socket = await opened(source, session, ports, signal);
    source.apply({ kind: 'stream_opened' });
    const openedAt = ports.time.clock();
    const { resumed } = source.progress.stream;
    const filling = fillBefore(source, intake, ports, { resumed, openedAt, signal });
    let unreadable = false;
    void socket.closed.then(({ reason }) => {
      unreadable = reason === 'too_large';
      session.close();
    });
    closeAfter(filling, session);
    const holes = new HoleCloser(source, intake, ports, { filled: filling, end: () => session.close(), signal });
    const outcome = await session.run({ filled: filling, openedAt, resume: () => socket.resume(), holes });
    stop.abort();
    socket.close();
    const { reset, fault, replayFrom } = await filling;
    if (reset || (await holes.ended()) === 'reset') return { kind: 'reset' };
    // A frame that is too large would arrive again after each reconnect. Polls therefore read the labels of that frame,
    // and the stream begins after the frame.
    if (unreadable)
      source.apply({ kind: 'hole_found', now: ports.time.clock(), epoch: ports.time.epoch, before: null });
    if (unreadable || replayFrom !== null) await intake.applyInTurn({ kind: 'number_forgotten' });
    source.apply({ kind: 'replay_found', cursor: replayFrom });
    return outcome.kind === 'ended' ? { ...outcome, poll: session.answered ? null : fault } : outcome;
  } catch (error) {
    stop.abort();
    if (outer.aborted) return { kind: 'ended', progress: false };
    if (!(error instanceof ConnectError)) throw error;
    if (error.kind === 'busy') ports.report.telemetry.hostFull('stream');
    return { kind: 'fault', ...connectFault(error) };
  } finally {
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
  const events: StreamEvents = {
    partialMs: 30_000,
    onPartial: (bytes) => session.holdPartial(bytes),
    onFrame: (data) => {
      if (session.push(data)) socket?.pause();
    },
    onRead: (cpuMs) => {
      if (session.charge(cpuMs)) socket?.pause();
    },
  };
  socket = await query.openStream(source, source.progress.stream.cursor, events, signal);
  return socket;
}
