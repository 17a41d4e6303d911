import type { Micros } from '../../contract/timestamp.ts';
import type { ByteAccount } from '../../input/decoded-bytes.ts';
import { decodedCost } from '../../input/limits.ts';
import { createBackoff } from '../../network/websocket/backoff.ts';
import { ConnectError } from '../../network/websocket/websocket.ts';
import { stoppable } from '../clock/clock.ts';
import type { SourceIntake } from '../ingest/intake.ts';
import { fillTarget, type LabelQuery, note, type ReaderTime, type ReadingPorts } from '../ingest/ports.ts';
import { type SampledPage, searchCursor } from '../poll/cursor-search.ts';
import { pageLimit } from '../poll/query-labels.ts';
import { CapReached } from '../shares/daily-cap.ts';
import type { SourceFault } from '../state/reading-events.ts';
import type { Source } from '../state/source.ts';
import { decodeFrame, type LabelFrame, maxWaitingBytes, scanFrame } from '../stream/frame-queue.ts';
import type { StreamOwner } from '../stream/open-stream.ts';
import { recordCaughtUp, unread } from './catch-up.ts';
import { authoredOf, pollRound, type RoundOutcome } from './poll-round.ts';

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

/**
 * Finds the cursor from which the stream of a labeler without `queryLabels` delivers all labels to be stored, by
 * sampling the stream. Stores the sampled labels if it finds a cursor. Returns null if a connection fails, if the
 * search takes too long or needs too much memory, or if the samples show no order or no label from before `openedAt`: a
 * server that ignores cursors sends only live labels.
 */
export async function findStreamStart(
  source: StreamOwner,
  intake: Pick<SourceIntake, 'keep'>,
  ports: SearchPorts,
  openedAt: Micros,
  signal: AbortSignal,
): Promise<number | null> {
  const samples = new Map<number, Sample>();
  const search = stoppable(signal);
  void ports.time.wait(maxQuietPeriods * ports.time.timings.resumeMs, search.signal).then(search.abort);
  const memory = ports.query.memory.decoded.open();
  let held = 0;
  const read = async (cursor: number): Promise<SampledPage> => {
    const taken = samples.get(cursor) ?? (await sample(source, cursor, { ...ports, held: memory }, search.signal));
    if (!samples.has(cursor)) held += taken.bytes;
    if (!signal.aborted && (search.signal.aborted || held > maxHeldBytes)) throw new SearchTooLong();
    samples.set(cursor, taken);
    return { authored: taken.labels.map(authoredOf), cursor: taken.newest };
  };
  const start = async (cursor: number): Promise<number> => {
    for (const { labels } of samples.values()) await intake.keep(labels, signal);
    return cursor;
  };
  try {
    const first = await read(0);
    if (!first.authored.some((authored) => authored !== null && authored < openedAt)) return null;
    if (first.authored.length < pageLimit) return await start(0);
    const found = await searchCursor(fillTarget(ports.time.epoch, ports.time.clock()), read);
    return found.kind === 'found' ? await start(found.cursor) : null;
  } catch (error) {
    if (error instanceof ConnectError || error instanceof SearchTooLong) return null;
    // The search exceeded its maximum duration.
    if (search.signal.aborted && !signal.aborted) return null;
    throw error;
  } finally {
    search.abort();
    memory.release();
  }
}

/** Ports that the search uses. */
interface SearchPorts {
  readonly query: Pick<LabelQuery, 'openStream' | 'memory'>;
  readonly time: Pick<ReaderTime, 'timings' | 'wait' | 'clock' | 'epoch'>;
}

/** Error of a search that takes too long or requires too much memory. */
class SearchTooLong extends Error {}

interface Sample {
  readonly labels: readonly unknown[];
  /** Number of the last frame of the sample, or null if the sample has no frame. */
  readonly newest: number | null;
  /** Total size of the frames of the sample, in bytes. */
  readonly bytes: number;
}

/** Maximum number of frames of a sample. */
const maxFrames = 1_000;
/** Maximum total size of all samples of a search, in bytes. */
const maxHeldBytes = 4 * maxWaitingBytes;
/** Maximum duration of a sample, as a multiple of the time after which a stream counts as quiet. */
const maxSampleQuietPeriods = 3;

/** Maximum duration of a search, as a multiple of the time after which a stream counts as quiet. */
const maxQuietPeriods = 60;

/**
 * Reads the labels after a cursor until these fill a page, until the stream is live, quiet or closed, or until a limit
 * of the sample is reached. Throws `SearchTooLong` if there is not enough memory.
 */
async function sample(
  source: StreamOwner,
  cursor: number,
  { query, time, held }: SearchPorts & { readonly held: ByteAccount },
  signal: AbortSignal,
): Promise<Sample> {
  const { timings, wait } = time;
  const openedAt = time.clock();
  const frames: Extract<LabelFrame, { kind: 'labels' }>[] = [];
  const reading = stoppable(signal);
  let silence = stoppable(reading.signal);
  let [labels, bytes, count] = [0, 0, 0];
  let hasMemory = true;
  const socket = await query.openStream(
    source,
    cursor,
    {
      onFrame: (data) => {
        // Frames may arrive while the connection closes, and must not occupy more memory.
        if (reading.signal.aborted) return;
        const { fault, elements } = scanFrame(data);
        // Abandon the search if there is not enough memory, because other sources also wait for memory.
        hasMemory = fault !== null || held.tryTake(decodedCost(data.byteLength, elements));
        if (!hasMemory) return reading.abort();
        const frame: LabelFrame = fault === null ? decodeFrame(data) : { kind: 'malformed' };
        count += 1;
        bytes += data.byteLength;
        const full = bytes >= maxWaitingBytes || count >= maxFrames;
        if (full || frame.kind === 'future_cursor') reading.abort();
        // Ignore a frame without labels, so that a stream that sends only such frames counts as quiet.
        if (frame.kind !== 'labels') return;
        frames.push(frame);
        labels += frame.labels.length;
        const live = frame.labels.some((label) => (authoredOf(label) ?? 0) >= openedAt);
        if (live || labels >= pageLimit) reading.abort();
        silence.abort();
      },
    },
    signal,
  );
  void socket.closed.then(reading.abort);
  void wait(maxSampleQuietPeriods * timings.resumeMs, reading.signal).then(reading.abort);
  while (!reading.signal.aborted) {
    const waiting = stoppable(reading.signal);
    silence = waiting;
    await wait(timings.resumeMs, waiting.signal);
    if (!waiting.signal.aborted) break;
  }
  reading.abort();
  socket.close();
  if (!hasMemory) throw new SearchTooLong();
  return { labels: frames.flatMap((frame) => frame.labels), newest: frames.at(-1)?.seq ?? null, bytes };
}
