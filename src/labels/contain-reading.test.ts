import { expect, test } from 'vitest';
import { StoreError } from '../store/errors.ts';
import { day, micros } from '../store/time.ts';
import { containReading } from './contain-reading.ts';
import { noPosition } from './position.ts';
import type { ReaderTools, Source } from './source.ts';
import { Tracker, untracked } from './tracker.ts';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const now = micros(20_000 * day);
const source = (): Source => ({
  ...{ did, endpoint: 'https://a', tracker: new Tracker(did, untracked(now)), position: noPosition, replayFrom: null },
  ...{ peer: { source: did, privileged: false } },
  ...{ unplaced: new Set<string>(), lastPage: null, missedLooks: null, seen: new Map(), live: null, contiguous: false },
});

/** Reads with these outcomes, one a try; the last one reads on. */
function reading(errors: readonly Error[]) {
  const noted = { failures: 0, warnings: [] as unknown[], tries: 0 };
  const tools = {
    rhythm: { firstRetryMs: 1, longestRetryMs: 2 },
    random: () => 0,
    telemetry: {
      sourceFailed: () => {
        noted.failures += 1;
      },
    },
    log: { warn: (...line: unknown[]) => void noted.warnings.push(line) },
    clock: () => now,
    wait: () => Promise.resolve(),
    recordGap: () => Promise.resolve(),
  } as unknown as ReaderTools;
  const read = async () => {
    const error = errors[noted.tries];
    noted.tries += 1;
    if (error) throw error;
  };
  return { noted, tools, read };
}

test('an error that a source causes faults this source, is counted each time and logged once, and it is read again', async () => {
  const { noted, tools, read } = reading([new RangeError('Maximum call stack size exceeded'), new TypeError('other')]);
  const one = source();
  await containReading(one, tools, new AbortController().signal, read);
  expect(noted).toMatchObject({ failures: 2, tries: 3 });
  expect(noted.warnings).toHaveLength(1);
  expect(one.tracker.state).toBe('provider_rejects');
});

test('an error of the store that passes is waited for, and one that does not is passed on', async () => {
  const signal = new AbortController().signal;
  const passing = reading([new StoreError('disk_full', 'no space left')]);
  await containReading(source(), passing.tools, signal, passing.read);
  expect(passing.noted.tries).toBe(2);
  const { tools, read } = reading([new StoreError('damaged', 'the files are inconsistent')]);
  await expect(containReading(source(), tools, signal, read)).rejects.toThrow('inconsistent');
});

test('an error after a stop is the stop', async () => {
  const stop = new AbortController();
  const { noted, tools } = reading([]);
  const read = async () => {
    stop.abort();
    throw new Error('stopped');
  };
  await containReading(source(), tools, stop.signal, read);
  expect(noted).toMatchObject({ failures: 0, warnings: [] });
});
