import { note, type ReaderPorts } from '../ingest/ports.ts';
import { delayLimit } from '../state/reading-state.ts';
import type { Source } from '../state/source.ts';

/**
 * Waits until a source may be read or the signal aborts.
 *
 * A short wait is only a delay; a wait that exceeds the delay limit is recorded as a growing gap.
 */
export async function untilReadable(
  source: Source,
  ports: Pick<ReaderPorts, 'pace' | 'gaps' | 'time'>,
  signal: AbortSignal,
): Promise<void> {
  const { pace, time } = ports;
  const waiting = pace.ready(source.did, signal);
  if (waiting === null) return;
  const ready = new AbortController();
  const state = { isReady: false };
  const done = waiting.then(() => {
    state.isReady = true;
    ready.abort();
  });
  while (!state.isReady && !signal.aborted) {
    await Promise.race([done, time.wait(delayLimit / 1_000, AbortSignal.any([signal, ready.signal]))]);
    if (state.isReady || signal.aborted) break;
    await note(source, ports.gaps, { kind: 'throttled', now: time.clock(), epoch: time.epoch });
  }
  await done;
}
