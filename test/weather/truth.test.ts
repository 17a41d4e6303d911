import { expect, test } from 'vitest';
import { proveWeather } from '../../harness/weather/truth-run.ts';
import { wires } from '../../src/contract/vocabulary.ts';

test.each(wires)(
  'the instrument stores and publishes what two hosts delivered, with every injected fault (%s)',
  async (wire) => {
    const { events, artifacts, failoverMinutes, problems } = await proveWeather({ seed: 1, wire });
    expect(problems).toEqual([]);
    expect(events).toBeGreaterThan(500_000);
    expect(artifacts).toBeGreaterThan(90);
    expect(failoverMinutes).toBeGreaterThanOrEqual(15);
  },
);
