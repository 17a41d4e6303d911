import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { countsOf, subscribe } from '../../harness/sim/consumer.ts';
import { manualClock } from '../../sim/clock.ts';
import { createSim, type Sim } from '../../sim/index.ts';

const replay = fileURLToPath(new URL('../fixtures/jetstream/production_v1.jsonl', import.meta.url));
const recorded = readFileSync(replay, 'utf8').trimEnd().split('\n');
const running: Sim[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((sim) => sim.stop()));
});

function started(sim: Sim): Sim {
  running.push(sim);
  return sim;
}

it("a recording's frames are served verbatim as history", async () => {
  const sim = started(createSim({ replay, replayAs: 'history' }));
  const { jetstream } = await sim.start();
  const consumer = await subscribe(jetstream, { cursor: '1' });
  await consumer.received(recorded.length);
  expect(consumer.frames).toEqual(recorded);
  expect(sim.truth.deliveredBetween(0, Number.MAX_SAFE_INTEGER)).toEqual(countsOf(recorded));
});

it("a recording's frames are served verbatim as live traffic, at the given rate", async () => {
  const clock = manualClock(Date.UTC(2026, 6, 4));
  const sim = started(createSim({ replay, rate: 10, clock: clock.now }));
  const { jetstream } = await sim.start();
  const consumer = await subscribe(jetstream);
  clock.advance(5000);
  await consumer.received(50);
  expect(consumer.frames).toEqual(recorded.slice(0, 50));
  clock.advance(60_000);
  await consumer.received(recorded.length);
  expect(consumer.frames).toEqual(recorded);
});

it('the record of the recorded production frames has their known content', () => {
  const { truth } = createSim({ replay });
  const { metrics, ...outcomes } = truth.countsBetween(0, Number.MAX_SAFE_INTEGER);
  expect(outcomes).toEqual({ events: 152, notJson: 0, noTime: 0, resync: 0 });
  expect(Object.fromEntries(Object.entries(metrics).filter(([, count]) => count > 0))).toEqual({
    'like.create': 105,
    'post.create': 17,
    'post.create.reply': 8,
    'post.create.embed.external': 3,
    'post.create.embed.images': 2,
    'repost.create': 15,
    'follow.create': 6,
    'follow.delete': 3,
    'block.create': 1,
    'post.delete': 1,
    'actor_status.update': 1,
    'untracked.collection': 1,
    'identity.event': 1,
    'account.event': 1,
    'account.active.true': 1,
  });
});

it('injected faults that would alter recorded frames are refused', () => {
  const { faults } = createSim({ replay });
  expect(() => faults.malformed({ events: 1 })).toThrow('recorded frames are served verbatim');
});
