import { expect, test } from 'vitest';
import { silentLog } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import type { Batch, StoreWriter } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import { patientStore } from '../assembly/take-over.ts';

const batch: Batch = { at: micros(1), observations: [], refusals: [], positions: [] };
const none = { accepted: 0, duplicates: [], first: null, last: null };

function storeThatRejects(errors: StoreError[]): StoreWriter {
  const fake = {
    append: async () => {
      const error = errors.shift();
      if (error) throw error;
      return none;
    },
  } satisfies Partial<StoreWriter>;
  return fake as Partial<StoreWriter> as StoreWriter;
}

test('a failed change is retried until the store accepts it', async () => {
  const waits: number[] = [];
  const store = patientStore(storeThatRejects([new StoreError('disk_full', 'full'), new StoreError('busy', 'busy')]), {
    ...{ log: silentLog, signal: new AbortController().signal },
    wait: async (ms) => void waits.push(ms),
  });
  expect(await store.append(batch)).toEqual(none);
  expect(waits).toEqual([500, 500]);
});

test('a change is not repeated after a permanent failure or after a stop', async () => {
  const stopped = AbortSignal.abort();
  const options = { log: silentLog, wait: async () => undefined };
  const fenced = storeThatRejects([new StoreError('fenced', 'fenced')]);
  const running = new AbortController().signal;
  await expect(patientStore(fenced, { ...options, signal: running }).append(batch)).rejects.toThrow('fenced');
  const full = storeThatRejects([new StoreError('disk_full', 'full')]);
  await expect(patientStore(full, { ...options, signal: stopped }).append(batch)).rejects.toThrow('full');
});
