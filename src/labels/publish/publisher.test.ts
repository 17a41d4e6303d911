import { expect, test } from 'vitest';
import type { Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import { noTelemetry } from '../shares/telemetry.ts';
import { createPublisher } from './publisher.ts';

type PublisherOptions = Parameters<typeof createPublisher>[0];

test('a publication is counted and logged as not published if the store is temporarily unreadable', async () => {
  const lines: string[] = [];
  let failures = 0;
  const options: Partial<PublisherOptions> = {
    settings: { artifacts: '/nowhere', windowDays: 30, origin: 'simulated' },
    store: {} as PublisherOptions['store'],
    assertWriter: () => Promise.reject(new StoreError('busy', 'the query took too long')),
    log: { error: (message: string) => void lines.push(message) } as unknown as Log,
    telemetry: {
      ...noTelemetry,
      notWritten: () => {
        failures += 1;
      },
    },
  };
  await createPublisher(options as PublisherOptions).publish(new AbortController().signal);
  expect([lines, failures]).toEqual([['the overview could not be published'], 1]);
});

test.each([1, 2, 3])(
  'a publication begins no further step once the instrument stops during step %i, and does not count as failed',
  async (last) => {
    const stop = new AbortController();
    const steps: string[] = [];
    const step = (name: string): Promise<never[]> => {
      if (steps.push(name) === last) stop.abort();
      return Promise.resolve([]);
    };
    const options = {
      settings: { artifacts: '/nowhere', windowDays: 30, origin: 'simulated' },
      assertWriter: () => step('writer'),
      gaps: { flush: () => step('gaps') },
      store: {
        frontier: async () => {
          await step('read');
          throw new Error('the store is closed');
        },
      },
      clock: () => 1,
      log: { error: (message: string) => void steps.push(message) },
      telemetry: { ...noTelemetry, notWritten: () => void steps.push('counted') },
    };
    await createPublisher(options as unknown as PublisherOptions).publish(stop.signal);
    expect(steps).toEqual(['writer', 'gaps', 'read'].slice(0, last));
  },
);
