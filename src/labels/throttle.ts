import { type ReaderTools, type Source, unreadSince } from './source.ts';
import { delayLimit } from './tracker.ts';

/**
 * Waits until a source may be read. A short wait is a delay; while one lasts longer than the delay limit, what the source
 * gives meanwhile is a gap that grows.
 */
export async function untilReadable(source: Source, tools: ReaderTools, signal: AbortSignal): Promise<void> {
  const { pace, wait, clock } = tools;
  const waiting = pace.ready(source.did, signal);
  if (waiting === null) return;
  const ready = new AbortController();
  const state = { isReady: false };
  const done = waiting.then(() => {
    state.isReady = true;
    ready.abort();
  });
  while (!state.isReady && !signal.aborted) {
    await Promise.race([done, wait(delayLimit / 1_000, AbortSignal.any([signal, ready.signal]))]);
    if (state.isReady || signal.aborted) break;
    const [start, end] = [unreadSince(source, tools.epoch), clock()];
    if (start < end) await tools.recordGap({ source: source.did, start, end, reason: 'ingest_paused' });
  }
  await done;
}
