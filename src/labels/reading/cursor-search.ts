import type { Micros } from '../../contract/timestamp.ts';
import type { ByteAccount } from '../../input/decoded-bytes.ts';
import { ConnectError } from '../../network/websocket/websocket.ts';
import { hour, minute } from '../../store/time.ts';
import { stoppable } from '../clock/clock.ts';
import type { SourceIntake } from '../ingest/intake.ts';
import type { ReadingPorts } from '../ingest/ports.ts';
import { authoredOf } from '../label/label-fields.ts';
import type { Source } from '../state/source.ts';
import { type LabelFrame, maxWaitingBytes, readFrame } from '../stream/frame-queue.ts';
import { fillTarget } from './catch-up.ts';
import { pageLimit } from './pages.ts';

/**
 * Search for the rows authored since a target time, in the cursor space of `queryLabels`. A cursor is a row id, and a
 * page contains the rows after that id. Ids contain no time, so the search returns a cursor only if sampled pages show
 * that ids increase with the authored time.
 */

/** A sampled page, reduced to the parts that the search uses. */
export interface SampledPage {
  /**
   * Authored times of the labels; null for an undated label. The order is that of the page and need not be
   * chronological.
   */
  readonly authored: readonly (Micros | null)[];
  /** The page's cursor, or null if the cursor is missing or not decimal. */
  readonly cursor: number | null;
}

/** Result of the search. */
type CursorSearch =
  /** Cursor that the search found: all rows authored since the target are after this cursor. */
  { readonly kind: 'found'; readonly cursor: number } | { readonly kind: 'unverified'; readonly why: string };

/**
 * Margin before the target, in microseconds, because labelers do not store labels exactly in the order of their
 * authored times.
 */
const searchMargin = hour;
/** Maximum decrease of authored times within and between pages that does not count as disorder, in microseconds. */
const slack = 10 * minute;
const maxProbes = 80;
/** Precision at which the search ends, in ids: about one page. */
const precision = 100;

/**
 * Searches for a cursor that precedes all rows authored since `target`, as closely as the margin and the precision
 * permit. Returns `unverified` if the samples show no order, or if the search needs too many samples.
 */
export async function searchCursor(
  target: Micros,
  read: (cursor: number) => Promise<SampledPage>,
): Promise<CursorSearch> {
  const samples = new Map<number, SampledPage>();
  const sample = async (cursor: number): Promise<SampledPage> => {
    const page = samples.get(cursor) ?? (await read(cursor));
    samples.set(cursor, page);
    return page;
  };
  const earliest = target - searchMargin;
  /**
   * Returns true if no higher cursor needs to be searched: the page after the cursor has no dated row, or begins at
   * most the margin before the target.
   */
  const beyond = async (cursor: number): Promise<boolean> => {
    const at = startOf(await sample(cursor));
    return at === null || at >= earliest;
  };

  let low = 0;
  if (!(await beyond(0))) {
    let high = Math.max(1, samples.get(0)?.cursor ?? 1);
    while (samples.size < maxProbes && !(await beyond(high))) {
      low = high;
      high *= 2;
    }
    while (samples.size < maxProbes && high - low > precision) {
      const middle = Math.floor((low + high) / 2);
      if (await beyond(middle)) high = middle;
      else low = middle;
    }
    if (samples.size >= maxProbes)
      return { kind: 'unverified', why: 'the search exceeds the maximum number of probes' };
  }
  const defect = disorder([...samples].sort(([a], [b]) => a - b));
  return defect === null ? { kind: 'found', cursor: low } : { kind: 'unverified', why: defect };
}

/**
 * Returns the reason why sampled pages, sorted by cursor, do not show that ids increase with time, or null if they do.
 */
function disorder(samples: readonly (readonly [number, SampledPage])[]): string | null {
  let before = Number.NEGATIVE_INFINITY;
  for (const [cursor, page] of samples) {
    if (page.authored.length > 0) {
      if (page.cursor === null) return 'not a decimal cursor';
      if (page.cursor <= cursor) return 'a cursor that does not advance';
    }
    if (isShuffled(page.authored)) return 'a page out of order';
    const start = startOf(page);
    if (start === null) continue;
    if (start < before - slack) return 'pages out of order';
    before = Math.max(before, start);
  }
  return null;
}

/**
 * Returns true if authored times decrease repeatedly within a page. Single labels with a wrong date (years ago, next
 * year) are common; each causes one decrease.
 */
export function isShuffled(authored: readonly (Micros | null)[]): boolean {
  const dated = authored.filter((at) => at !== null);
  let decreases = 0;
  for (const [i, at] of dated.entries()) {
    if (i > 0 && at < (dated[i - 1] ?? at) - slack) decreases += 1;
  }
  return decreases > 2 + dated.length / 10;
}

/**
 * Returns the time at which a page begins: the median of the times of its first labels, which a single wrong date
 * hardly changes. Returns null if no label has a date.
 */
function startOf({ authored }: SampledPage): Micros | null {
  const first = authored.filter((at) => at !== null).slice(0, 9);
  return first.sort((a, b) => a - b)[Math.floor(first.length / 2)] ?? null;
}

/**
 * Finds the cursor from which the stream of a labeler without `queryLabels` delivers all labels to be stored, by
 * sampling the stream. Stores the sampled labels if it finds a cursor. Returns null if a connection fails, if the
 * search takes too long or needs too much memory, or if the samples show no order or no label from before `openedAt`: a
 * server that ignores cursors sends only live labels.
 */
export async function findStreamStart(
  source: Pick<Source, 'endpoint' | 'peer'>,
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
  readonly query: Pick<ReadingPorts['query'], 'openStream' | 'memory'>;
  readonly time: Pick<ReadingPorts['time'], 'timings' | 'wait' | 'clock' | 'epoch'>;
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
  source: Pick<Source, 'endpoint' | 'peer'>,
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
        const frame = readFrame(data, (cost) => held.tryTake(cost));
        if (frame.kind === 'no_memory') {
          // Abandon the search, because other sources also wait for memory.
          hasMemory = false;
          return reading.abort();
        }
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
