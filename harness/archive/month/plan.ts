import { dice } from '../../../sim/random.ts';
import { simulatedStart } from '../simulated-archive.ts';
import type { SimulatedGap } from '../simulated-hours.ts';

/** Faults of a simulated month: in the instruments, their files, the publication and the archiver. */

const [secondMs, hourMs] = [1_000, 3_600_000];

/**
 * Number of days whose tables are compared. The archiver runs a few days longer, until the last compared day is
 * closed.
 */
export const monthDays = 30;
/** Number of hours for which the archiver runs. */
export const monthHours = (monthDays + 4) * 24;

/**
 * Returns the time at the given day, hour, minute and second of the month, in milliseconds since 1970. Days start at 0.
 */
export function at(day: number, hour: number, minute = 0, second = 0): number {
  return simulatedStart + (day * 24 + hour) * hourMs + minute * 60_000 + second * secondMs;
}

/** An interval in milliseconds since 1970; start inclusive, end exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Returns true if `instant` lies in one of the spans. */
export function isWithin(instant: number, spans: readonly Span[]): boolean {
  return spans.some(({ start, end }) => instant >= start && instant < end);
}

const span = (...[from, to]: [readonly [number, number, number?], readonly [number, number, number?]]): Span => {
  return { start: at(...from), end: at(...to) };
};
const ever = { start: at(-100, 0), end: Number.POSITIVE_INFINITY };

/**
 * Intervals in which the archiver is stopped: for a few hours, across midnight, and for longer than an hours file
 * covers.
 */
export const stops: readonly Span[] = [span([1, 3], [1, 5]), span([8, 22], [9, 4]), span([20, 5], [23, 13])];
/** Intervals in which the facts API does not respond. In the last interval, only the first request of an hour fails. */
export const apiStops: readonly Span[] = [span([2, 10], [2, 13]), span([13, 1], [13, 20]), span([4, 15], [4, 15, 1])];
/**
 * Intervals in which the operator holds the label facts. One hold is shorter and one is longer than the period of an
 * hours file.
 */
export const holds: readonly Span[] = [span([3, 8, 30], [5, 1, 10]), span([25, 2, 20], [28, 20])];
/** Intervals in which the label overview is stale because the label instrument is stopped. */
export const staleTimes: readonly Span[] = [span([17, 4], [17, 9])];
/** Intervals in which an instrument is stopped, so that its files are not replaced. */
export const frozen = { weather: [span([16, 2], [16, 11, 30])], labels: [span([17, 2], [17, 9])] };
/** Intervals in which an hours file cannot be read, with the reason. */
export const lostFiles = {
  weather: [
    { ...span([5, 10], [5, 20]), reason: 'unreadable' as const },
    { ...span([26, 0], [29, 3]), reason: 'missing' as const },
  ],
  labels: [{ ...span([10, 2], [10, 9]), reason: 'malformed' as const }],
};
/** Intervals in which the clocks of the instruments are days ahead. */
export const aheadTimes: readonly Span[] = [span([18, 5], [18, 7])];
/** Times at which the instruments lose their stores. */
export const lostStores = { weather: at(24, 3, 40), labels: at(19, 6, 20) };

/**
 * Hosts of the weather instrument. The second host takes over from the first host, which the operator removes
 * afterwards.
 */
export const hosts = {
  first: 'jetstream.example',
  second: 'backup.example',
  failover: at(12, 9, 17),
  removal: at(14, 6),
};

/** A labeler and the part of the month in which it is enrolled. */
export interface PlannedLabeler {
  readonly did: string;
  readonly enrolled: Span;
}

/** Labelers in DID order. During the month, one labeler leaves and another one joins. */
export const labelers: readonly PlannedLabeler[] = [
  { did: 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa', enrolled: { ...ever, end: at(9, 10, 30) } },
  { did: 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb', enrolled: { ...ever, start: at(10, 15) } },
  { did: 'did:plc:ewvi7nxzyoun6zhxrhs64oiz', enrolled: ever },
  { did: 'did:web:labels.example.com', enrolled: ever },
];

/**
 * Returns the labelers in the hours file generated at `now`. These labelers were enrolled for at least part of the
 * hours in the file.
 */
export function listedLabelers(now: number): readonly PlannedLabeler[] {
  return labelers.filter(({ enrolled }) => enrolled.start <= now && enrolled.end > now - 72 * hourMs);
}

const chance = dice(18);

/**
 * Returns up to three gaps per day, with durations of seconds, minutes or hours. The instrument detects about half of
 * the gaps when they begin, and the others only after they have ended.
 */
function randomGaps(more: () => Partial<SimulatedGap>): SimulatedGap[] {
  return Array.from({ length: monthHours / 24 }, (_, day) =>
    Array.from({ length: chance.below(4) }, (): SimulatedGap => {
      const start = at(day, 0, 0, chance.below(86_400));
      const end = start + (1 + chance.below(chance.pick([60, 3_600, 6 * 3_600]))) * secondMs;
      const knownAt = chance.chance(0.5) ? start : end + chance.below(20) * hourMs;
      return { start, end, knownAt, ...more() };
    }),
  ).flat();
}

const isAfterStop = (spans: readonly Span[]): SimulatedGap[] => spans.map((one) => ({ ...one, knownAt: one.end }));

/** A gap that both instruments detect so late that it covers the first hours of their files. */
const lateGap = { ...span([14, 20], [15, 4, 40]), knownAt: at(17, 22, 30) };

/** Gaps of the weather instrument that apply to every host. */
const weatherGaps: readonly SimulatedGap[] = [
  lateGap,
  ...randomGaps(() => chance.pick([{}, {}, { collection: 'like.create' }, { collection: 'post.create' }])),
  ...isAfterStop(frozen.weather),
  span([6, 3], [7, 9, 30]),
];

/** Returns the hosts in the hours file generated at `now`, with their gaps. */
export function hostsAt(now: number) {
  const isOver = now >= hosts.failover;
  const lost = { ...ever, end: lostStores.weather, knownAt: lostStores.weather };
  const first = {
    host: hosts.first,
    published: !isOver,
    gaps: [...weatherGaps, { ...ever, start: hosts.failover }],
  };
  const second = {
    host: hosts.second,
    published: true,
    gaps: [...weatherGaps, { ...ever, end: hosts.failover }, lost],
  };
  if (!isOver) return [first];
  return now < hosts.removal ? [first, second] : [second];
}

/** Gaps of the label instrument and of individual labelers, including the time in which a labeler is not enrolled. */
export const labelGaps: readonly SimulatedGap[] = [
  ...randomGaps(() => chance.pick([{}, ...labelers.map(({ did }) => ({ labeler: did }))])),
  ...isAfterStop(frozen.labels),
  lateGap,
  { ...ever, end: lostStores.labels, knownAt: lostStores.labels },
  ...labelers.flatMap(({ did, enrolled }) => [
    ...(enrolled.end === ever.end ? [] : [{ start: enrolled.end, end: ever.end, labeler: did }]),
    ...(enrolled.start === ever.start ? [] : [{ start: ever.start, end: enrolled.start, labeler: did }]),
  ]),
];

/** Returns the number of the label store's epoch. The loss of the store ends the first epoch. */
export function epochAt(now: number): 1 | 2 {
  return now < lostStores.labels ? 1 : 2;
}

/** Identities that are planted in bodies, in hours files and in the list of known issues. */
export const planted = { did: 'did:plc:ar7c4by46qjdydhdevvrndac', handle: 'planted-person.bsky.social' };

/** Hours in which the body of a path contains an identity, as numbers of hours since the start. */
export const plantedHours: Readonly<Record<string, readonly number[]>> = {
  '/v1/labels/overview': [30, 100, 101, 400],
  '/v1/instruments': [31, 401],
  '/v1/weather/metrics': [32, 333],
  '/v1/weather/conditions': [33],
};

/**
 * Returns the write operation that is interrupted in an hour and the effect of the interruption; null for most hours.
 */
export function interruptionOf(
  hour: number,
): { after: number; effect: 'nothing' | 'torn' | 'complete' | 'full' } | null {
  if (hour % 29 !== 13) return null;
  const effects = ['nothing', 'torn', 'complete', 'full'] as const;
  return { after: 1 + ((hour * 7) % 14), effect: effects[Math.floor(hour / 29) % effects.length] ?? 'torn' };
}
