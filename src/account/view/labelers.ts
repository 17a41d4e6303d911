import type { Micros } from '../../contract/timestamp.ts';
import { admitHttpUrl } from '../../network/guard/address-policy.ts';
import { isResolvableHandle } from '../../network/identity/did-document.ts';
import { completeUntil, departureGap } from '../../store/gaps.ts';
import type { StoredGap } from '../../store/port.ts';
import { type Removals, readRemovals } from '../../store/removals.ts';
import type { LabelerHandle } from '../../store/roster.ts';
import { type Interval, micros } from '../../store/time.ts';
import type { AccountStore } from '../query/account-store.ts';
import { atMost, union } from '../query/intervals.ts';

/** Data about all labelers, which is the same for every account. */
export interface Labelers {
  /** Source states of the enrolled labelers. */
  readonly states: ReadonlyMap<string, string>;
  /** Known labelers that are not enrolled. */
  readonly notEnrolled: ReadonlySet<string>;
  /** Handles from the labelers' DID documents. An unconfirmed handle is only a claim. */
  readonly names: ReadonlyMap<string, LabelerHandle>;
  /** Endpoints from the labelers' DID documents; untrusted text. */
  readonly endpoints: ReadonlyMap<string, string>;
  /** Time of each labeler's last successful read. */
  readonly lastAsked: ReadonlyMap<string, Micros>;
  /** End of the complete data of each labeler that is no longer enrolled. */
  readonly completeUntil: ReadonlyMap<string, Micros>;
  /** Rows that were removed from the store. */
  readonly removed: Removals;
}

/** Data about the labelers that one page shows. */
export interface NetworkView extends Pick<Labelers, 'names' | 'removed'> {
  /** Origins of the shown labelers, if the page may link to them. */
  readonly origins: ReadonlyMap<string, string>;
  /** Number of known labelers that are not enrolled. */
  readonly notEnrolled: number;
  /** Number of enrolled labelers in each state. */
  readonly byState: ReadonlyMap<string, number>;
}

/** Selects the data about labelers for a page that shows the labelers in `shown`. */
export function networkView(
  { states, notEnrolled, names, endpoints, removed }: Labelers,
  shown: Iterable<string>,
): NetworkView {
  const byState = new Map<string, number>();
  for (const state of states.values()) byState.set(state, (byState.get(state) ?? 0) + 1);
  const shownNames = new Map<string, LabelerHandle>();
  const origins = new Map<string, string>();
  for (const did of new Set(shown)) {
    const name = names.get(did);
    if (name) shownNames.set(did, name);
    const origin = publicOrigin(endpoints.get(did));
    if (origin !== null) origins.set(did, origin);
  }
  return { byState, notEnrolled: notEnrolled.size, names: shownNames, origins, removed };
}

/**
 * Maximum length of an origin in a link, in characters. A page repeats the origin in every observation of the labeler.
 */
const maxLength = 300;

/**
 * Returns the origin of a labeler's endpoint (untrusted text) if a page may link to it: https, a host name of the
 * public network, no credentials. Returns null otherwise, because a link could make the reader's browser send a
 * request into the reader's own network.
 */
export function publicOrigin(endpoint: string | undefined): string | null {
  if (endpoint === undefined) return null;
  const admission = admitHttpUrl(endpoint, { allowLoopback: false });
  if (admission.kind !== 'admitted') return null;
  const { origin, hostname } = admission.url;
  return origin.length <= maxLength && isResolvableHandle(hostname) ? origin : null;
}

/**
 * Reading history of a labeler: `read` if it was read at least once, `never_read` if it is known but was never read,
 * and `not_known` otherwise.
 */
type Reading = 'read' | 'never_read' | 'not_known';

/** State of a labeler, and when it was last read. */
export interface HowRead {
  readonly reading: Reading;
  /** Source state of the labeler, or null if the labeler is not enrolled. */
  readonly state: string | null;
  /** Time of the labeler's last successful read, or null if unknown. */
  readonly lastAsked: Micros | null;
  /** End of the complete data if the labeler is no longer enrolled, otherwise null. */
  readonly completeUntil: Micros | null;
}

/** Returns whether and when a labeler was read. `rows` is true if the account has rows from the labeler. */
export function howRead(labeler: string, rows: boolean, labelers: Labelers): HowRead {
  const { states, notEnrolled } = labelers;
  const known = states.has(labeler) || notEnrolled.has(labeler);
  // The position of an evicted labeler is removed later than its roster row, and its gaps are no longer recorded.
  const lastAsked = known ? (labelers.lastAsked.get(labeler) ?? null) : null;
  return {
    reading: rows || lastAsked !== null ? 'read' : known ? 'never_read' : 'not_known',
    state: states.get(labeler) ?? null,
    lastAsked,
    completeUntil: labelers.completeUntil.get(labeler) ?? null,
  };
}

/**
 * Returns the parts of an interval in which a labeler was not read. These parts complement the recorded gaps, which
 * exist only for labelers that are being read. If no response of the labeler is known, nothing shows when it was read:
 * the account may have rows of a labeler that a full roster evicted.
 */
export function unreadOf(
  { reading, state, lastAsked, completeUntil: completeEnd }: HowRead,
  { start, end }: Interval,
): Interval[] {
  if (reading !== 'read' || lastAsked === null) return [{ start, end }];
  const since = completeEnd ?? lastAsked;
  if (state !== null || since >= end) return [];
  return [{ start: micros(Math.max(start, since)), end }];
}

/**
 * Lifetime of cached data about labelers, in milliseconds; longer if reading them is slow (`kept`). It is also the maximum
 * error of a "last read" time on a page.
 */
const labelersMs = 5_000;

/**
 * Lifetime of cached missed time, in milliseconds; longer if reading it is slow (`kept`). Reading hundreds of gaps for
 * each of hundreds of labelers would cost more than the rest of a page.
 */
const missedMs = 30_000;

/** Caches the data about all labelers, which every page needs. */
export class LabelerCache {
  /** Returns the data about labelers. */
  readonly all: (store: AccountStore) => Promise<Labelers>;
  /** Returns the missed time in a window. */
  readonly missed: (store: AccountStore, window: Interval) => Promise<Missed>;

  /** `monotonic` returns the time of a monotonic clock in milliseconds. */
  constructor(monotonic: () => number) {
    this.all = kept({ ms: labelersMs, monotonic }, readLabelers);
    this.missed = kept({ ms: missedMs, monotonic }, readMissed);
  }
}

async function readLabelers(store: AccountStore): Promise<Labelers> {
  const [roster, positions, removed] = await Promise.all([store.roster(), store.positions(), readRemovals(store)]);
  const lastAsked = new Map<string, Micros>();
  const answered = (did: string, at: Micros): void => {
    if (at > (lastAsked.get(did) ?? -1)) lastAsked.set(did, at);
  };
  for (const { source, acceptedAt } of positions) answered(source, acceptedAt);
  // Use the later of the two times. Only the roster row exists for a labeler without a read position.
  for (const { did, lastAnswered } of roster) if (lastAnswered !== null) answered(did, lastAnswered);
  const enrolled = roster.filter((row) => row.enrolled);
  return {
    states: new Map(enrolled.map(({ did, state }) => [did, state])),
    names: new Map(roster.flatMap(({ did, handle }) => (handle === null ? [] : [[did, handle]]))),
    endpoints: new Map(roster.flatMap(({ did, endpoint }) => (endpoint === null ? [] : [[did, endpoint]]))),
    notEnrolled: new Set(roster.filter((row) => !row.enrolled).map(({ did }) => did)),
    lastAsked,
    completeUntil: new Map(
      roster.flatMap((row): [string, Micros][] => {
        const until = completeUntil(row);
        return until === null ? [] : [[row.did, until]];
      }),
    ),
    removed,
  };
}

/** Unobserved time of individual labelers in the window. It is the same for every account. */
interface Missed {
  /** Every gap of each labeler, sorted and disjoint, as packed by `packed`. Joined gaps would contain observed time. */
  readonly byLabeler: ReadonlyMap<string, Float64Array>;
  /** Intervals in which at least one labeler has a gap. */
  readonly any: readonly Interval[];
}

/** Summary of the missed time of labelers that a page does not list individually. */
export interface MissedSum {
  readonly labelers: number;
  /** Longest missed time of a single labeler, in microseconds. */
  readonly longest: number;
}

/** Value of `Missed` if no labeler has a gap. */
export const nothingMissed: Missed = { byLabeler: new Map(), any: [] };

/** Maximum number of intervals in a chart. More intervals could not be distinguished. */
const maxStretches = 300;

async function readMissed(store: AccountStore, { start, end }: Interval): Promise<Missed> {
  const [gaps, roster] = await Promise.all([store.gaps({ start, end }), store.roster()]);
  const departures = roster.flatMap((row) => departureGap(row, { start, end }) ?? []);
  return gather([...gaps, ...departures], { start, end });
}

function gather(gaps: readonly StoredGap[], window: Interval): Missed {
  const bySource = Map.groupBy(gaps, ({ source }) => source);
  const byLabeler = new Map<string, Float64Array>();
  const all: Interval[] = [];
  for (const [source, own] of bySource) {
    if (source === null) continue;
    const stretches = union(own, window);
    all.push(...stretches);
    byLabeler.set(source, packed(stretches));
  }
  return { byLabeler, any: stretchesOf(all, window) };
}

/**
 * Returns the starts and ends of intervals, alternating. Thousands of labelers may have hundreds of gaps each, and
 * objects would take several times as much memory.
 */
function packed(intervals: readonly Interval[]): Float64Array {
  return Float64Array.from(intervals.flatMap(({ start, end }) => [start, end]));
}

/** Returns how much of an interval is covered by disjoint intervals that `packed` returned, in microseconds. */
function packedOverlap(bounds: Float64Array, { start, end }: Interval): number {
  let total = 0;
  for (let at = 0; at < bounds.length; at += 2) {
    total += Math.max(0, Math.min(bounds[at + 1] ?? 0, end) - Math.max(bounds[at] ?? 0, start));
  }
  return total;
}

/** Summarizes the missed time of all labelers except those in `listed`. */
export function sumOf({ byLabeler }: Missed, listed: ReadonlySet<string>, interval: Interval): MissedSum {
  let labelers = 0;
  let longest = 0;
  for (const [labeler, bounds] of byLabeler) {
    const length = listed.has(labeler) ? 0 : packedOverlap(bounds, interval);
    if (length > 0) labelers += 1;
    longest = Math.max(longest, length);
  }
  return { labelers, longest };
}

/** Merges the closest intervals until at most `maxStretches` remain. The result contains all missed time. */
export function stretchesOf(intervals: readonly Interval[], bounds: Interval): Interval[] {
  const stretches = union(intervals, bounds);
  if (stretches.length <= maxStretches) return stretches;
  return atMost(
    stretches.map(({ start, end }) => ({ start, end, reason: 'unknown' })),
    maxStretches,
  );
}

/** Reciprocal of the maximum fraction of time spent reading a cached value: one per cent. */
const rarest = 100;

/**
 * Returns a function that caches the result of a read for `ms` milliseconds, or longer if the read was slow. All
 * arguments share the same cached value.
 */
export function kept<Asked extends readonly unknown[], T>(
  { ms, monotonic }: { readonly ms: number; readonly monotonic: () => number },
  read: (...asked: Asked) => Promise<T>,
): (...asked: Asked) => Promise<T> {
  let last: Promise<T> | null = null;
  let until = 0;
  return (...asked) => {
    if (last && monotonic() < until) return last;
    const began = monotonic();
    until = Number.POSITIVE_INFINITY;
    const reading = read(...asked);
    last = reading;
    reading.then(
      () => {
        until = began + Math.max(ms, rarest * (monotonic() - began));
      },
      // All waiting callers receive the rejection; the next call reads again.
      () => {
        last = null;
      },
    );
    return reading;
  };
}
