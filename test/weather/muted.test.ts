import { afterEach, expect, test } from 'vitest';
import { until } from '../../harness/process/until.ts';
import { deliveredMinutes, minutesOf, readStore } from '../../harness/weather/weather-kept.ts';
import { type Station, startStation } from '../../harness/weather/weather-station.ts';
import type { Truth } from '../../sim/truth.ts';

const open: Station[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.end();
});

/**
 * Returns the time of the first event of a metric that was delivered at or after `fromUs`. Fails if none was delivered
 * within ten minutes.
 */
function firstFrom(truth: Truth, metric: 'like.create' | 'like.delete', fromUs: number): number {
  let [low, high] = [fromUs, fromUs + 600_000_000];
  if (truth.deliveredBetween(low, high).metrics[metric] === 0) throw new Error(`no ${metric} within ten minutes`);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (truth.deliveredBetween(fromUs, middle).metrics[metric] > 0) high = middle;
    else low = middle;
  }
  return low;
}

/** Returns the time of the last event of a metric that was delivered before `toUs`. */
function lastBefore(truth: Truth, metric: 'like.create' | 'like.delete', toUs: number): number {
  let [low, high] = [toUs - 600_000_000, toUs];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (truth.deliveredBetween(middle, toUs).metrics[metric] > 0) low = middle;
    else high = middle;
  }
  return low;
}

test('a collection that a host stops sending is observed up to the microsecond of its last event, and again from its next event', async () => {
  const one = await startStation({ speed: 60, backfillHours: 1.2 });
  open.push(one);
  const { sim } = one;
  await until('an hour is filled in', () =>
    one.lines.some((line) => line.includes('the backfill of missed events has ended')),
  );
  const { fromSeq, toSeq } = sim.faults.mute({ collections: ['app.bsky.feed.like'], seconds: 720 });
  const [fromUs, toUs] = [sim.truth.timeOf(fromSeq ?? 0), sim.truth.timeOf(toSeq ?? 0)];
  await until(
    'the artifact names the collection',
    () => one.artifact().caveats?.join().includes('no like.create events since') === true,
  );
  const during = one.artifact();
  expect(Date.parse(during.window.end) * 1000).toBeLessThan(toUs);
  expect(during.conditions.state).toBe('unavailable');
  await until('events after the silence are committed', () => one.told.committedToUs > toUs + 150_000_000, 60_000);
  await one.weather().stop();

  const kept = readStore(one.folder, one.artifact().source.endpoint);
  expect(minutesOf(kept)).toEqual(deliveredMinutes(sim, kept));
  const { window, collections, caveats } = kept.summary;
  for (const name of ['like.create', 'like.delete'] as const) {
    const silence = firstFrom(sim.truth, name, toUs) - lastBefore(sim.truth, name, fromUs) - 1;
    expect(silence).toBeGreaterThan(719_000_000);
    expect(collections[name]?.observed_seconds).toBeCloseTo(window.observed_seconds - silence / 1e6, 5);
    expect(caveats?.join()).toContain(`no ${name} events from`);
  }
  for (const [name, collection] of Object.entries(collections)) {
    if (!name.startsWith('like.'))
      expect([name, collection?.observed_seconds]).toEqual([name, window.observed_seconds]);
  }
});
