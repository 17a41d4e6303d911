import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Resolution } from '../network/identity.ts';
import { micros } from '../store/time.ts';
import type { Member } from './member.ts';
import { maxKnown, Roster } from './roster.ts';
import { wait } from './wait.ts';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const labeler: Resolution = {
  kind: 'resolved',
  document: {
    did,
    handle: 'mod.example.com',
    labelerDeclared: true,
    labelerEndpoint: new URL('https://l.example.com'),
    pds: new URL('https://pds.example.com'),
    labelKeys: [],
  },
};
const failed: Resolution = { kind: 'failed', answer: { kind: 'dns', code: 'ENOTFOUND' } };
let stop = new AbortController();

beforeEach(() => {
  stop = new AbortController();
});
afterEach(() => stop.abort());

/** A roster over a directory that answers as it is told, one answer after the other, the last one again and again. */
function rosterOver(...answers: Resolution[]) {
  const time = { ms: Date.UTC(2026, 5, 1) };
  const asked: boolean[] = [];
  const changed: Member[] = [];
  const roster = new Roster({
    identities: {
      resolve: async (_, { fresh = false }) => {
        asked.push(fresh);
        return (answers.length > 1 ? answers.shift() : answers[0]) ?? failed;
      },
    },
    clock: () => micros(time.ms * 1000),
    wait: (_, signal) => wait(1, signal),
    refreshMs: 86_400_000,
    retryMs: 60_000,
    changed: (member) => changed.push(member),
  });
  return { roster, time, asked, changed };
}
const until = (holds: () => boolean) => expect.poll(holds, { timeout: 10_000, interval: 2 }).toBe(true);

test('naming a labeler again adds who named it, and touches nothing else', () => {
  const { roster } = rosterOver(failed);
  roster.add(did, 'seeded', 'seeds');
  const before = roster.member(did)?.tracker;
  roster.add(did, 'discovered', 'relay r.example');
  expect(roster.member(did)).toMatchObject({ origin: 'seeded', provenance: new Set(['seeds', 'relay r.example']) });
  expect(roster.member(did)?.tracker).toBe(before);
});

test('a directory that does not answer changes nothing and is asked again; a document is read again daily', async () => {
  const { roster, time, asked, changed } = rosterOver(failed, labeler);
  roster.add(did, 'seeded', 'seeds');
  void roster.run(stop.signal);
  await until(() => asked.length === 1);
  expect([changed.length, roster.member(did)?.finding]).toEqual([0, 'unresolved']);
  time.ms += 60_000;
  await until(() => changed.length === 1);
  expect(roster.member(did)).toMatchObject({
    finding: 'labeler',
    endpoint: 'https://l.example.com',
    pds: 'https://pds.example.com',
    handle: 'mod.example.com',
    handleConfirmed: false,
  });
  time.ms += 86_399_999;
  await wait(30, stop.signal);
  expect(asked).toHaveLength(2);
  time.ms += 1;
  await until(() => asked.length === 3);
  // An answer that is kept would not do for a refresh.
  expect(asked).toEqual([false, true, true]);
});

test('rows are given to be kept only where something changed', async () => {
  const { roster, changed } = rosterOver(labeler);
  roster.add(did, 'discovered', 'jetstream');
  expect(roster.takeChanged().map((row) => row.enrolled)).toEqual([false]);
  expect(roster.takeChanged()).toEqual([]);
  void roster.run(stop.signal);
  await until(() => changed.length === 1);
  const rows = roster.takeChanged();
  expect(rows.map(({ enrolled, endpoint }) => ({ enrolled, endpoint }))).toEqual([
    { enrolled: true, endpoint: 'https://l.example.com' },
  ]);
  const again = rosterOver(failed).roster;
  again.load(rows, new Map());
  expect(again.member(did)).toMatchObject({ finding: 'labeler', handle: 'mod.example.com' });
});

test('more labelers than are kept are counted, and those that are known stay', () => {
  const { roster } = rosterOver(failed);
  for (let i = 0; i < maxKnown + 3; i++) roster.add(`did:web:l${i}.example.com`, 'discovered', 'jetstream');
  roster.add('did:web:l0.example.com', 'discovered', 'seeds');
  expect([[...roster.members].length, roster.dropped]).toEqual([maxKnown, 3]);
});
