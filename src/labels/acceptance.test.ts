import { expect, test } from 'vitest';
import { silentLog } from '../ops/log.ts';
import type { StoredGap } from '../store/port.ts';
import { hour, micros } from '../store/time.ts';
import { type AcceptanceOptions, type AcceptedPage, PageAcceptance } from './acceptance.ts';
import { noTelemetry } from './telemetry.ts';
import { wait } from './wait.ts';

const page: AcceptedPage = { observations: [], refusals: [], positions: [], clockEra: 0 };

function standing(change: Partial<AcceptanceOptions> = {}): PageAcceptance {
  return new PageAcceptance({
    store: { append: () => Promise.reject(new Error('not reached')), recordGap: () => Promise.resolve() },
    clock: () => micros(1),
    obstacle: () => ({ pause: 'disk_low', gap: null }),
    clockEra: () => 0,
    wait,
    retryMs: 60_000,
    log: silentLog,
    telemetry: noTelemetry,
    fatal: (error) => {
      throw error;
    },
    ...change,
  });
}

test('a page that waits in a pause is refused at the end, and so is one that comes after it', async () => {
  const acceptance = standing();
  const ends = new AbortController();
  const running = acceptance.run(ends.signal);
  const waiting = acceptance.accept(page);
  const next = waiting.catch(() => acceptance.accept(page));
  ends.abort();
  await running;
  await expect(waiting).rejects.toThrow('stopped');
  await expect(next).rejects.toThrow('stopped');
  await expect(acceptance.accept(page)).rejects.toThrow('stopped');
});

test('a pause begins where the gap of a clock that was set ends, though the clock goes on between the two', async () => {
  const gaps: StoredGap[] = [];
  let now = hour;
  const stepped = { start: micros(0), end: micros(now) };
  const looks = [stepped];
  const rounds = new AbortController();
  const acceptance = standing({
    store: {
      append: () => Promise.reject(new Error('not reached')),
      recordGap: (gap) => {
        gaps.push(gap);
        return Promise.resolve();
      },
    },
    clock: () => {
      now += 1_000;
      return micros(now);
    },
    obstacle: () => ({ pause: 'clock_doubtful', gap: looks.pop() ?? null }),
    wait: () => {
      rounds.abort();
      return Promise.resolve();
    },
  });
  const refused = acceptance.accept(page).catch((error: unknown) => error);
  await acceptance.run(rounds.signal);
  await refused;
  const pause = { source: null, reason: 'ingest_paused' };
  expect(gaps).toEqual([
    { ...pause, ...stepped },
    { ...pause, start: stepped.end, end: hour + 2_000 },
  ]);
});
