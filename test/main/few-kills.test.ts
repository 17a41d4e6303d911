import { describe, expect, it } from 'vitest';
import { killLabels } from '../../harness/kills/label-kills.ts';
import { killRepeatedly } from '../../harness/kills/weather-kills.ts';

// Kill each instrument a few times in every test run. The proof tier kills each instrument 50 times, and `npm run
// test:kills` kills each one 500 times.
describe('an instrument that is killed five times', () => {
  it('observes the event stream without a lost event, a repeated count or a partially written artifact', async () => {
    const report = await killRepeatedly({ kills: 5, seed: 11, rate: 200 });
    try {
      expect(report.stored).toEqual(report.happened);
      expect(report.kept.observed).toEqual([{ from: report.kept.fromUs, to: report.kept.toUs + 1 }]);
      expect(report.leftOver).toEqual([]);
      expect(report.leaks).toEqual([]);
    } finally {
      report.end();
    }
  }, 300_000);

  it('observes labelers without a lost row, a row stored twice or a hidden gap', async () => {
    const report = await killLabels({ kills: 5, seed: 11 });
    expect(report.problems).toEqual([]);
    expect(report.stored).toBe(report.emitted);
  }, 300_000);
});
