import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  type SourceEvent,
  type SourceState,
  sourceEvents,
  sourceStateOf,
  sourceStates,
  transition,
} from './source-state.ts';

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
