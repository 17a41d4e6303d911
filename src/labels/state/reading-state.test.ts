import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { day, micros } from '../../store/time.ts';
import {
  comparePriority,
  isPrivileged,
  type PriorityInput,
  priorityOf,
  type SourceEvent,
  type SourceState,
  sourceEvents,
  sourceStateOf,
  sourceStates,
  transition,
} from './reading-state.ts';

const events = Object.keys(sourceEvents) as SourceEvent[];
const page = readFileSync(new URL('../../../docs/labels.md', import.meta.url), 'utf8');

/** Returns the documented state after each event in each state, read from docs/labels.md. */
function documented(): Map<string, string> {
  const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')));
  const heading = rows.find((cells) => cells[1] === 'state \\ event') ?? [];
  const table = new Map<string, string>();
  for (const cells of rows) {
    if (!sourceStates.some((state) => state === cells[1])) continue;
    for (const [column, event] of heading.entries()) {
      if (column > 1 && event !== '') table.set(`${cells[1]} ${event}`, cells[column] ?? '');
    }
  }
  return table;
}

describe('the transition of every state by every event', () => {
  const table = documented();
  const pairs = sourceStates.flatMap((state) => events.map((event) => [state, event] as const));

  test('is documented, and the documentation contains no other transition', () => {
    expect([...table.keys()].sort()).toEqual(pairs.map((pair) => pair.join(' ')).sort());
  });

  test.each(pairs)('leads to the documented state (%s by %s)', (state, event) => {
    expect(transition(state, event)).toBe(table.get(`${state} ${event}`));
  });
});

describe('the rules of the transition table', () => {
  test.each(sourceStates)(
    'define the next state after a response or a lasting failure independently of the current state (%s)',
    (state) => {
      const then = (event: SourceEvent): SourceState => transition(state, event);
      expect(then('answered')).toBe('established');
      expect(then('refusing')).toBe('refused');
      expect(then('rejecting')).toBe('provider_rejects');
      expect(then('failed_long')).toBe('unavailable');
      expect(then('order_unverified')).toBe('cursor_order_unverified');
      expect(then('only_undated')).toBe('undated_only');
    },
  );

  test('make a source established only after a response', () => {
    const pairs = sourceStates.flatMap((state) => events.map((event) => [state, event] as const));
    for (const [state, event] of pairs) {
      if (transition(state, event) === 'established')
        expect([event, state]).toContain(event === 'answered' ? event : 'established');
    }
  });

  test('end the established state at a restart, and keep the unstarted state', () => {
    for (const state of sourceStates) expect(transition(state, 'restarted')).not.toBe('established');
    expect(transition('unstarted', 'restarted')).toBe('unstarted');
  });

  test('treat an unknown stored state, such as a state of a different version, as probing', () => {
    expect([sourceStateOf('established'), sourceStateOf('asleep')]).toEqual(['established', 'probing']);
  });
});

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
