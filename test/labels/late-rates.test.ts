import { expect, test } from 'vitest';
import { type RatedHour, ratedHours } from '../../harness/labels/rated-hours.ts';
import type { SimulatedOutage } from '../../harness/labels/simulated-outages.ts';
import { hour, minute } from '../../src/store/time.ts';

/**
 * Proof that labels that were read late do not appear in rates. The instrument reads three simulated labelers for 30
 * days through 40 outages by its own rules, on a simulated clock.
 */

const dids = ['a', 'b', 'c'].map((name) => `did:plc:${name.repeat(24)}`);
const startedAt = Date.parse('2026-10-01T00:00:00Z') * 1000;
const days = 30;
/** Number of labels that a labeler emits per hour; it changes from hour to hour. */
const perHour = (labeler: number, hourNumber: number) => (labeler + 2) * 40 + 12 * ((hourNumber * 7 + labeler) % 5);

/** A generator with a fixed seed, because the outages must be the same in each run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Returns 40 outages of one minute to eight hours; each fourth one is followed by a crash while labels are filled in. */
function outages(): SimulatedOutage[] {
  const random = generator(7);
  const kinds: SimulatedOutage['kind'][] = ['instrument', 'network', 0, 1, 2];
  const made: SimulatedOutage[] = [];
  for (let at = 0; made.length < 40; at += 1) {
    const start = startedAt + (at + 0.2 + 0.3 * random()) * ((days * 24 * hour) / 32);
    const end = start + minute * 480 ** random();
    made.push({ kind: kinds[at % kinds.length] ?? 'instrument', start, end });
    if (at % 4 === 0) made.push({ kind: 'instrument', start: end + 2 * minute, end: end + 5 * minute });
  }
  return made;
}

const errorOf = (rate: number, truth: number): number => Math.abs(rate - truth) / truth;
const ratedSeconds = (one: RatedHour): number => one.observedSeconds - one.lateSeconds;

test('all rates stay within 5 % of the truth in every hour of which at least half was observed, over 30 days with 40 outages', async () => {
  const { byLabeler, sums } = await ratedHours({ dids, startedAt, days, perHour, outages: outages() });
  let worst = 0;
  let compared = 0;
  let peaks = 0;
  for (const [labeler, did] of dids.entries()) {
    for (const one of byLabeler.get(did)?.values() ?? []) {
      const truth = perHour(labeler, one.hour);
      if (one.observedSeconds >= 1_800 && errorOf((one.labels / one.observedSeconds) * 3_600, truth) > 0.05) peaks += 1;
      if (ratedSeconds(one) < 1_800) continue;
      compared += 1;
      worst = Math.max(worst, errorOf(((one.labels - one.lateLabels) / ratedSeconds(one)) * 3_600, truth));
    }
  }
  let worstSum = 0;
  let drawn = 0;
  for (const [number, rate] of sums) {
    const rated = dids
      .map((did) => byLabeler.get(did)?.get(number))
      .map((one) => (one ? ratedSeconds(one) >= 1_800 : false));
    const truth = rated.reduce((sum, isRated, labeler) => sum + (isRated ? perHour(labeler, number) : 0), 0);
    expect(rate === null).toBe(truth === 0);
    if (rate === null) continue;
    drawn += 1;
    worstSum = Math.max(worstSum, errorOf(rate, truth));
  }
  expect(worst).toBeLessThan(0.05);
  expect(worstSum).toBeLessThan(0.05);
  expect(compared).toBeGreaterThan(0.9 * 3 * 24 * days);
  expect(drawn).toBeGreaterThan(0.9 * 24 * days);
  // Dividing all accepted labels by the observed time gives wrong rates in many of these hours.
  expect(peaks).toBeGreaterThan(40);
});
