import { expect, it } from 'vitest';
import { recentLabelCaveats, weatherCaveatsFor } from './caveats.ts';

const simulated = 'These facts come from a simulated network. They say nothing about the real one.';
const sample = 'These facts come from a bundled sample. They say nothing about the network now.';

it('the first caveat of facts with an origin other than live names the origin', () => {
  expect([recentLabelCaveats('simulated', [])[0], weatherCaveatsFor('simulated', false, [])[0]]).toEqual([
    simulated,
    simulated,
  ]);
  expect([recentLabelCaveats('sample', [])[0], weatherCaveatsFor('sample', false, [])[0]]).toEqual([sample, sample]);
  for (const caveats of [recentLabelCaveats('live', []), weatherCaveatsFor('live', false, [])]) {
    expect(caveats).not.toContain(simulated);
    expect(caveats).not.toContain(sample);
  }
});

it("an artifact's own caveats follow the fixed caveats", () => {
  const own = ['2 of 9 labelers are being read.'];
  expect(recentLabelCaveats('live', own)).toEqual([...recentLabelCaveats('live', []), ...own]);
  for (const ahead of [false, true]) {
    expect(weatherCaveatsFor('live', ahead, own)).toEqual([...weatherCaveatsFor('live', ahead, []), ...own]);
  }
});

it('weather facts with a future timestamp have a caveat about a wrong clock', () => {
  const [ahead] = weatherCaveatsFor('live', true, []).slice(-1);
  expect(ahead).toContain("ahead of this service's clock");
  expect(weatherCaveatsFor('live', false, [])).not.toContain(ahead);
});
