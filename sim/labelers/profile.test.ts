import { expect, it } from 'vitest';
import { ailments, createPopulation, labelerDid } from './profile.ts';

const options = { seed: 5, labelers: 300, labelRate: 20, relays: 2, population: 'troubled' } as const;

it('the ten largest labelers emit 84 % of the labels, and the 81 largest emit all of them', () => {
  const rates = createPopulation(options).map(({ rate }) => rate);
  const share = (count: number) => rates.slice(0, count).reduce((sum, rate) => sum + rate, 0) / 20;
  expect([share(1), share(3), share(10), share(20), share(81)].map((one) => Math.round(one * 1000) / 10)).toEqual([
    10.8, 32, 84, 98, 100,
  ]);
  expect(rates.filter((rate) => rate > 0).length).toBe(81);
});

it('a population of 300 labelers covers every ailment, but the ten largest labelers have no ailment', () => {
  const profiles = createPopulation(options);
  expect(new Set(profiles.map(({ ailment }) => ailment))).toEqual(new Set(ailments));
  expect(profiles.slice(0, 10).map(({ ailment }) => ailment)).toEqual(Array.from({ length: 10 }, () => 'none'));
});

it('a population is determined by its seed, and its labelers have distinct DIDs', () => {
  expect(createPopulation(options)).toEqual(createPopulation(options));
  expect(new Set(Array.from({ length: 700 }, (_, index) => labelerDid(1, index))).size).toBe(700);
});
