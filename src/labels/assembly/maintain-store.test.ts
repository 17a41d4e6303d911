import { expect, test, vi } from 'vitest';
import { micros } from '../../store/time.ts';
import { maintainStore } from './maintain-store.ts';

function logOf() {
  return { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
}

test('only days that could not be sealed are logged', async () => {
  const log = logOf();
  const upkeep = { sealed: ['2024-10-04'], postponed: [] as string[], expired: [] };
  const store = { maintain: () => Promise.resolve(upkeep) };
  await maintainStore(store, micros(0), log as never);
  expect(log.warn).not.toHaveBeenCalled();
  upkeep.postponed.push('2024-10-05');
  await maintainStore(store, micros(0), log as never);
  expect(log.warn.mock.calls).toEqual([
    ['some days of the store could not be sealed; sealing will be retried', { days: '2024-10-05' }],
  ]);
});
