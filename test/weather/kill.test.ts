import { expect, test } from 'vitest';
import { killRepeatedly } from '../../harness/kills/weather-kills.ts';

test('a weather instrument that is killed at any moment and restarted loses no event, counts no event twice and leaves no partial artifact', async () => {
  const report = await killRepeatedly({ kills: 60, seed: 4 });
  try {
    expect(report.stored).toEqual(report.happened);
    expect(report.kept.observed).toEqual([{ from: report.kept.fromUs, to: report.kept.toUs + 1 }]);
    expect(report.kept.observedSeconds).toBeGreaterThan(10_700);
    expect(report.moved).toBeGreaterThan(20);
    expect(report.replaying).toBeGreaterThan(10);
    expect(report.leftOver).toEqual([]);
    expect(report.leaks).toEqual([]);
  } finally {
    report.end();
  }
});
