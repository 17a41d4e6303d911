import { afterEach, beforeEach, expect, test } from 'vitest';
import { answered, asked } from '../../../harness/labels/label-reader.ts';
import type { Resolution } from '../../network/identity/identity.ts';
import type { RosterRow } from '../../store/roster.ts';
import { micros } from '../../store/time.ts';
import { wait } from '../clock/clock.ts';
import { departureOf, type KnownLabeler } from './known-labeler.ts';
import { maxKnown, Roster, type RosterChange } from './roster.ts';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const labelerDocument: Resolution = {
  kind: 'resolved',
  document: {
    did,
    handle: 'mod.example.com',
    labelerDeclared: true,
    labelerEndpoint: 'https://l.example.com',
    pds: 'https://pds.example.com',
    labelKeys: [],
  },
};
const failed: Resolution = { kind: 'failed', answer: { kind: 'dns', code: 'ENOTFOUND' } };
let stop = new AbortController();

beforeEach(() => {
  stop = new AbortController();
});
afterEach(() => stop.abort());

/** Creates a roster over a directory that sends these responses in sequence, and then repeats the last one. */
function rosterOver(...answers: Resolution[]) {
  const time = { ms: Date.UTC(2026, 5, 1) };
  const requests: boolean[] = [];
  const changed: KnownLabeler[] = [];
  const roster = new Roster({
    identities: {
      resolve: async (_, { fresh = false }) => {
        requests.push(fresh);
        return (answers.length > 1 ? answers.shift() : answers[0]) ?? failed;
      },
    },
    clock: () => micros(time.ms * 1000),
    wait: (_, signal) => wait(1, signal),
    refreshMs: 86_400_000,
    retryMs: 60_000,
    freshMs: 60_000,
    changed: (labeler) => changed.push(labeler),
  });
  return { roster, time, requests, changed };
}
const until = (holds: () => boolean) => expect.poll(holds, { interval: 2 }).toBe(true);

test('a labeler that a second source names gets an additional provenance and is otherwise unchanged', () => {
  const { roster } = rosterOver(failed);
  roster.add(did, 'seeded', 'seeds');
  const before = roster.labeler(did)?.tracker;
  roster.add(did, 'discovered', 'relay r.example');
  expect(roster.labeler(did)).toMatchObject({ origin: 'seeded', provenance: new Set(['seeds', 'relay r.example']) });
  expect(roster.labeler(did)?.tracker).toBe(before);
});

test('a failed resolution changes nothing and is retried, and a document is read again daily', async () => {
  const { roster, time, requests, changed } = rosterOver(failed, labelerDocument);
  roster.add(did, 'seeded', 'seeds');
  void roster.run(stop.signal);
  await until(() => requests.length === 1);
  expect([changed.length, roster.labeler(did)?.resolutionStatus]).toEqual([0, 'unresolved']);
  time.ms += 60_000;
  await until(() => changed.length === 1);
  expect(roster.labeler(did)).toMatchObject({
    resolutionStatus: 'labeler',
    endpoint: 'https://l.example.com',
    pds: 'https://pds.example.com',
    handle: 'mod.example.com',
    handleConfirmed: false,
  });
  time.ms += 86_399_999;
  await wait(30, stop.signal);
  expect(requests).toHaveLength(2);
  time.ms += 1;
  await until(() => requests.length === 3);
  // A refresh bypasses the cache.
  expect(requests).toEqual([false, true, true]);
});

/** Stores all changes of a roster in parts of at most `maxRows`, and returns them. */
function storedChanges(roster: Roster, maxRows = maxKnown): RosterChange[] {
  return [...roster.changes(maxRows)].filter((change) => change !== null);
}

const rowsOf = (changes: readonly RosterChange[]): RosterRow[] =>
  changes.flatMap((change) => (change.kind === 'changed' ? change.rows : []));
const evictedIn = (changes: readonly RosterChange[]): string[] =>
  changes.flatMap((change) => (change.kind === 'evicted' ? change.dids : []));

test('only changed roster rows are returned to be stored', async () => {
  const { roster, changed } = rosterOver(labelerDocument);
  roster.add(did, 'discovered', 'jetstream');
  expect(rowsOf(storedChanges(roster)).map((row) => row.enrolled)).toEqual([false]);
  expect(storedChanges(roster)).toEqual([]);
  void roster.run(stop.signal);
  await until(() => changed.length === 1);
  const rows = rowsOf(storedChanges(roster));
  expect(rows.map(({ enrolled, endpoint }) => ({ enrolled, endpoint }))).toEqual([
    { enrolled: true, endpoint: 'https://l.example.com' },
  ]);
  const again = rosterOver(failed).roster;
  again.load(rows, new Map());
  expect(again.labeler(did)).toMatchObject({ resolutionStatus: 'labeler', handle: 'mod.example.com' });
});

test('changes are returned in parts, enrolled labelers first', async () => {
  const { roster, changed } = rosterOver(labelerDocument, failed);
  for (let i = 0; i < 4; i += 1) roster.add(`did:web:l${i}.example.com`, 'discovered', 'jetstream');
  roster.add(did, 'discovered', 'jetstream');
  void roster.run(stop.signal);
  await until(() => changed.length === 1);
  stop.abort();
  const parts = storedChanges(roster, 2).map((change) => rowsOf([change]).map(({ enrolled }) => enrolled));
  expect(parts).toEqual([[true], [false, false], [false, false]]);
});

test('the labelers are compared with their stored rows in parts, even if no row changed', () => {
  const { roster } = rosterOver(failed);
  for (let i = 0; i < 1_000; i += 1) roster.add(`did:web:l${i}.example.com`, 'discovered', 'jetstream');
  storedChanges(roster);
  expect([...roster.changes(500)]).toEqual([null, null, null, null]);
});

test.each([4, 6])('changes are returned again if the store rejects part %i, or if they were not requested', (last) => {
  const { roster, time } = rosterOver(failed);
  for (let i = 0; i < maxKnown; i += 1) roster.add(`did:web:l${i}.example.com`, 'discovered', 'jetstream');
  storedChanges(roster);
  time.ms += 24 * 3_600_000;
  for (let i = 0; i < 4; i += 1) roster.add(`did:web:m${i}.example.com`, 'discovered', 'jetstream');
  // Four parts contain an evicted labeler each, and four parts a new one.
  let requested = 0;
  const stored: RosterChange[] = [];
  for (const change of roster.changes(1)) {
    if (change === null) continue;
    requested += 1;
    if (requested === last) break;
    stored.push(change);
  }
  const rest = storedChanges(roster, 1);
  expect(rest).toHaveLength(8 - stored.length);
  expect(evictedIn([...stored, ...rest])).toEqual([0, 1, 2, 3].map((i) => `did:web:l${i}.example.com`));
  expect(rowsOf([...stored, ...rest]).map((row) => row.did)).toEqual(
    [0, 1, 2, 3].map((i) => `did:web:m${i}.example.com`),
  );
  expect(storedChanges(roster)).toEqual([]);
});

test('a roster with too many labelers of the last run shrinks to its maximum', () => {
  const { roster, time } = rosterOver(failed);
  for (let i = 0; i < maxKnown; i += 1) roster.add(`did:web:l${i}.example.com`, 'discovered', 'jetstream');
  const rows = rowsOf(storedChanges(roster));
  const more = rows.slice(0, 7).map((row, i) => ({ ...row, did: `did:web:m${i}.example.com` }));
  const again = rosterOver(failed);
  again.roster.load([...rows, ...more], new Map());
  again.time.ms = time.ms + 24 * 3_600_000;
  again.roster.add(did, 'discovered', 'jetstream');
  expect([again.roster.labeler(did)?.did, [...again.roster.labelers].length]).toEqual([did, maxKnown]);
});

test('labelers beyond the maximum are counted but not added, and known labelers stay', () => {
  const { roster } = rosterOver(failed);
  for (let i = 0; i < maxKnown + 3; i++) roster.add(`did:web:l${i}.example.com`, 'discovered', 'jetstream');
  roster.add('did:web:l0.example.com', 'discovered', 'seeds');
  expect([[...roster.labelers].length, roster.dropped]).toEqual([maxKnown, 3]);
});

test('a full roster accepts a seed, and counts a discovered labeler beyond the maximum only once', () => {
  const { roster } = rosterOver(failed);
  for (let i = 0; i < maxKnown; i++) roster.add(`did:web:l${i}.example.com`, 'discovered', 'jetstream');
  storedChanges(roster);
  roster.add(did, 'seeded', 'seeds');
  expect([roster.labeler(did)?.origin, [...roster.labelers].length]).toEqual(['seeded', maxKnown]);
  expect(evictedIn(storedChanges(roster))).toEqual([`did:web:l${maxKnown - 1}.example.com`]);
  expect(storedChanges(roster)).toEqual([]);
  for (let i = 0; i < 5; i++) roster.add('did:web:late.example.com', 'discovered', 'jetstream');
  expect(roster.dropped).toBe(1);
});

test('a labeler that never responded in its trial is evicted and no longer read, but responding labelers and seeds stay', () => {
  const { roster, time, changed } = rosterOver(labelerDocument);
  roster.add(did, 'discovered', 'jetstream');
  roster.add('did:web:seed.example.com', 'seeded', 'seeds');
  for (let i = 2; i < maxKnown; i++) roster.add(`did:web:l${i}.example.com`, 'discovered', 'jetstream');
  roster.labeler(did)?.tracker.apply(answered(micros(time.ms * 1000), { dated: 1, undated: 0 }));
  roster.add('did:web:late.example.com', 'discovered', 'jetstream');
  expect([roster.labeler('did:web:late.example.com'), roster.dropped]).toEqual([undefined, 1]);
  time.ms += 24 * 3_600_000;
  for (const name of ['late', 'later']) roster.add(`did:web:${name}.example.com`, 'discovered', 'jetstream');
  expect([roster.labeler('did:web:later.example.com')?.resolutionStatus, roster.dropped]).toEqual(['unresolved', 0]);
  expect([...roster.labelers].length).toBe(maxKnown);
  expect([roster.labeler(did), roster.labeler('did:web:seed.example.com')]).not.toContain(undefined);
  const gone = evictedIn(storedChanges(roster));
  expect(gone).toHaveLength(2);
  expect(changed.map((labeler) => [labeler.did, labeler.endpoint])).toEqual(gone.map((one) => [one, null]));
});

test('a full roster does not evict a labeler that responded after it was selected for eviction', () => {
  const { roster, time } = rosterOver(failed);
  for (let i = 0; i < maxKnown; i++) roster.add(`did:web:l${i}.example`, 'discovered', 'jetstream');
  time.ms += 24 * 3_600_000;
  roster.add('did:web:late.example', 'discovered', 'jetstream');
  time.ms += 3_600_000;
  roster.labeler('did:web:l1.example')?.tracker.apply(answered(micros(time.ms * 1000), { dated: 1, undated: 0 }));
  roster.add('did:web:later.example', 'discovered', 'jetstream');
  expect(evictedIn(storedChanges(roster))).toEqual(['did:web:l0.example', 'did:web:l2.example']);
});

test('a full roster does not evict a labeler of a group that no longer exceeds its share', () => {
  const { roster, time } = rosterOver(failed);
  for (let i = 0; i < maxKnown; i++) roster.add(`did:web:l${i}.example`, 'discovered', 'jetstream');
  for (const labeler of roster.labelers) labeler.pds = 'https://pds.host.example';
  roster.add('did:web:late.example', 'discovered', 'jetstream');
  for (const labeler of roster.labelers) labeler.pds = null;
  time.ms += 60_000;
  roster.add('did:web:later.example', 'discovered', 'jetstream');
  expect(evictedIn(storedChanges(roster))).toEqual([`did:web:l${maxKnown - 1}.example`]);
  expect(roster.dropped).toBe(1);
});

test('a full roster evicts labelers for new ones again after a clock that was ahead was corrected', () => {
  const { roster, time } = rosterOver(failed);
  for (let i = 0; i < maxKnown; i++) roster.add(`did:web:l${i}.example.com`, 'discovered', 'jetstream');
  time.ms += 30 * 86_400_000;
  for (let i = 0; i <= maxKnown; i++) roster.add(`did:web:m${i}.example.com`, 'discovered', 'jetstream');
  expect(roster.dropped).toBe(1);
  time.ms -= 29 * 86_400_000;
  roster.add('did:web:honest.example', 'discovered', 'jetstream');
  expect([roster.labeler('did:web:honest.example')?.did, roster.dropped]).toEqual(['did:web:honest.example', 1]);
});

test('seeded and established labelers are not evicted if tens of thousands of new labelers are added', () => {
  const { roster, time } = rosterOver(failed);
  const kept = Array.from({ length: 50 }, (_, i) => `did:plc:${String(i).padStart(24, 'a')}`);
  for (const [i, one] of kept.entries()) {
    roster.add(one, i % 2 === 0 ? 'seeded' : 'discovered', i % 2 === 0 ? 'seeds' : 'jetstream');
    roster.labeler(one)?.tracker.apply(answered(micros(time.ms * 1000), { dated: 1, undated: 0 }));
  }
  time.ms += 7 * 86_400_000;
  for (let i = 0; i < 3 * maxKnown; i++) {
    roster.add(`did:web:l${i}.d${i % 5_000}.example`, 'discovered', 'jetstream');
    if (i % maxKnown === 0) time.ms += 2 * 86_400_000;
  }
  expect(kept.filter((one) => roster.labeler(one) === undefined)).toEqual([]);
  expect([...roster.labelers]).toHaveLength(maxKnown);
});

test('labelers of other domains evict the labelers that one domain has beyond its share', () => {
  const { roster } = rosterOver(failed);
  for (let i = 0; i < maxKnown; i++) roster.add(`did:web:l${i}.crowd.example`, 'discovered', 'jetstream');
  roster.add('did:web:late.crowd.example', 'discovered', 'jetstream');
  for (let i = 0; i < 100; i++) roster.add(`did:web:honest${i}.example`, 'discovered', 'jetstream');
  const honest = [...roster.labelers].filter((labeler) => labeler.did.startsWith('did:web:honest'));
  expect([honest.length, roster.labeler('did:web:late.crowd.example'), roster.dropped]).toEqual([100, undefined, 1]);
});

test('a failing host of did:web is requested at growing intervals, and the directory at constant intervals', async () => {
  const { roster, time, requests } = rosterOver(failed);
  roster.add(did, 'discovered', 'jetstream');
  roster.add('did:web:hanging.example', 'discovered', 'jetstream');
  void roster.run(stop.signal);
  await until(() => requests.length === 2);
  // Only the host is requested after the first 10 s.
  time.ms += 10_000;
  await until(() => requests.length === 3);
  const counts: number[] = [];
  for (let minutes = 1; minutes <= 8; minutes++) {
    const before = requests.length;
    time.ms += 60_000;
    // The directory is requested every minute; the host is requested after 1, 2 and 4 further minutes.
    const expected = [1, 3, 7].includes(minutes) ? 2 : 1;
    await until(() => requests.length === before + expected);
    counts.push(requests.length - before);
  }
  expect(counts).toEqual([2, 1, 2, 1, 1, 1, 2, 1]);
});

test('a document with constant reports of changes is read at most once a minute', async () => {
  const { roster, time, requests } = rosterOver(labelerDocument);
  roster.add(did, 'discovered', 'jetstream');
  void roster.run(stop.signal);
  await until(() => requests.length === 1);
  roster.documentChanged(did);
  await until(() => requests.length === 2);
  for (let i = 0; i < 5; i++) roster.documentChanged(did);
  // If the refresh of the first document were due, it would take place before the resolution of this labeler's
  // document.
  roster.add('did:web:other.example.com', 'discovered', 'jetstream');
  await until(() => requests.length === 3);
  expect(requests).toEqual([false, true, false]);
  time.ms += 60_000;
  await until(() => requests.length === 4);
  expect(requests).toEqual([false, true, false, true]);
});

test('a labeler whose document temporarily declares no labeler service has a gap for that time', async () => {
  const { roster, time, requests } = rosterOver(labelerDocument, { kind: 'not_found', status: 404 }, labelerDocument);
  roster.add(did, 'seeded', 'seeds');
  void roster.run(stop.signal);
  await until(() => requests.length === 1);
  const answeredAt = micros(time.ms * 1000);
  roster.labeler(did)?.tracker.apply(asked(answeredAt));
  roster.labeler(did)?.tracker.apply(answered(answeredAt, { dated: 1, undated: 0 }));
  time.ms += 86_400_000;
  await until(() => requests.length === 2);
  const window = { start: answeredAt, end: micros(time.ms * 1000) };
  const missed = { source: did, ...window, reason: 'source_unavailable' };
  await until(() => roster.labeler(did)?.resolutionStatus === 'no_labeler');
  const departed = roster.labeler(did);
  expect(departed && departureOf(departed, window)).toEqual(missed);
  time.ms += 86_400_000;
  await until(() => roster.labeler(did)?.resolutionStatus === 'labeler');
  const now = micros(time.ms * 1000);
  expect(departed && departureOf(departed, { ...window, end: now })).toBe(null);
  expect(departed?.tracker.apply(answered(now, { dated: 0, undated: 0 }))).toEqual({
    kind: 'record',
    gap: { ...missed, end: now },
  });
});

test('a labeler whose document names a new endpoint must send a label of its own at that endpoint before it is established', async () => {
  const { document } = labelerDocument as Extract<Resolution, { kind: 'resolved' }>;
  const moved: Resolution = {
    kind: 'resolved',
    document: { ...document, labelerEndpoint: 'https://sound.example' },
  };
  const { roster, time, changed } = rosterOver(labelerDocument, labelerDocument, moved);
  roster.add(did, 'discovered', 'jetstream');
  void roster.run(stop.signal);
  await until(() => changed.length === 1);
  const dated = (): boolean | undefined => roster.labeler(did)?.tracker.tracked.dated;
  roster.labeler(did)?.tracker.apply(answered(micros(time.ms * 1000), { dated: 1, undated: 0 }));
  time.ms += 86_400_000;
  await until(() => changed.length === 2);
  expect(dated()).toBe(true);
  time.ms += 86_400_000;
  await until(() => changed.length === 3);
  expect(dated()).toBe(false);
});
