import { describe, expect, it } from 'vitest';
import { FairTurns } from './fair-turns.ts';

/** Creates fair turns on an event loop that the test controls. Each piece of work takes `pieceMs` milliseconds. */
function turnsOf(pieceMs = 0, maxWaiting = 1_000) {
  const next: (() => void)[] = [];
  let nowMs = 0;
  const begun: string[] = [];
  const refused: string[] = [];
  const turns = new FairTurns({ maxWaiting, nextTurn: (act) => void next.push(act), monotonic: () => nowMs });
  return {
    turns,
    begun,
    refused,
    enter: (client: string, name: string) =>
      turns.enter(
        { network: client, share: 1 },
        () => {
          begun.push(name);
          nowMs += pieceMs;
        },
        () => refused.push(name),
      ),
    /** Runs one turn of the event loop and returns the work that the turn began. */
    turn(): string[] {
      const before = begun.length;
      for (const act of next.splice(0)) act();
      return begun.slice(before);
    },
  };
}

describe('a turn of the event loop', () => {
  it('starts a limited number of tasks, alternating between clients', () => {
    const { enter, turn } = turnsOf();
    for (let n = 1; n <= 8; n++) enter('a', `a${n}`);
    for (const name of ['b1', 'c1']) enter(name.charAt(0), name);
    const first = ['a1', 'b1', 'c1', 'a2', 'a3', 'a4', 'a5', 'a6'];
    expect([turn(), turn(), turn()]).toEqual([first, ['a7', 'a8'], []]);
  });

  it('serves clients with the smallest recent use first, and counts withdrawn tasks as use', () => {
    const { enter, turn } = turnsOf();
    for (let n = 0; n < 10; n++) enter('reconnects', 'never')();
    for (const name of ['steady 1', 'steady 2', 'steady 3', 'steady 4']) enter('steady', name);
    turn();
    for (const name of ['reconnects', 'steady', 'new']) enter(name, name);
    expect(turn()).toEqual(['new', 'steady', 'reconnects']);
  });

  it('starts no further task once its time is used up', () => {
    const { enter, turn } = turnsOf(1.2);
    for (const name of ['a1', 'b1', 'c1']) enter(name.charAt(0), name);
    expect([turn(), turn()]).toEqual([['a1', 'b1'], ['c1']]);
  });

  it('starts no task after it accepts a connection, except after several turns without a task', () => {
    const { enter, turn, turns } = turnsOf();
    enter('a', 'a1');
    const began = Array.from({ length: 5 }, () => {
      turns.accepted();
      return turn();
    });
    expect(began).toEqual([...Array.from({ length: 4 }, () => []), ['a1']]);
  });

  it('does not start withdrawn tasks', () => {
    const { enter, turn, turns } = turnsOf();
    const withdraw = enter('a', 'a1');
    enter('b', 'b1');
    withdraw();
    expect([turn(), turns.waiting]).toEqual([['b1'], 0]);
  });
});

it('a task is refused if the maximum number of tasks is waiting', () => {
  const { enter, refused } = turnsOf(0, 2);
  for (const name of ['a1', 'b1', 'c1']) enter(name.charAt(0), name);
  expect(refused).toEqual(['c1']);
});

it('isCrowdedBy returns true for a client with several tasks only if many tasks are waiting', () => {
  const { enter, turns } = turnsOf();
  for (let n = 0; n < 8; n++) enter('a', `a${n}`);
  const alone = turns.isCrowdedBy({ network: 'a', share: 1 });
  for (let n = 0; n < 250; n++) enter(`client ${n}`, 'once');
  expect([
    alone,
    turns.isCrowdedBy({ network: 'a', share: 1 }),
    turns.isCrowdedBy({ network: 'client 1', share: 1 }),
  ]).toEqual([false, true, false]);
});
