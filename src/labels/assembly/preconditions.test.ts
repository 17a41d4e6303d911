import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { silentLog } from '../../ops/log.ts';
import { micros } from '../../store/time.ts';
import { clockAtStart, type Preconditions } from './preconditions.ts';

/** Runs `clockAtStart` on a monotonic clock with an arbitrary origin. `verdictAt` judges the clock after `ms`. */
async function runStart(
  verdictAt: (ms: number) => boolean | null,
  waitMs: number,
  abortAfterMs = Number.POSITIVE_INFINITY,
) {
  const begun = performance.now();
  const elapsed = (): number => Math.round(performance.now() - begun);
  const monotonic = (): number => 77_000_000_000 + elapsed() * 1000;
  const preconditions: Pick<Preconditions, 'look' | 'clockRight'> = {
    look: () => ({ pause: null, gap: null, since: null }),
    get clockRight() {
      return verdictAt(elapsed());
    },
  };
  const warnings: string[] = [];
  const pauses: (string | null)[] = [];
  const abort = new AbortController();
  if (abortAfterMs < Number.POSITIVE_INFINITY) setTimeout(() => abort.abort(), abortAfterMs);
  const ended = clockAtStart(
    preconditions,
    {
      clocks: { wall: () => micros(0), monotonic },
      log: { ...silentLog, warn: (text) => void warnings.push(text) },
      telemetry: { paused: (reason) => void pauses.push(reason) },
      waitMs,
    },
    abort.signal,
  ).then(elapsed);
  await vi.advanceTimersByTimeAsync(60_000);
  return { endedAfterMs: await Promise.race([ended, Promise.resolve(null)]), warnings, pauses };
}

describe('the check of the clock at startup', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('ends as soon as an upstream confirms the clock', async () => {
    const start = await runStart((ms) => (ms >= 100 ? true : null), 5_000);
    expect(start).toEqual({ endedAfterMs: 100, warnings: [], pauses: [] });
  });

  test('ends after the maximum wait if no upstream responds', async () => {
    const start = await runStart(() => null, 5_000);
    expect(start).toEqual({ endedAfterMs: 5_000, warnings: [], pauses: [] });
  });

  test('continues beyond the maximum wait while an upstream contradicts the clock, and logs the contradiction once', async () => {
    const start = await runStart((ms) => ms >= 20_000, 5_000);
    expect(start).toEqual({
      endedAfterMs: 20_000,
      warnings: [
        'the local clock differs from the clock of an upstream: observation begins when they agree; check the clock',
      ],
      pauses: ['clock_doubtful', null],
    });
  });

  test('ends when the instrument is stopped', async () => {
    expect((await runStart(() => false, 5_000, 1_000)).endedAfterMs).toBe(1_000);
  });
});
