import { createBackoff } from '../../network/websocket/backoff.ts';
import { errorFields } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import { note, type ReaderPorts } from '../ingest/ports.ts';
import type { Source } from '../state/source.ts';
import { readSource } from './read-source.ts';

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
