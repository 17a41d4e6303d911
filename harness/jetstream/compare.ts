import { windowFlag, windowUs } from '../../src/weather/window/window.ts';
import { type Kept, minutesOf } from '../weather/weather-kept.ts';
import type { RelayEvent } from './firehose-witness.ts';
import type { Sent } from './stream-witness.ts';

/** Short names of the collections that the network uses, by NSID. Every other collection is untracked. */
export const shortNames: Readonly<Record<string, string>> = {
  'app.bsky.feed.post': 'post',
  'app.bsky.feed.like': 'like',
  'app.bsky.feed.repost': 'repost',
  'app.bsky.graph.follow': 'follow',
  'app.bsky.graph.block': 'block',
  'app.bsky.actor.profile': 'profile',
};
/** Difference between the clocks of the relay's frame and of Jetstream's event that is not a loss, in microseconds. */
const slackUs = 2_000_000;

/** Time by which the witness may receive an event later than Jetstream, in microseconds. */
const lateUs = 250_000;

/** The part of an instrument's store that is compared. */
type Published = Pick<Kept, 'rows' | 'observed'>;

/** Result of one comparison. */
export interface Comparison {
  /** Number of events that the relay sent since the first observed event. */
  readonly relay: number;
  /** Number of the relay's events that Jetstream sent at an observed time. */
  readonly jetstream: number;
  /** Number of events that the instrument counted. */
  readonly published: number;
  /** Number of the relay's events that Jetstream sent at no observed time. */
  readonly unobserved: number;
  /** Number of the relay's events that Jetstream did not send, although it sent others of that time. */
  readonly leftOut: number;
  /** Number of events that are missing in minutes that are published as read from compacted history. */
  readonly compacted: number;
  /** Number of events from Jetstream that the relay did not send. */
  readonly invented: number;
  /** Differences that are neither equal counts nor unobserved time. */
  readonly problems: readonly string[];
}

/** Counts by minute and name. */
type Counts = Map<string, number>;

/**
 * Compares the counts of an instrument with the relay's events, by minute and collection. The minute of an event is that
 * of its time in Jetstream. An event that Jetstream sent with two times may be counted at either, but only once. With
 * `mayLeaveOut`, an event that Jetstream did not send is not a problem. A minute that is published as read from compacted
 * history may lack events.
 */
export function compare(
  truth: ReadonlyMap<string, RelayEvent>,
  sent: ReadonlyMap<string, Sent>,
  { rows, observed }: Published,
  mayLeaveOut: boolean,
): Comparison {
  const { within, isEdge, isInside, isAround, isAtEnd, isNear } = placesIn(observed);
  const [least, most]: [Counts, Counts] = [new Map(), new Map()];
  const startUs = observed[0]?.from ?? Number.MAX_SAFE_INTEGER;
  let [relay, jetstream, certain, unobserved, lost, late] = [0, 0, 0, 0, 0, 0];
  for (const [key, { what, arrivedUs }] of truth) {
    const times = sent.get(key)?.timesUs ?? [];
    const seen = times.filter(within);
    // An event that Jetstream sent before the first observed one may reach the witness after it.
    const isLater = Math.max(...(times.length > 0 ? times : [arrivedUs])) >= startUs;
    if (isLater || seen.length > 0) relay += 1;
    const isLost = times.length === 0 && (mayLeaveOut ? isLater && isAround(arrivedUs) : isInside(arrivedUs));
    if (isLost) lost += 1;
    // A killed Jetstream may have sent an event to another connection that it later leaves out.
    if (isLost && mayLeaveOut && isAtEnd(arrivedUs)) {
      add(most, placeOf(arrivedUs, what));
      late += 1;
    }
    // Another connection may have received a frame that the witness lost when Jetstream was killed.
    if (seen.length === 0 && times.length > 0 && isNear(arrivedUs)) {
      add(most, placeOf(arrivedUs, what));
      jetstream += 1;
      continue;
    }
    if (seen.length === 0) {
      if (isLater && !isLost) unobserved += 1;
      continue;
    }
    jetstream += 1;
    const isCertain = seen.length === times.length && !seen.some(isEdge);
    if (isCertain) certain += 1;
    const places = new Set(seen.map((us) => placeOf(us, what)));
    for (const place of places) add(most, place);
    const [only] = places;
    if (isCertain && places.size === 1 && only !== undefined) add(least, only);
  }
  for (const place of unwitnessed(truth, sent)) {
    add(most, place);
    late += 1;
  }
  const counted = publishedCounts(rows);
  const published = [...counted.values()].reduce((sum, count) => sum + count, 0);
  const compacted = forgive(least, counted, rows);
  certain -= compacted;
  const problems = [...new Set([...counted.keys(), ...most.keys()])].sort().flatMap((place) => {
    const [low, high, count] = [least.get(place) ?? 0, most.get(place) ?? 0, counted.get(place) ?? 0];
    return count >= low && count <= high
      ? []
      : [`${place}: published ${count}, sent ${low}${low === high ? '' : ` to ${high}`}`];
  });
  if (published < certain || published > jetstream + late) {
    problems.unshift(`${published} events are published, of ${certain} to ${jetstream} that were sent`);
  }
  if (lost > 0 && !mayLeaveOut) problems.push(`${lost} events did not arrive, at times that are published as observed`);
  const invented = [...sent.keys()].filter((key) => !truth.has(key)).length;
  return { relay, jetstream, published, unobserved, leftOut: lost, compacted, invented, problems };
}

/** Lowers the least counts of minutes that are published as compacted to their counts. Returns the number of events. */
function forgive(least: Counts, counted: Counts, rows: Kept['rows']): number {
  let missing = 0;
  for (const { startUs, flags } of rows) {
    if ((flags & windowFlag.compacted) === 0) continue;
    for (const [place, low] of least) {
      const count = counted.get(place) ?? 0;
      if (!place.startsWith(`${minuteName(startUs)} `) || count >= low) continue;
      missing += low - count;
      least.set(place, count);
    }
  }
  return missing;
}

/**
 * Returns the places of events that only Jetstream received: when the network is suspended at the end, it may have sent
 * its last frame to Jetstream and not to the witness.
 */
function unwitnessed(truth: ReadonlyMap<string, RelayEvent>, sent: ReadonlyMap<string, Sent>): string[] {
  let lastUs = 0;
  for (const { arrivedUs } of truth.values()) lastUs = Math.max(lastUs, arrivedUs);
  return [...sent].flatMap(([key, { what, timesUs }]) => {
    const [timeUs = 0] = timesUs;
    return truth.has(key) || what === 'sync' || timeUs < lastUs - lateUs ? [] : [placeOf(timeUs, what)];
  });
}

/** Returns functions that compare a time, in microseconds, with the observed spans. */
function placesIn(observed: Published['observed']) {
  return {
    within: (us: number): boolean => observed.some(({ from, to }) => us >= from && us < to),
    // The events of a commit share one time, and a connection may begin or end between them.
    isEdge: (us: number): boolean => observed.some(({ from, to }) => us === from || us === to - 1),
    isInside: (us: number): boolean => observed.some(({ from, to }) => us - slackUs >= from && us + slackUs < to),
    isAround: (us: number): boolean => observed.some(({ from, to }) => us + slackUs >= from && us - slackUs < to),
    isAtEnd: (us: number): boolean => observed.slice(0, -1).some(({ to }) => Math.abs(us - to) < slackUs),
    isNear: (us: number): boolean => observed.some(({ from, to }) => us >= from && us < to + lateUs),
  };
}

function add(counts: Counts, place: string): void {
  counts.set(place, (counts.get(place) ?? 0) + 1);
}

function placeOf(timeUs: number, what: string): string {
  return `${minuteName(Math.floor(timeUs / windowUs) * windowUs)} ${nameOf(what)}`;
}

function minuteName(us: number): string {
  return new Date(us / 1000).toISOString().slice(0, 16);
}

function nameOf(what: string): string {
  const [collection = '', operation] = what.split(' ');
  if (operation === undefined) return `${collection}.event`;
  const short = shortNames[collection];
  return short === undefined ? 'untracked.collection' : `${short}.${operation}`;
}

/** Returns the published counts of events. The shapes of posts and the states of accounts are not events. */
function publishedCounts(rows: Kept['rows']): Counts {
  const counts: Counts = new Map();
  for (const { startUs, metrics } of minutesOf({ rows })) {
    for (const [name, count] of Object.entries(metrics)) {
      const isDetail = /^post\..*\..|^account\.(?:active|status)/.test(name);
      if (count > 0 && !isDetail) counts.set(`${minuteName(startUs)} ${name}`, count);
    }
  }
  return counts;
}
