import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type MemoryContent, windowStore } from '../../../harness/labels/window-store.ts';
import { folderInTest } from '../../../harness/process/folder.ts';
import { rosterRow } from '../../../harness/store/roster-row.ts';
import type { LabelsHours } from '../../artifact/hours/labels-hours.ts';
import type { LabelersHeader } from '../../artifact/labelers.ts';
import type { RecentOverview } from '../../artifact/recognise.ts';
import { artifactNames } from '../../artifact/write.ts';
import type { Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import { day, hour, micros, minute } from '../../store/time.ts';
import { isEnrolled, type KnownLabeler, labelerFromRow } from '../roster/known-labeler.ts';
import { noTelemetry } from '../shares/telemetry.ts';
import { createPublisher } from './publisher.ts';

type PublisherOptions = Parameters<typeof createPublisher>[0];

const now = micros(Date.parse('2026-11-20T12:01:00Z') * 1000);

/** Differences from a publication of an unchanged store in which no labeler waits. */
interface Changes {
  readonly waits?: (labeler: KnownLabeler) => boolean;
  readonly store?: Partial<PublisherOptions['store']>;
  readonly signal?: AbortSignal;
}

/** Publishes once from an in-memory store, and returns a function that reads a file of the publication. */
async function published(
  labelers: readonly KnownLabeler[],
  content: MemoryContent,
  { waits = () => false, store = {}, signal = new AbortController().signal }: Changes = {},
): Promise<(name: string) => string> {
  const artifacts = folderInTest();
  const logged: unknown[] = [];
  const log = (message: string, fields: unknown): void => void logged.push([message, fields]);
  const known = new Map(labelers.map((one) => [one.did, one]));
  const options = {
    settings: { artifacts, windowDays: 30, origin: 'simulated' },
    store: { ...windowStore(() => content), definitions: async () => [], ...store },
    roster: {
      labelers,
      labeler: (did: string) => known.get(did),
      enrolled: () => labelers.filter((one) => isEnrolled(one, now)),
      dropped: 0,
    },
    cap: { pausedSources: [], limit: 1_000_000, usedBytes: 0 },
    pace: { throttled: {} },
    gaps: { flush: async () => undefined },
    assertWriter: async () => undefined,
    budgetBytes: () => 1,
    waits,
    paused: () => null,
    denied: () => 0,
    deniedSince: () => null,
    clock: () => now,
    log: { error: log, warn: log },
    telemetry: noTelemetry,
  };
  await createPublisher(options as unknown as PublisherOptions).publish(signal);
  expect(logged).toEqual([]);
  return (name) => readFileSync(join(artifacts, name), 'utf8');
}

const digits = 'abcdefghijklmnopqrstuvwxyz234567';

/** Returns labelers that were read throughout the window. */
function readLabelers(count: number): KnownLabeler[] {
  const at = micros(now - 40 * day);
  const times = { firstAsked: at, firstAnswered: at, lastAnswered: now, completeThrough: now, dated: true };
  return Array.from({ length: count }, (_, i) => {
    const [x = '', y = '', z = ''] = [digits[i >> 10], digits[(i >> 5) & 31], digits[i & 31]];
    return labelerFromRow(rosterRow(`did:plc:222222222222222222222${x}${y}${z}`, times), null);
  });
}

test('the hours include active labelers beyond the maximum of the list, which both files count as omitted', async () => {
  const labelers = readLabelers(5_001);
  const rows = labelers.map(({ did }) => ({ labeler: did, at: now - 30 * minute }));
  const read = await published(labelers, { startedAt: now - 40 * day, rows, observedThrough: now });
  const [header = ''] = read(artifactNames.labelers).split('\n', 1);
  const { labelers: listed, omitted } = JSON.parse(header) as LabelersHeader;
  expect({ listed, omitted }).toEqual({ listed: 5_000, omitted: 1 });
  const file = JSON.parse(read(artifactNames.labelsHours)) as LabelsHours;
  expect(file.labelers.length + file.omitted).toBe(5_001);
  expect(file.hours.at(-1)).toMatchObject({
    ...{ complete: true, applications: 5_001, labeler_seconds: 5_001 * (hour / 1_000_000), labels_per_hour: 5_001 },
  });
});

test('the overview does not count a labeler that never responded as one without gaps', async () => {
  const never = labelerFromRow(rosterRow('did:plc:ewvi7nxzyoun6zhxrhs64oiz', { firstAsked: now }), null);
  const read = await published([...readLabelers(2), never], {
    startedAt: now - 40 * day,
    rows: [],
    observedThrough: now,
  });
  const { caveats } = JSON.parse(read(artifactNames.labels)) as { readonly caveats: readonly string[] };
  expect(caveats.at(-1)).toBe('2 of 3 labelers have no gap of their own in the window; 1 has not responded yet.');
});

test.each([
  ['', []],
  [', found again and has not responded,', [{ firstAsked: micros(now - 2 * day) }]],
  [', found again and is in its trial,', [{ firstAsked: micros(now - hour) }]],
])(
  'a labeler with counted events that was evicted from the roster%s has a gap since its last row',
  async (_, found) => {
    const [read, evicted] = readLabelers(2);
    if (read === undefined || evicted === undefined) throw new Error('there are two labelers');
    const again = found.map((times) => labelerFromRow(rosterRow(evicted.did, times), null));
    const lastRow = now - 2 * hour;
    const rows = [read, evicted].map(({ did }) => ({ labeler: did, at: lastRow }));
    const file = await published([read, ...again], { startedAt: now - 40 * day, rows, observedThrough: now });
    const { coverage, caveats } = JSON.parse(file(artifactNames.labels)) as RecentOverview;
    expect(coverage.gaps).toEqual([
      { start: '2026-11-20T10:01:00.000Z', end: '2026-11-20T12:01:00.000Z', reason: 'source_unavailable' },
    ]);
    expect(caveats.at(-1)).toBe(
      '1 of 2 labelers has no gap of its own in the window; 1 has gaps, for at most a day in total.',
    );
  },
);

test('a labeler that waits for a reading slot counts as waiting after its trial, and not as contacted daily', async () => {
  const asked = { firstAsked: micros(now - 2 * day) };
  const [tried, waiting] = ['did:plc:ewvi7nxzyoun6zhxrhs64oiz', 'did:plc:ar7c4by46qjdydhdevvrndac'].map((did) =>
    labelerFromRow(rosterRow(did, asked), null),
  );
  if (tried === undefined || waiting === undefined) throw new Error('there are two labelers');
  const read = await published(
    [...readLabelers(2), tried, waiting],
    { startedAt: now - 40 * day, rows: [], observedThrough: now },
    { waits: (labeler) => labeler === waiting },
  );
  const { caveats } = JSON.parse(read(artifactNames.labels)) as { readonly caveats: readonly string[] };
  expect(caveats.filter((caveat) => / known labelers | waits, /.test(caveat))).toEqual([
    '1 of 3 known labelers is not followed: no document names its address, or it never responded. Each is contacted again at least daily.',
    '1 of 3 labelers waits, because the maximum number of labelers is already being read.',
  ]);
});

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

test('a publication does not report a file as unwritten whose store is closed at the stop', async () => {
  const content = { startedAt: now - 40 * day, rows: [], observedThrough: now };
  const stop = new AbortController();
  const { frontier } = windowStore(() => content);
  let reads = 0;
  const counting = (): ReturnType<typeof frontier> => {
    reads += 1;
    return frontier();
  };
  await published(readLabelers(2), content, { store: { frontier: counting } });
  const last = reads;
  reads = 0;
  // The last read is that of the hours.
  const closing = async (): ReturnType<typeof frontier> => {
    if (reads + 1 < last) return counting();
    stop.abort();
    throw new StoreError('closed', 'the store was closed');
  };
  const read = await published(readLabelers(2), content, { store: { frontier: closing }, signal: stop.signal });
  expect([stop.signal.aborted, JSON.parse(read(artifactNames.labels))]).toEqual([
    true,
    expect.objectContaining({ hold: false }),
  ]);
});
