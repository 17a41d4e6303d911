import { afterEach, expect, test } from 'vitest';
import { until } from '../../harness/process/until.ts';
import { deliveredMinutes, minutesOf, readStore } from '../../harness/weather/weather-kept.ts';
import { settingsOf, startStation } from '../../harness/weather/weather-station.ts';
import { createSim } from '../../sim/index.ts';

const open: { end(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.end();
});

test('the weather instrument reads a second host continuously, and publishes only that host once the first has been absent for 15 minutes', async () => {
  const one = await startStation({ speed: 60, backfillHours: 0.5, sim: { rate: 30 } });
  open.push(one);
  await one.weather().stop();
  const first = one.artifact().source.endpoint;
  const other = createSim({ seed: 9, rate: 50, clock: one.clock });
  const { jetstream: second } = await other.start();
  try {
    const earlierLines = one.lines.length;
    await one.restart({ settings: { ...settingsOf(one), backfillHours: 0.5, jetstream: [first, second] } });
    await until('both hosts are read', () =>
      [one.sim, other].every(({ truth }) => truth.deliveries.some(({ closedAtUs }) => closedAtUs === null)),
    );
    await until('events of the first host are published', () => (one.artifact().total_events.total ?? 0) > 0);
    expect(one.artifact().source.endpoint).toBe(first);
    await one.sim.stop();
    const goneMs = one.clock();
    await until('the second host is published', () => one.artifact().source.endpoint === second, 120_000);
    const { generated_at: at, caveats, conditions, total_events: total } = one.artifact();
    const failover = /published since (\S+) because the first was not observed from (\S+) onwards/.exec(
      caveats?.[0] ?? '',
    );
    const [publishedSince = 0, unobservedSince = 0] = failover?.slice(1).map(Date.parse) ?? [];
    expect(publishedSince - unobservedSince).toBeGreaterThanOrEqual(15 * 60_000);
    expect(Date.parse(String(at))).toBeGreaterThanOrEqual(publishedSince);
    expect(conditions.confidence).toBe('unsupported');
    // The first host is gone, so only the second host's backfill can reach its end.
    await until('the backfill of the second host reached its end', () =>
      one.lines.slice(earlierLines).some((line) => line.includes('"reachedItsEnd":true')),
    );
    await one.weather().stop();
    const kept = readStore(one.folder, second);
    expect(minutesOf(kept)).toEqual(deliveredMinutes(other, kept));
    expect(total.total).toBeLessThanOrEqual(kept.rows.reduce((sum, { events }) => sum + events, 0));
    const keptOfFirst = readStore(one.folder, first);
    expect(unobservedSince).toBeLessThanOrEqual(goneMs);
    expect(unobservedSince).toBe(Math.floor((keptOfFirst.observed.at(-1)?.to ?? 0) / 1000));
    expect(minutesOf(keptOfFirst).length).toBeGreaterThan(0);
  } finally {
    await other.stop();
  }
});
