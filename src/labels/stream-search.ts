import type { Micros } from '../contract/timestamp.ts';
import { ConnectError } from '../network/connect-error.ts';
import { openSocket } from '../network/websocket.ts';
import { type SampledPage, searchCursor } from './cursor-search.ts';
import { mostWaitingBytes } from './frame-queue.ts';
import { type LabelFrame, readFrame } from './frames.ts';
import type { SourceIntake } from './intake.ts';
import { authoredOf } from './poll-round.ts';
import { pageLimit } from './query-labels.ts';
import { fillTarget, type ReaderTools, type Source } from './source.ts';
import { maxFrameBytes, streamUrl } from './stream-url.ts';

/**
 * Where the stream of a labeler that answers no queries has to begin to hold all that is to be stored, found in samples
 * of it; null where they show no order, or nothing from before `openedAt`: a server that ignores cursors gives what is
 * live alone.
 */
export async function findStreamStart(
  source: Source,
  intake: SourceIntake,
  tools: ReaderTools,
  openedAt: Micros,
  signal: AbortSignal,
): Promise<number | null> {
  const samples = new Map<number, Sample>();
  const read = async (cursor: number): Promise<SampledPage> => {
    const { labels, newest } = samples.get(cursor) ?? (await sample(source.endpoint, cursor, tools, signal));
    samples.set(cursor, { labels, newest });
    return { authored: labels.map(authoredOf), cursor: newest };
  };
  const start = async (cursor: number): Promise<number> => {
    for (const { labels } of samples.values()) await intake.keep(labels, signal);
    return cursor;
  };
  try {
    const first = await read(0);
    if (!first.authored.some((authored) => authored !== null && authored < openedAt)) return null;
    if (first.authored.length < pageLimit) return await start(0);
    const found = await searchCursor(fillTarget(tools.epoch, tools.clock()), read);
    return found.kind === 'found' ? await start(found.cursor) : null;
  } catch (error) {
    if (error instanceof ConnectError) return null;
    throw error;
  }
}

interface Sample {
  readonly labels: readonly unknown[];
  /** Number of its last frame; null where none came. */
  readonly newest: number | null;
}

/** Frames of a sample, whatever they hold. */
const mostFrames = 1_000;

/** As many labels behind a cursor as a page would hold, or what came until the stream was live or quiet. */
async function sample(
  endpoint: string,
  cursor: number,
  { policy, rhythm, wait, clock }: ReaderTools,
  signal: AbortSignal,
): Promise<Sample> {
  const openedAt = clock();
  const frames: LabelFrame[] = [];
  const enough = new AbortController();
  let quiet = new AbortController();
  let [labels, bytes] = [0, 0];
  const socket = await openSocket(
    {
      ...{ url: streamUrl(endpoint, cursor), policy, handshakeMs: rhythm.requestMs, closeMs: 2_000, maxFrameBytes },
      ...{ pingMs: 30_000, pongMs: 20_000, idleMs: 86_400_000 },
      onFrame: (data) => {
        if (bytes >= mostWaitingBytes || frames.length >= mostFrames) return;
        const frame = readFrame(data);
        frames.push(frame);
        bytes += data.byteLength;
        labels += frame.kind === 'labels' ? frame.labels.length : 0;
        const live = frame.kind === 'labels' && frame.labels.some((label) => (authoredOf(label) ?? 0) >= openedAt);
        const full = labels >= pageLimit || bytes >= mostWaitingBytes || frames.length >= mostFrames;
        if (live || full || frame.kind === 'future_cursor') enough.abort();
        quiet.abort();
      },
    },
    signal,
  );
  void socket.closed.then(() => enough.abort());
  const over = AbortSignal.any([signal, enough.signal]);
  while (!over.aborted) {
    quiet = new AbortController();
    const waiting = quiet;
    await wait(rhythm.resumeMs, AbortSignal.any([over, quiet.signal]));
    if (!waiting.signal.aborted) break;
  }
  socket.close();
  const read = frames.filter((frame) => frame.kind === 'labels');
  return { labels: read.flatMap((frame) => frame.labels), newest: read.at(-1)?.seq ?? null };
}
