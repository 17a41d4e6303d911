import { expect, it } from 'vitest';
import type { StoredGap } from '../../store/port.ts';
import type { RosterRow } from '../../store/roster.ts';
import { micros } from '../../store/time.ts';
import { markOf, type Snapshot } from '../cursor/cursor.ts';
import type { AccountStore } from '../query/account-store.ts';
import { rememberManifests } from './manifest.ts';

/** Creates a simulated store whose labelers have 16 gaps each, and which counts how often the gaps are read. */
function storeOf(labelers: number) {
  const dids = Array.from({ length: labelers }, (_, n) => `did:web:labeler-${n}.example`);
  const gaps = dids.flatMap((source) =>
    Array.from({ length: 16 }, (_, n): StoredGap => {
      return { source, start: micros(2 * n), end: micros(2 * n + 1), reason: 'source_unavailable' };
    }),
  );
  const roster = dids.map((did) => ({ did, enrolled: true, state: 'established' }) as RosterRow);
  let reads = 0;
  const store = {
    epoch: async () => ({ generationId: 'generation', startedAt: micros(0) }),
    frontier: async () => ({ observedThrough: micros(100) }),
    gaps: async () => {
      reads += 1;
      return gaps;
    },
    roster: async () => roster,
    positions: async () => dids.map((source) => ({ source })),
    note: async () => null,
    purges: async () => [],
    spaceRemoval: async () => null,
  } as unknown as AccountStore;
  return { store, reads: () => reads };
}

function snapshot(n: number): Snapshot {
  return {
    account: `did:web:account-${n}.example`,
    filters: {},
    ...{ start: micros(0), end: micros(100), askedStart: micros(0), clipped: false },
    ...{
      generation: markOf({ generationId: 'generation', revision: 0 }),
      frontier: micros(100),
      countBound: 0,
      pageRows: 500,
    },
    ...{ createdAt: 0, expiresAt: 1 },
  };
}

it('the manifest cache holds the last 256 manifests, and recreates an older manifest when it is requested', async () => {
  const { store, reads } = storeOf(1);
  const manifests = rememberManifests();
  const first = await manifests.of(store, snapshot(0));
  for (let n = 1; n < 256; n++) await manifests.of(store, snapshot(n));
  expect(await manifests.of(store, snapshot(0))).toBe(first);
  expect(reads()).toBe(256);
  await manifests.of(store, snapshot(256));
  expect(await manifests.of(store, snapshot(0))).toEqual(first);
  expect(reads()).toBe(258);
});

it('the manifest cache holds at most 32 million characters', async () => {
  const { store, reads } = storeOf(5_000);
  const manifests = rememberManifests();
  const { text } = await manifests.of(store, snapshot(0));
  const kept = Math.floor((32 * 1024 * 1024) / text.length);
  expect(kept).toBeLessThan(10);
  for (let n = 1; n < kept; n++) await manifests.of(store, snapshot(n));
  await manifests.of(store, snapshot(0));
  expect(reads()).toBe(kept);
  await manifests.of(store, snapshot(kept));
  await manifests.of(store, snapshot(kept));
  expect(reads()).toBe(kept + 1);
  await manifests.of(store, snapshot(0));
  expect(reads()).toBe(kept + 2);
});

it('a manifest has a caveat about removed rows, and states an origin other than live', async () => {
  const { store } = storeOf(1);
  const manifestOf = async (over: Partial<AccountStore> = {}) => {
    const { text } = await rememberManifests().of({ ...store, ...over }, snapshot(0));
    return JSON.parse(text) as Record<string, unknown>;
  };
  expect(await manifestOf()).not.toHaveProperty('caveats');
  expect(await manifestOf()).not.toHaveProperty('origin');
  const purge = {
    source: 'did:web:gone.example',
    requestedAt: micros(1),
    completedAt: micros(2),
    rows: 3,
    daysLeft: 0,
  };
  expect((await manifestOf({ purges: async () => [purge] })).caveats).toEqual([
    expect.stringContaining('were removed'),
  ]);
  expect((await manifestOf({ note: async () => 'simulated' })).origin).toBe('simulated');
});

it.each([
  ['if the last row is in the interval', 70, '1970-01-01T00:00:00.000070Z'],
  ['if rows were accepted after the interval', 250, '1970-01-01T00:00:00.000100Z'],
])(
  'the frontier of a manifest, at which the next export starts, is not after the end of the interval %s',
  async (_case, last, frontier) => {
    const { store } = storeOf(1);
    const { text } = await rememberManifests().of(store, { ...snapshot(0), frontier: micros(last) });
    expect(JSON.parse(text)).toMatchObject({ interval: { end: '1970-01-01T00:00:00.000100Z' }, frontier });
  },
);
