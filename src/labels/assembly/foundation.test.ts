import { expect, onTestFinished, test } from 'vitest';
import { quickTimings } from '../../../harness/labels/label-station.ts';
import { startDirectory } from '../../../harness/net/directory.ts';
import { silentLog } from '../../ops/log.ts';
import type { StoreWriter } from '../../store/port.ts';
import { day, micros, minute } from '../../store/time.ts';
import { noTelemetry } from '../shares/telemetry.ts';
import { createFoundation } from './foundation.ts';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';

test('a document is read again after five minutes, even if the wall clock was a day ahead and is set back meanwhile', async () => {
  const directory = await startDirectory();
  const time = { wall: 1_780_000_000_000_000 + day, monotonic: 0 };
  const stop = new AbortController();
  const { outbound, verifier } = createFoundation(
    {
      settings: {
        ...{ folder: '/nowhere', artifacts: '/nowhere', windowDays: 30, origin: 'simulated', minFreeBytes: 0 },
        ...{ seeds: [], relays: [], plc: directory.url, jetstream: null, userAgent: 'Almanac/test' },
        ...{ publishSeconds: 60, discoverySeconds: 60, timings: quickTimings },
      },
      store: {} as StoreWriter,
      policy: { allowLoopback: true },
      clocks: { wall: () => micros(time.wall), monotonic: () => time.monotonic },
      random: () => 0,
      log: silentLog,
      telemetry: noTelemetry,
    },
    () => undefined,
    stop.signal,
  );
  onTestFinished(async () => {
    stop.abort();
    await verifier.stop();
    await outbound.close();
  });
  const requests = async (): Promise<number> => {
    await outbound.identities.resolve(did, { signal: stop.signal });
    return directory.asked.length;
  };
  expect([await requests(), await requests()]).toEqual([1, 1]);
  time.wall -= day;
  time.monotonic += 5 * minute;
  expect(await requests()).toBe(2);
});
