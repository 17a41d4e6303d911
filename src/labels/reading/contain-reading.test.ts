import { expect, test } from 'vitest';
import { StoreError } from '../../store/errors.ts';
import { day, micros } from '../../store/time.ts';
import type { ReaderPorts } from '../ingest/ports.ts';
import { noPosition } from '../label/position.ts';
import { untracked } from '../state/reading-state.ts';
import { Source } from '../state/source.ts';
import { Tracker } from '../state/tracker.ts';
import { containReading } from './contain-reading.ts';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const now = micros(20_000 * day);
const source = (): Source =>
  new Source(
    { did, endpoint: 'https://a', peer: { source: did, privileged: false } },
    new Tracker(did, untracked(now)),
    noPosition,
  );

/** Reads with these outcomes, one a try; the last one reads on. */
function reading(errors: readonly Error[]) {
  const noted = { failures: 0, warnings: [] as unknown[], tries: 0 };
  const ports = {
    time: {
      ...{ random: () => 0, clock: () => now, wait: () => Promise.resolve() },
      timings: { firstRetryMs: 1, maxRetryMs: 2 },
    },
    report: {
      telemetry: {
        sourceFailed: () => {
          noted.failures += 1;
        },
      },
      log: { warn: (...line: unknown[]) => void noted.warnings.push(line) },
    },
    gaps: { change: () => Promise.resolve() },
  } as unknown as ReaderPorts;
  const read = async () => {
    const error = errors[noted.tries];
    noted.tries += 1;
    if (error) throw error;
  };
  return { noted, ports, read };
}

test('an error that a source causes faults this source, is counted each time and logged once, and it is read again', async () => {
  const { noted, ports, read } = reading([new RangeError('Maximum call stack size exceeded'), new TypeError('other')]);
  const one = source();
  await containReading(one, ports, new AbortController().signal, read);
  expect(noted).toMatchObject({ failures: 2, tries: 3 });
  expect(noted.warnings).toHaveLength(1);
  expect(one.tracker.state).toBe('provider_rejects');
});

test('an error of the store that passes is waited for, and one that does not is passed on', async () => {
  const signal = new AbortController().signal;
  const passing = reading([new StoreError('disk_full', 'no space left')]);
  await containReading(source(), passing.ports, signal, passing.read);
  expect(passing.noted.tries).toBe(2);
  const { ports, read } = reading([new StoreError('damaged', 'the files are inconsistent')]);
  await expect(containReading(source(), ports, signal, read)).rejects.toThrow('inconsistent');
});

test('an error after a stop is the stop', async () => {
  const stop = new AbortController();
  const { noted, ports } = reading([]);
  const read = async () => {
    stop.abort();
    throw new Error('stopped');
  };
  await containReading(source(), ports, stop.signal, read);
  expect(noted).toMatchObject({ failures: 0, warnings: [] });
});
