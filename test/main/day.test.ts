import { expect, it } from 'vitest';
import { simulateDay } from '../../harness/day/day.ts';

/**
 * Simulates a day of the whole observatory with real processes and sockets. The clocks run fast and are set to wrong
 * times.
 */

it('the observatory publishes only true facts through a day of kills, a full disk, an outage and wrong clocks, and recovers from each', async () => {
  const report = await simulateDay({ seed: 1, factor: 1200 });
  expect(report.wrong).toEqual([]);
  expect(report.labels.counted).toBe(report.labels.exist);
  expect(report.minutes).toMatchObject({ wrong: 0 });
  // Require that the run covered the day: most of it was observed, every part was killed, and facts were both served
  // and refused.
  expect(report.minutes.watched).toBeGreaterThan(1000);
  expect(report.restarts).toEqual(['facts', 'account', 'weather', 'labels']);
  expect(report.answers).toMatchObject({
    '/v1/labels/overview 200': expect.any(Number),
    '/v1/labels/overview 503': expect.any(Number),
    '/v1/weather/metrics 200': expect.any(Number),
    '/v1/weather/conditions 200': expect.any(Number),
  });
});
