import { createBackoff } from '../network/backoff.ts';
import { errorFields } from '../ops/log.ts';
import { StoreError } from '../store/errors.ts';
import { readSource } from './read-source.ts';
import type { ReaderTools, Source } from './source.ts';

/**
 * Reads a source until the signal aborts. An error inside it was caused by the source's data, or by a mistake of ours that its data
 * met: the source is faulted and read again later, and the others are not affected. Rejects only when the store fails in a
 * way that does not pass.
 */
export async function containReading(
  source: Source,
  tools: ReaderTools,
  signal: AbortSignal,
  read: typeof readSource = readSource,
): Promise<void> {
  const { rhythm, random, telemetry, log, clock, wait, recordGap } = tools;
  const patience = createBackoff({ firstMs: rhythm.firstRetryMs, capMs: rhythm.longestRetryMs, random });
  let hasFailed = false;
  while (!signal.aborted) {
    try {
      return await read(source, tools, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof StoreError && !error.retry) throw error;
      telemetry.sourceFailed('reader');
      if (!hasFailed) log.warn('reading a source failed', { labeler: source.did, ...errorFields(error) });
      hasFailed = true;
      const gap = source.tracker.failed(clock(), 'rejecting');
      if (gap) await recordGap(gap);
      await wait(rhythm.firstRetryMs + patience.next(), signal);
    }
  }
}
