import type { Micros } from '../../contract/timestamp.ts';
import { admitHttpUrl } from '../../network/guard/address-policy.ts';
import { isResolvableHandle } from '../../network/identity/did-document.ts';
import { type Removals, readRemovals } from '../../store/removals.ts';
import type { LabelerHandle } from '../../store/roster.ts';
import type { AccountStore } from '../query/account-store.ts';

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

/** Lifetime of cached data about labelers, in milliseconds; also the maximum error of a "last read" time on a page. */
const keptMs = 5_000;

/**
 * Returns a cached read of the data about labelers. `monotonic` returns the time of a monotonic clock in milliseconds.
 */
export function labelersOf(monotonic: () => number): (store: AccountStore) => Promise<Labelers> {
  return kept({ ms: keptMs, monotonic }, read);
}

async function read(store: AccountStore): Promise<Labelers> {
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
    removed,
  };
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
