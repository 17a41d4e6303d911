import { expect, test } from 'vitest';
import { day, micros } from '../../store/time.ts';
import { comparePriority, isPrivileged, type PriorityInput, priorityOf } from './priority.ts';
import { sourceStates } from './source-state.ts';

const now = micros(1_780_000_000_000_000);
const ago = (days: number) => micros(now - days * day);
const facts = (over: Partial<PriorityInput> = {}): PriorityInput => ({
  seeded: false,
  state: 'established',
  firstAnswered: ago(7),
  dated: true,
  failingSince: null,
  ...over,
});

test.each([
  ['never responded is new', { firstAnswered: null }, 'new'],
  ['first responded a moment less than 7 days ago is new', { firstAnswered: micros(ago(7) + 1) }, 'new'],
  ['first responded 7 days ago is established', {}, 'established'],
  ['first responded long ago, and sent no label of its own, is new', { firstAnswered: ago(30), dated: false }, 'new'],
  [
    'first responded long ago, and has failed for 7 days, is new',
    { firstAnswered: ago(30), failingSince: ago(7) },
    'new',
  ],
  [
    'first responded long ago, and has failed for 6 days, is established',
    { firstAnswered: ago(30), failingSince: ago(6) },
    'established',
  ],
  ['is named by the seeds file, and never responded, is seeded', { seeded: true, firstAnswered: null }, 'seeded'],
  [
    'is named by the seeds file, and rejects requests, is seeded',
    { seeded: true, state: 'provider_rejects' },
    'seeded',
  ],
] as const)('a source that %s', (_, over, priority) => {
  expect(priorityOf(facts(over), now)).toBe(priority);
});

test('a source with useless responses loses its privileges, and a source that does not respond keeps its privileges', () => {
  const kept = sourceStates.filter((state) => isPrivileged(priorityOf(facts({ state }), now)));
  expect(kept).toEqual(['unstarted', 'probing', 'established', 'unavailable']);
});

test('reading slots are assigned first to seeds, then to established sources by the time since their first response, then to the other sources', () => {
  const sources = {
    unanswered: facts({ firstAnswered: null }),
    younger: facts({ firstAnswered: ago(1) }),
    established: facts({ firstAnswered: ago(8) }),
    alsoUnanswered: facts({ firstAnswered: null }),
    oldest: facts({ firstAnswered: ago(30) }),
    newest: facts({ firstAnswered: ago(0.5) }),
    seed: facts({ seeded: true, firstAnswered: null }),
    olderSeed: facts({ seeded: true, firstAnswered: ago(2) }),
  };
  const sorted = Object.entries(sources).sort(([, a], [, b]) => comparePriority(a, b, now));
  expect(sorted.map(([name]) => name)).toEqual([
    'olderSeed',
    'seed',
    'oldest',
    'established',
    'younger',
    'newest',
    'unanswered',
    'alsoUnanswered',
  ]);
});
