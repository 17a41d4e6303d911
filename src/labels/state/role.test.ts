import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { WriterSighting } from '../../store/standby/standby.ts';
import { type RoleAction, type RoleEvent, roleStep, roleTimes, standingBy } from './role.ts';

function writing(beat: string | null, state: 'opening' | 'ready' = 'ready'): WriterSighting {
  return { kind: 'writing', state, beat, isGone: false };
}

/** Sighting of a writer that has lost all its connections. */
const gone: WriterSighting = { kind: 'writing', state: 'ready', beat: 'a', isGone: true };

/** Checks a writer at a constant interval. Returns the state, and all actions except `none` with their times. */
function look(
  state: typeof standingBy,
  { from, until, sighting }: { from: number; until: number; sighting: (at: number) => WriterSighting },
) {
  const actions: [number, RoleAction][] = [];
  let current = state;
  for (let at = from; at <= until; at += roleTimes.lookMs) {
    const [next, action] = roleStep(current, { kind: 'looked', at, sighting: sighting(at) });
    current = next;
    if (action !== 'none') actions.push([at, action]);
  }
  return { state: current, actions };
}

test('a standby opens the store as soon as no process writes to it', () => {
  const [state, action] = roleStep(standingBy, { kind: 'looked', at: 10, sighting: { kind: 'none' } });
  expect([state.role, action]).toEqual(['taking_over', 'open_store']);
});

test('a writer whose heartbeat changes is not ended within a minute', () => {
  const beating = { from: 0, until: 60_000, sighting: (at: number) => writing(String(Math.floor(at / 500))) };
  expect(look(standingBy, beating).actions).toEqual([]);
});

test('a standby ends a writer whose heartbeat has not changed for three seconds, and tries again three seconds later', () => {
  const hanging = { from: 0, until: 6_500, sighting: () => writing('a') };
  expect(look(standingBy, hanging).actions).toEqual([
    [roleTimes.staleMs, 'end_writer'],
    [2 * roleTimes.staleMs, 'end_writer'],
  ]);
});

test('a writer without a connection is ended after less than a second', () => {
  const { state } = look(standingBy, { from: 0, until: 1_000, sighting: (at) => writing(String(at)) });
  const [seen] = roleStep(state, { kind: 'looked', at: 1_250, sighting: writing('a') });
  expect(look(seen, { from: 1_500, until: 1_500 + roleTimes.goneMs, sighting: () => gone }).actions).toEqual([
    [1_500 + roleTimes.goneMs, 'end_writer'],
  ]);
});

test('a writer that opens a new connection or renews its lease in time is not ended', () => {
  const connectedAgain = (at: number): WriterSighting => (at % 750 === 0 ? writing('a') : gone);
  expect(look(standingBy, { from: 0, until: 2_500, sighting: connectedAgain }).actions).toEqual([]);
  const renewed = (at: number): WriterSighting => ({ ...gone, beat: String(Math.floor(at / 500)) });
  expect(look(standingBy, { from: 0, until: 60_000, sighting: renewed }).actions).toEqual([]);
});

test('the time in which the store cannot be reached does not count as time without a connection', () => {
  const { state } = look(standingBy, { from: 0, until: roleTimes.goneMs - roleTimes.lookMs, sighting: () => gone });
  const [unseen] = roleStep(state, { kind: 'unseen' });
  const after = look(unseen, { from: 2_000, until: 2_000 + roleTimes.goneMs, sighting: () => gone });
  expect(after.actions).toEqual([[2_000 + roleTimes.goneMs, 'end_writer']]);
});

test('a writer without a connection is not ended because of a single late check', () => {
  const [first] = roleStep(standingBy, { kind: 'looked', at: 0, sighting: gone });
  const [second, action] = roleStep(first, { kind: 'looked', at: 10_000, sighting: gone });
  expect([action, roleStep(second, { kind: 'looked', at: 20_000, sighting: gone })[1]]).toEqual(['none', 'end_writer']);
});

test('a standby that could not end a writer tries again one second later', () => {
  const { state } = look(standingBy, { from: 0, until: roleTimes.staleMs, sighting: () => writing('a') });
  const [kept] = roleStep(state, { kind: 'writer_kept', why: 'busy' });
  const retry = {
    from: roleTimes.staleMs + roleTimes.lookMs,
    until: roleTimes.staleMs + roleTimes.endRetryMs,
    sighting: () => writing('a'),
  };
  expect(look(kept, retry).actions).toEqual([[roleTimes.staleMs + roleTimes.endRetryMs, 'end_writer']]);
});

test('a writer that is opening the store is ended only after 15 minutes', () => {
  const opening = { from: 0, until: roleTimes.staleOpeningMs, sighting: () => writing('a', 'opening') };
  expect(look(standingBy, opening).actions).toEqual([[roleTimes.staleOpeningMs, 'end_writer']]);
});

test('a writer without a heartbeat is not ended within a minute', () => {
  expect(look(standingBy, { from: 0, until: 60_000, sighting: () => writing(null) }).actions).toEqual([]);
});

test('an interruption of the standby itself adds at most one second to the age of the heartbeat', () => {
  const before = 1_000;
  const { state } = look(standingBy, { from: 0, until: before, sighting: () => writing('a') });
  const woken = before + 600_000;
  const after = look(state, { from: woken, until: woken + roleTimes.staleMs, sighting: () => writing('a') });
  expect(after.actions).toEqual([[woken + roleTimes.staleMs - before - roleTimes.maxLookGapMs, 'end_writer']]);
});

test.each([1_100, 1_600, 5_000])(
  'a standby that checks every %d ms ends a hanging writer at the fourth check',
  (ms) => {
    let state = standingBy;
    const actions = Array.from({ length: 4 }, (_, i) => {
      const [next, action] = roleStep(state, { kind: 'looked', at: i * ms, sighting: writing('a') });
      state = next;
      return action;
    });
    expect(actions).toEqual(['none', 'none', 'none', 'end_writer']);
  },
);

test('after the standby and the writer were suspended together, the writer has more than a second to update its heartbeat', () => {
  const { state } = look(standingBy, { from: 0, until: 500, sighting: () => writing('a') });
  const woken = 60_000;
  const after = look(state, { from: woken, until: woken + 1_250, sighting: () => writing('a') });
  expect(after.actions).toEqual([]);
  const [shown, action] = roleStep(after.state, { kind: 'looked', at: woken + 1_500, sighting: writing('b') });
  expect([shown.unchangedMs, action]).toEqual([0, 'none']);
});

test('the time in which the store cannot be reached does not add to the age of the heartbeat', () => {
  const before = 1_500;
  const { state } = look(standingBy, { from: 0, until: before, sighting: () => writing('a') });
  const [unseen] = roleStep(state, { kind: 'unseen' });
  const seen = before + 700;
  const after = look(unseen, { from: seen, until: seen + roleTimes.staleMs, sighting: () => writing('a') });
  expect(after.actions).toEqual([[seen + roleTimes.staleMs - before, 'end_writer']]);
});

test('a standby reports once why it does not end the writer, and again if the reason changes', () => {
  const kept = (why: string): RoleEvent => ({ kind: 'writer_kept', why });
  const [first, told] = roleStep(standingBy, kept('EPERM'));
  const [second, silent] = roleStep(first, kept('EPERM'));
  expect([told, silent, roleStep(second, kept('gone'))[1]]).toEqual(['tell', 'none', 'tell']);
});

test('a standby that does not get the lock returns to its initial state', () => {
  const [opening] = roleStep(standingBy, { kind: 'looked', at: 10, sighting: { kind: 'none' } });
  expect(roleStep(opening, { kind: 'lock_lost' })).toEqual([standingBy, 'none']);
});

test('a fenced instrument exits once and never becomes active again', () => {
  const events = fc.array(
    fc.oneof(
      fc.record({
        kind: fc.constant('looked' as const),
        at: fc.nat(10_000),
        sighting: fc.constantFrom<WriterSighting>({ kind: 'none' }, writing('a'), writing('b')),
      }),
      fc.constantFrom<RoleEvent>({ kind: 'taken_over' }, { kind: 'lock_lost' }, { kind: 'fenced' }),
    ),
  );
  fc.assert(
    fc.property(events, (all) => {
      const [fenced, first] = roleStep(standingBy, { kind: 'fenced' });
      expect(first).toBe('exit');
      let state = fenced;
      for (const event of all) {
        const [next, action] = roleStep(state, event);
        expect([next.role, action]).toEqual(['fenced', 'none']);
        state = next;
      }
    }),
  );
});

test('an instrument becomes active only after it opened the store', () => {
  const [active] = roleStep(standingBy, { kind: 'taken_over' });
  expect(active.role).toBe('standby');
  const [opening] = roleStep(standingBy, { kind: 'looked', at: 10, sighting: { kind: 'none' } });
  expect(roleStep(opening, { kind: 'taken_over' })).toEqual([{ ...opening, role: 'active' }, 'publish']);
});
