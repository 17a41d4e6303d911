import { describe, expect, it } from 'vitest';
import { fractions } from '../../sim/random.ts';
import { FairQueue, type Waiting } from './fair-queue.ts';

const readers = 2;
const waitMs = 400;
const cheapMs = 20;
const heavyEveryMs = 1_000;
const lastsMs = 240_000;
const oldestEvery = 8;

/** The methods of a queue that the simulation uses. */
type Turns = Pick<FairQueue, 'add' | 'remove' | 'take' | 'spend'>;

/** Reference queue that grants turns in the order of arrival. */
function plainRound(): Turns {
  const waiting: Waiting[] = [];
  return {
    add: (_client, one) => waiting.push(one) > 0,
    remove: (_client, one) => void waiting.splice(waiting.indexOf(one), 1),
    take: () => waiting.shift() ?? null,
    spend: () => undefined,
  };
}

/** Number of requests of one kind, and how many of them had a turn. */
interface Served {
  asked: number;
  served: number;
}

/** Runs actions in the order of their virtual time, in milliseconds. */
function virtualTime() {
  let now = 0;
  let made = 0;
  const due: { readonly atMs: number; readonly nth: number; readonly act: () => void }[] = [];
  return {
    now: () => now,
    after(ms: number, act: () => void): void {
      const one = { atMs: now + ms, nth: made++, act };
      const at = due.findLastIndex(({ atMs }) => atMs <= one.atMs);
      due.splice(at + 1, 0, one);
    },
    run(untilMs: number): void {
      for (let next = due.shift(); next && next.atMs < untilMs; next = due.shift()) {
        now = next.atMs;
        next.act();
      }
    },
  };
}

/** Simulates readers that each serve one request at a time, in virtual time. */
function readersOf(turns: Turns, after: (ms: number, act: () => void) => void) {
  let free = readers;
  function begin(kind: Served, client: string, costMs: number, waiting?: Waiting): void {
    kind.served += 1;
    free -= 1;
    after(costMs, () => {
      turns.spend(client, costMs, waiting);
      free += 1;
      turns.take()?.admit();
    });
  }
  /** Makes a request from a new client. Without a free reader, the request waits in the queue for at most `waitMs`. */
  return (kind: Served, costMs: number, expectedCost: number): void => {
    const client = `${costMs} ${kind.asked++}`;
    if (free > 0) {
      begin(kind, client, costMs);
      return;
    }
    let waits = true;
    const waiting: Waiting = {
      admit: () => {
        waits = false;
        begin(kind, client, costMs, waiting);
      },
      refuse: () => undefined,
      expectedCost,
    };
    turns.add(client, waiting);
    after(waitMs, () => {
      if (waits) turns.remove(client, waiting);
    });
  };
}

/**
 * Simulates two kinds of requests: cheap requests from new clients and, on average once per second, a request about
 * an account that costs `heavyMs`. `load` is the load of both kinds together.
 */
function simulate(load: number, heavyMs: number, turnsAt: (monotonic: () => number) => Turns) {
  const { now, after, run } = virtualTime();
  const random = fractions(7);
  const ask = readersOf(turnsAt(now), after);
  const cheap: Served = { asked: 0, served: 0 };
  const heavy: Served = { asked: 0, served: 0 };
  const askAgain = (everyMs: number, act: () => void): void => {
    act();
    after(-Math.log(1 - random()) * everyMs, () => askAgain(everyMs, act));
  };
  askAgain(cheapMs / (load * readers - heavyMs / heavyEveryMs), () => ask(cheap, cheapMs, 0));
  askAgain(heavyEveryMs, () => ask(heavy, heavyMs, heavyMs));
  run(lastsMs);
  return { cheap: cheap.served / cheap.asked, heavy: heavy.served / heavy.asked };
}

const fair = (monotonic: () => number): Turns =>
  new FairQueue({ maxWaiting: 4_096, monotonic, oldestEvery, maxOldestCost: (waitMs * readers) / oldestEvery });

describe('a fair queue with costly requests about one account and cheap requests of new clients', () => {
  it.each([
    [60, 0.9],
    [350, 0.5],
  ])(
    'grants requests that take %i ms at least %f times the turns of a first-come, first-served queue at a load of 0.95, and grants cheap requests nearly all requested turns',
    (heavyMs, part) => {
      const plain = simulate(0.95, heavyMs, plainRound);
      const { cheap, heavy } = simulate(0.95, heavyMs, fair);
      expect(heavy / plain.heavy).toBeGreaterThanOrEqual(part);
      expect(cheap).toBeGreaterThanOrEqual(0.99);
    },
  );

  it.each([60, 350])('serves at least a quarter of the requests that take %i ms, at a load of 1.1', (heavyMs) => {
    expect(simulate(1.1, heavyMs, fair).heavy).toBeGreaterThanOrEqual(0.25);
  });
});
