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
  const one = await startStation({ speed: 60, backfillHours: 0.5 });
  open.push(one);
  await one.weather().stop();
  const first = one.artifact().source.endpoint;
  const other = createSim({ seed: 9, rate: 160, clock: one.clock });
  const { jetstream: second } = await other.start();
  try {
    const earlierLines = one.lines.length;
    await one.restart({ settings: { ...settingsOf(one), backfillHours: 0.5, jetstream: [first, second] } });
    await until('both hosts are read', () =>
      [one.sim, other].every(({ truth }) => truth.deliveries.some(({ closedAtUs }) => closedAtUs === null)),
    );
    expect(one.artifact().source.endpoint).toBe(first);
    await one.sim.stop();
    const goneMs = one.clock();
    await until('the second host is published', () => one.artifact().source.endpoint === second, 120_000);
    const { generated_at: at, caveats, conditions, total_events: total } = one.artifact();
    expect(Date.parse(String(at)) - goneMs).toBeGreaterThan(14 * 60_000);
    expect(caveats?.[0]).toContain('because the first was not observed from');
    expect(conditions.confidence).toBe('unsupported');
    // The first host is gone, so only the second host's backfill can reach its end.
    await until('the backfill of the second host reached its end', () =>
      one.lines.slice(earlierLines).some((line) => line.includes('"reachedItsEnd":true')),
    );
    await one.weather().stop();
    const kept = readStore(one.folder, second);
    expect(minutesOf(kept)).toEqual(deliveredMinutes(other, kept));
    expect(total.total).toBeLessThanOrEqual(kept.rows.reduce((sum, { events }) => sum + events, 0));
    expect(minutesOf(readStore(one.folder, first)).length).toBeGreaterThan(0);
  } finally {
    await other.stop();
  }
}, 180_000);
