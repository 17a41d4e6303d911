import type { Micros } from '../../contract/timestamp.ts';
import type { ByteAccount } from '../../input/decoded-bytes.ts';
import { decodedCost } from '../../input/limits.ts';
import { ConnectError } from '../../network/websocket/connect-error.ts';
import type { SourceIntake } from '../ingest/intake.ts';
import { fillTarget, type LabelQuery, type ReaderTime } from '../ingest/ports.ts';
import { decodeFrame, type LabelFrame, scanFrame } from '../label/frames.ts';
import { type SampledPage, searchCursor } from '../poll/cursor-search.ts';
import { pageLimit } from '../poll/query-labels.ts';
import { maxWaitingBytes } from '../stream/frame-queue.ts';
import type { StreamOwner } from '../stream/open-stream.ts';
import { authoredOf } from './poll-round.ts';

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
  const over = new AbortController();
  const within = AbortSignal.any([signal, over.signal]);
  void ports.time.wait(maxQuietPeriods * ports.time.timings.resumeMs, within).then(() => over.abort());
  const memory = ports.query.memory.decoded.open();
  let held = 0;
  const read = async (cursor: number): Promise<SampledPage> => {
    const taken = samples.get(cursor) ?? (await sample(source, cursor, { ...ports, held: memory }, within));
    if (!samples.has(cursor)) held += taken.bytes;
    if (!signal.aborted && (over.signal.aborted || held > maxHeldBytes)) throw new SearchTooLong();
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
    if (over.signal.aborted && !signal.aborted) return null;
    throw error;
  } finally {
    over.abort();
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
  const enough = new AbortController();
  let quiet = new AbortController();
  let [labels, bytes, count] = [0, 0, 0];
  let hasMemory = true;
  const socket = await query.openStream(
    source,
    cursor,
    {
      onFrame: (data) => {
        // Frames may arrive while the connection closes, and must not occupy more memory.
        if (enough.signal.aborted) return;
        const { fault, elements } = scanFrame(data);
        // Abandon the search if there is not enough memory, because other sources also wait for memory.
        hasMemory = fault !== null || held.tryTake(decodedCost(data.byteLength, elements));
        if (!hasMemory) return enough.abort();
        const frame: LabelFrame = fault === null ? decodeFrame(data) : { kind: 'malformed' };
        count += 1;
        bytes += data.byteLength;
        const full = bytes >= maxWaitingBytes || count >= maxFrames;
        if (full || frame.kind === 'future_cursor') enough.abort();
        // Ignore a frame without labels, so that a stream that sends only such frames counts as quiet.
        if (frame.kind !== 'labels') return;
        frames.push(frame);
        labels += frame.labels.length;
        const live = frame.labels.some((label) => (authoredOf(label) ?? 0) >= openedAt);
        if (live || labels >= pageLimit) enough.abort();
        quiet.abort();
      },
    },
    signal,
  );
  void socket.closed.then(() => enough.abort());
  const over = AbortSignal.any([signal, enough.signal]);
  void wait(maxSampleQuietPeriods * timings.resumeMs, over).then(() => enough.abort());
  while (!over.aborted) {
    quiet = new AbortController();
    const waiting = quiet;
    await wait(timings.resumeMs, AbortSignal.any([over, quiet.signal]));
    if (!waiting.signal.aborted) break;
  }
  socket.close();
  if (!hasMemory) throw new SearchTooLong();
  return { labels: frames.flatMap((frame) => frame.labels), newest: frames.at(-1)?.seq ?? null, bytes };
}
