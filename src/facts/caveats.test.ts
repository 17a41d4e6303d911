import { expect, it } from 'vitest';
import { aRecentOverview, aWeatherSummary } from '../../harness/artifacts/overviews.ts';
import type { Origin } from '../contract/vocabulary.ts';
import { projectLabels } from './project-labels.ts';
import { projectWeather } from './project-weather.ts';

const simulated = 'These facts come from a simulated network. They say nothing about the real one.';
const sample = 'These facts come from a bundled sample. They say nothing about the network now.';

const labelCaveats = (origin: Origin, caveats: string[] = []): string[] =>
  projectLabels({ schema: 'labels.recent-overview.v1', overview: { ...aRecentOverview(), origin, caveats } }).caveats;
const weatherCaveats = (origin: Origin, isAhead = false, caveats: string[] = []): string[] =>
  projectWeather({ schema: 'weather.summary.v1', summary: aWeatherSummary({ origin, caveats }) }, isAhead).caveats;

it('the first caveat of facts with an origin other than live names the origin', () => {
  expect([labelCaveats('simulated')[0], weatherCaveats('simulated')[0]]).toEqual([simulated, simulated]);
  expect([labelCaveats('sample')[0], weatherCaveats('sample')[0]]).toEqual([sample, sample]);
  for (const caveats of [labelCaveats('live'), weatherCaveats('live')]) {
    expect(caveats).not.toContain(simulated);
    expect(caveats).not.toContain(sample);
  }
});

it("an artifact's own caveats follow the fixed caveats", () => {
  const own = ['2 of 9 labelers are being read.'];
  expect(labelCaveats('live', own)).toEqual([...labelCaveats('live'), ...own]);
  for (const isAhead of [false, true]) {
    expect(weatherCaveats('live', isAhead, own)).toEqual([...weatherCaveats('live', isAhead), ...own]);
  }
});

it('weather facts with a future timestamp have a caveat about a wrong clock', () => {
  const [ahead] = weatherCaveats('live', true).slice(-1);
  expect(ahead).toContain("ahead of this service's clock");
  expect(weatherCaveats('live')).not.toContain(ahead);
});
