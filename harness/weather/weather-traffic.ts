import { sequence } from '../../sim/random.ts';
import { type CollectionName, collectionNames } from '../../src/contract/vocabulary.ts';
import { findSilences } from '../../src/weather/silence/silence.ts';
import { type Usual, type UsualCounts, usualCounts, usualPause } from '../../src/weather/silence/usual.ts';

import type { Silence } from '../../src/weather/window/store-schema.ts';
import { type Minute, windowsPerDay, windowUs } from '../../src/weather/window/window.ts';

/** Midnight at which the simulated traffic begins, in microseconds since 1970. */
const startUs = Date.parse('2026-09-01T00:00:00Z') * 1000;
const day = windowsPerDay;
const hour = 60;

/** Mean events per minute, from a survey of live traffic (sim/events/traffic-mix.ts). */
const means: Readonly<Record<CollectionName, number>> = {
  'post.create': 2259,
  'post.create.reply': 1087,
  'post.create.quote': 154,
  'post.delete': 137,
  'like.create': 12_830,
  'like.delete': 157,
  'repost.create': 2042,
  'repost.delete': 65,
  'follow.create': 1417,
  'follow.delete': 204,
  'block.create': 221,
  'block.delete': 9.8,
  'listitem.create': 19.7,
  'listitem.delete': 3,
  'profile.update': 50,
  'identity.event': 14.5,
  'account.event': 17.9,
};
/** Collections whose rate rises during storms. */
const stormy: readonly CollectionName[] = ['post.create', 'post.create.reply', 'post.create.quote', 'like.create'];
/** Collections of bulk operations. Their traffic has a low rate, bursts and pauses. */
const clumped: readonly CollectionName[] = ['listitem.create', 'listitem.delete', 'block.delete'];

/** A seeded source of random numbers. */
interface Chance {
  uniform(): number;
  normal(): number;
  poisson(mean: number): number;
}

function chanceOf(seed: number): Chance {
  const next = sequence(seed);
  const uniform = (): number => (next() + 0.5) / 0x1_0000_0000;
  const normal = (): number => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  const poisson = (mean: number): number => {
    if (mean > 60) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal()));
    const floor = Math.exp(-mean);
    let count = 0;
    for (let product = uniform(); product > floor; product *= uniform()) count += 1;
    return count;
  };
  return { uniform, normal, poisson };
}

/**
 * Returns a factor for each minute. The factors differ from 1 in randomly placed spans: `perDay` spans per day, each
 * `length` minutes long.
 */
function spans(chance: Chance, days: number, perDay: number, length: () => number, factor: () => number): Float64Array {
  const factors = new Float64Array(days * day).fill(1);
  for (let n = chance.poisson(perDay * days); n > 0; n -= 1) {
    const from = Math.floor(chance.uniform() * factors.length);
    factors.fill(factor(), from, Math.min(factors.length, from + Math.ceil(length())));
  }
  return factors;
}

/** Simulated events per minute and collection. */
export interface Traffic {
  readonly days: number;
  /** Number of events for each collection, by minute. */
  readonly counts: readonly Float64Array[];
  /** One element per minute: 1 if the minute was observed, otherwise 0. */
  readonly observed: Uint8Array;
}

/**
 * Creates traffic with a daily wave, slow drift, noise, storms, lulls, bulk operations, interruptions of the
 * observation, and pauses of rare collections. Each rare collection has three pauses per day on average, with a
 * median length of 12 minutes; about one pause in 500 is longer than two hours.
 */
export function makeTraffic(seed: number, days: number): Traffic {
  const chance = chanceOf(seed);
  const { uniform } = chance;
  const storms = spans(
    chance,
    days,
    0.4,
    () => 15 + 180 * uniform(),
    () => 1.5 + 3 * uniform(),
  );
  const lulls = spans(
    chance,
    days,
    0.2,
    () => 30 + 210 * uniform(),
    () => 0.3 + 0.4 * uniform(),
  );
  const outages = spans(
    chance,
    days,
    0.5,
    () => 0.5 + 40 * uniform() ** 4,
    () => 0,
  );
  const level = new Float64Array(days * day);
  for (let minute = 0, drift = 0; minute < level.length; minute += 1) {
    drift = drift * 0.992 + 0.02 * chance.normal();
    const wave = 1 + 0.5 * Math.sin((2 * Math.PI * (minute - 14 * hour)) / day);
    level[minute] = wave * Math.exp(drift + 0.04 * chance.normal()) * (lulls[minute] ?? 1);
  }
  const counts = collectionNames.map((name) => {
    const raised = stormy.includes(name) ? storms : null;
    if (!clumped.includes(name)) {
      return level.map((now, minute) => chance.poisson(means[name] * now * (raised?.[minute] ?? 1)));
    }
    const bulks = spans(
      chance,
      days,
      6,
      () => 1 + 40 * uniform() ** 2,
      () => 3 + 20 * uniform(),
    );
    const pauses = spans(
      chance,
      days,
      3,
      () => 12 * Math.exp(0.8 * chance.normal()),
      () => 0,
    );
    return level.map((now, minute) => {
      const bulk = bulks[minute] ?? 1;
      return chance.poisson(0.25 * means[name] * now * bulk * (bulk > 1 ? 1 : (pauses[minute] ?? 1)));
    });
  });
  return { days, counts, observed: Uint8Array.from(outages, (factor) => (factor === 1 ? 1 : 0)) };
}

/** Returns the minute at an index of the traffic. */
function minuteOf({ counts, observed }: Traffic, index: number): Minute {
  const watched = observed[index] === 1;
  const now = counts.map((of) => (watched ? (of[index] ?? 0) : 0));
  return {
    ...{ startUs: startUs + index * windowUs, observedUs: watched ? windowUs : 0, flags: 0, resync: 0, leftOut: 0 },
    ...{ counts: now, events: now.reduce((sum, count) => sum + count, 0), complete: watched, eligible: watched },
  };
}

/** Results of searching for silences once per hour, each time in the preceding 24 hours. */
interface Watch {
  /** Silences found by at least one search, keyed by collection and start. */
  readonly found: ReadonlyMap<string, Silence>;
  /** Minutes in the format that the instrument reads. */
  readonly minutes: readonly Minute[];
  readonly usual: Usual;
}

/**
 * Converts traffic to the stored minutes that the instrument reads, and to the usual counts and pauses that follow from
 * them.
 */
export function readTraffic(traffic: Traffic): Omit<Watch, 'found'> {
  const minutes = Array.from({ length: traffic.days * day }, (_, index) => minuteOf(traffic, index));
  const hours = new Map<number, UsualCounts>();
  const pauses = new Map<string, number | null>();
  const indexOf = (us: number): number => Math.floor((us - startUs) / windowUs);
  const usual: Usual = {
    hour: (us) => {
      const first = indexOf(us) - (indexOf(us) % hour);
      const known = hours.get(first);
      if (known) return known;
      const days = [];
      for (let from = first - day; from >= 0; from -= day) days.push(minutes.slice(from, from + hour));
      const counts = usualCounts(days, []);
      hours.set(first, counts);
      return counts;
    },
    pause: (place, us) => {
      const first = indexOf(us) - (indexOf(us) % day);
      const key = `${place} ${first}`;
      const known = pauses.get(key);
      if (known !== undefined) return known;
      const history = minutes.slice(0, first).filter(({ events }) => events > 0);
      const counts = history.map((minute) => ({ startUs: minute.startUs, count: minute.counts[place] ?? 0 }));
      const pause = usualPause(counts, []);
      pauses.set(key, pause);
      return pause;
    },
  };
  return { minutes, usual };
}

/** Returns the silences that a search at the minute with the given index finds in the preceding 24 hours. */
export function lookAt({ minutes, usual }: Omit<Watch, 'found'>, end: number): Silence[] {
  return findSilences({
    minutes: minutes.slice(Math.max(0, end - day), end),
    usual,
    edges: () => ({ firstUs: null, lastUs: null }),
    standing: [],
  });
}

/** Searches the traffic for silences once an hour. */
export function watch(traffic: Traffic): Watch {
  const read = readTraffic(traffic);
  const found = new Map<string, Silence>();
  for (let end = hour; end <= traffic.days * day; end += hour) {
    for (const silence of lookAt(read, end)) found.set(`${silence.collection} ${silence.from}`, silence);
  }
  return { ...read, found };
}

/** Returns the traffic with the events of one collection removed between two minutes. */
export function withoutCollection(traffic: Traffic, name: CollectionName, from: number, to: number): Traffic {
  const place = collectionNames.indexOf(name);
  const counts = traffic.counts.map((of, i) => (i === place ? of.slice().fill(0, from, to) : of));
  return { ...traffic, counts };
}
