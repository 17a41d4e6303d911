import { expect, test } from 'vitest';
import type { Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import { noTelemetry } from '../shares/telemetry.ts';
import { createPublisher, type PublisherOptions } from './publisher.ts';

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
  await createPublisher(options as PublisherOptions).publish();
  expect([lines, failures]).toEqual([['the overview could not be published'], 1]);
});
