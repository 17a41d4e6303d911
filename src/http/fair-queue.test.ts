import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairQueue, type Waiting } from './fair-queue.ts';

/** A queue whose members write their names down. */
function queueOf(most: number) {
  const queue = new FairQueue(most);
  const refused: string[] = [];
  const admitted: string[] = [];
  const members = new Map<string, Waiting>();
  return {
    queue,
    refused,
    admitted,
    add(client: string, name: string): boolean {
      const waiting = { admit: () => void admitted.push(name), refuse: () => void refused.push(name) };
      members.set(name, waiting);
      return queue.add(client, waiting);
    },
    remove(client: string, name: string): void {
      const waiting = members.get(name);
      if (waiting) queue.remove(client, waiting);
    },
    drain(): string[] {
      for (let next = queue.take(); next !== null; next = queue.take()) next.admit();
      return admitted;
    },
  };
}

describe('turns', () => {
  it('go round between clients, in order for each', () => {
    const { add, drain } = queueOf(10);
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) add(name.charAt(0), name);
    expect(drain()).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  });

  it('are not given to one that left', () => {
    const { add, remove, drain, queue } = queueOf(10);
    for (const name of ['a1', 'a2', 'b1']) add(name.charAt(0), name);
    remove('a', 'a1');
    remove('b', 'b1');
    remove('b', 'b1');
    expect(queue.size).toBe(1);
    expect(drain()).toEqual(['a2']);
  });
});

describe('a full queue', () => {
  it('takes from the client that has most for one that has less, and from no other', () => {
    const { add, refused, drain } = queueOf(3);
    for (const name of ['a1', 'a2', 'a3']) expect(add('a', name)).toBe(true);
    expect(add('a', 'a4')).toBe(false);
    expect(add('b', 'b1')).toBe(true);
    expect(refused).toEqual(['a3']);
    expect(add('b', 'b2')).toBe(false);
    expect(drain()).toEqual(['a1', 'b1', 'a2']);
  });
});

it('every entry that was added is admitted or refused exactly once, and never are there more than the bound', () => {
  const names = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.boolean()), { maxLength: 60 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), names, (most, steps) => {
      const { add, queue, refused, admitted, drain } = queueOf(most);
      const entered: string[] = [];
      for (const [n, [client, take]] of steps.entries()) {
        if (add(client, `${client}${n}`)) entered.push(`${client}${n}`);
        expect(queue.size).toBeLessThanOrEqual(most);
        if (take) queue.take()?.admit();
      }
      drain();
      expect([...admitted, ...refused].sort()).toEqual(entered.sort());
    }),
  );
});
