import { expect, onTestFinished, test } from 'vitest';
import { quickTimings } from '../../../harness/labels/label-station.ts';
import { startDirectory } from '../../../harness/net/directory.ts';
import { rosterRow } from '../../../harness/store/roster-row.ts';
import { silentLog } from '../../ops/log.ts';
import type { StoreWriter } from '../../store/port.ts';
import type { RosterRow } from '../../store/roster.ts';
import { day, micros, minute } from '../../store/time.ts';
import { type KnownLabeler, labelerFromRow } from '../roster/known-labeler.ts';
import { noTelemetry } from '../shares/telemetry.ts';
import { type SourceState, sourceStates } from '../state/reading-state.ts';
import { createFoundation, type Foundation, type LabelsOptions } from './foundation.ts';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';

/** Creates the foundation of an instrument that knows at most one labeler. */
function foundationWith({ clocks, plc = '', labeler }: Parts): Foundation {
  const stop = new AbortController();
  const foundation = createFoundation(
    {
      settings: {
        ...{ folder: '/nowhere', artifacts: '/nowhere', windowDays: 30, origin: 'simulated', minFreeBytes: 0 },
        ...{ seeds: [], relays: [], plc, jetstream: null, userAgent: 'Almanac/test' },
        ...{ publishSeconds: 60, discoverySeconds: 60, timings: quickTimings },
      },
      store: {} as StoreWriter,
      policy: { allowLoopback: true },
      clocks,
      random: () => 0,
      log: silentLog,
      telemetry: noTelemetry,
    },
    () => labeler,
    stop.signal,
  );
  onTestFinished(async () => {
    stop.abort();
    await foundation.verifier.stop();
    await foundation.outbound.close();
  });
  return foundation;
}

interface Parts {
  readonly clocks: LabelsOptions['clocks'];
  readonly plc?: string;
  readonly labeler?: KnownLabeler;
}

test('a document is read again after five minutes, even if the wall clock was a day ahead and is set back meanwhile', async () => {
  const directory = await startDirectory();
  const time = { wall: 1_780_000_000_000_000 + day, monotonic: 0 };
  const { outbound } = foundationWith({
    clocks: { wall: () => micros(time.wall), monotonic: () => time.monotonic },
    plc: directory.url,
  });
  const requests = async (): Promise<number> => {
    await outbound.identities.resolve(did, { signal: new AbortController().signal });
    return directory.asked.length;
  };
  expect([await requests(), await requests()]).toEqual([1, 1]);
  time.wall -= day;
  time.monotonic += 5 * minute;
  expect(await requests()).toBe(2);
});

const now = micros(1_780_000_000_000_000);
const clocks = { wall: () => now, monotonic: () => 0 };

/** Returns true if the labeler may add five rows after 110,000 rows of the same day, which no new source may add. */
function admitsMore(labeler: KnownLabeler): boolean {
  const { cap } = foundationWith({ clocks, labeler }).shares;
  cap.load([{ labeler: did, applied: 110_000, removed: 0 }]);
  return cap.admits(did, { rows: 5, bytes: 1_000 });
}

const labelerIn = (state: SourceState, firstAnswered: number, changes: Partial<RosterRow> = {}): KnownLabeler =>
  labelerFromRow(
    rosterRow(did, {
      ...{ origin: 'discovered', state, firstAnswered: micros(firstAnswered), lastAnswered: now, dated: true },
      ...changes,
    }),
    null,
  );

test.each(sourceStates)(
  'own labels of a labeler in the state %s have the daily share of an established source 7 days after its first response',
  (state) => {
    expect([admitsMore(labelerIn(state, now - 7 * day)), admitsMore(labelerIn(state, now - 7 * day + 1))]).toEqual([
      true,
      false,
    ]);
  },
);

test('own labels at a new endpoint, or after 7 days of failures, have the daily share of an established source', () => {
  const moved = labelerIn('established', now - 30 * day);
  moved.tracker.apply({ kind: 'endpoint_changed' });
  const failing = labelerIn('unavailable', now - 30 * day, { failingSince: micros(now - 8 * day) });
  expect([moved, failing].map(admitsMore)).toEqual([true, true]);
});
