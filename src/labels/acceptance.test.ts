import { expect, test } from 'vitest';
import { silentLog } from '../ops/log.ts';
import { micros } from '../store/time.ts';
import { type AcceptedPage, PageAcceptance } from './acceptance.ts';
import { noTelemetry } from './telemetry.ts';
import { wait } from './wait.ts';

const page: AcceptedPage = { observations: [], refusals: [], positions: [], clockEra: 0 };

function standing(): PageAcceptance {
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
