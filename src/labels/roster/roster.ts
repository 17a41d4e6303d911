import type { Micros } from '../../contract/timestamp.ts';
import type { IdentityResolver, Resolution } from '../../network/identity/identity.ts';
import type { RosterRow } from '../../store/roster.ts';
import { micros, minute } from '../../store/time.ts';
import { stoppable } from '../clock/clock.ts';
import { isPrivileged, priorityOf, untracked } from '../state/reading-state.ts';
import { Tracker } from '../state/tracker.ts';
import {
  declaresService,
  evictionCandidates,
  isEnrolled,
  isUnused,
  type KnownLabeler,
  labelerFromRow,
  priorityInput,
  rowOf,
} from './known-labeler.ts';
import {
  type DueResolution,
  domainOf,
  EventLookups,
  type LookupDelays,
  liveLookupDelays,
  ResolutionQueue,
} from './resolution-queue.ts';
import { webRetryAfter } from './web-retry.ts';

/** Maximum number of known labelers. */
export const maxKnown = 20_000;

/** Dependencies of the roster; times in milliseconds. */
interface RosterOptions {
  readonly identities: Pick<IdentityResolver, 'resolve'>;
  readonly clock: () => Micros;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Interval between two reads of a known labeler's document, in milliseconds. */
  readonly refreshMs: number;
  /** Interval after a failed read, or after a read from a replica that may be outdated, in milliseconds. */
  readonly retryMs: number;
  /** Average interval between look-ups of a document with constant change events, in milliseconds. */
  readonly freshMs: number;
  /** Waits from an event to the look-ups of the document; those of the live network by default. */
  readonly lookupDelays?: LookupDelays;
  /**
   * Returns true if a labeler's document may be resolved now; otherwise the resolution is tried again later. Absent if
   * every document may be resolved.
   */
  readonly mayResolve?: (did: string) => boolean;
  /** Returns true if a labeler waits for a reading slot. Absent if no labeler waits. */
  readonly waits?: (labeler: KnownLabeler) => boolean;
  /**
   * Called after a document was read or the labeler was evicted, so that the reader of the source is started, moved,
   * kept or stopped.
   */
  readonly changed: (labeler: KnownLabeler) => void;
}

/** Number of labelers that are compared with their stored rows at once, which takes a few milliseconds. */
const maxCompared = 250;

/** Change of the roster that one commit stores. */
export type RosterChange =
  | { readonly kind: 'changed'; readonly rows: readonly RosterRow[] }
  | { readonly kind: 'evicted'; readonly dids: readonly string[] };

/** All known labelers with the content of their documents. */
export class Roster {
  readonly #options: RosterOptions;
  readonly #labelers = new Map<string, KnownLabeler>();
  readonly #due: ResolutionQueue;
  /** New labelers whose first look-up has not ended. */
  readonly #unread = new Set<string>();
  /** Number of consecutive failures of each did:web since the start. */
  readonly #webFailures = new Map<string, number>();
  /** Look-ups after events, and after answers that a directory may give before it has a document. */
  readonly #lookups: EventLookups;
  readonly #lookupDelays: LookupDelays;
  /** Stored rows, as strings. */
  readonly #kept = new Map<string, string>();
  #wake: (() => void) | null = null;
  /** Labelers that were not added because the roster was full; at most `maxKnown` of them are kept. */
  readonly #dropped = new Set<string>();
  /** Candidates for eviction, computed at most once a minute. */
  #candidates = evictionCandidates([], maxKnown, micros(0));
  #candidatesAt = Number.NEGATIVE_INFINITY;
  /** Evicted labelers whose rows are not removed from the store yet. */
  readonly #evicted = new Set<string>();

  constructor(options: RosterOptions) {
    this.#options = options;
    this.#lookupDelays = options.lookupDelays ?? liveLookupDelays;
    this.#lookups = new EventLookups(options.freshMs, this.#lookupDelays);
    const { refreshMs, retryMs, freshMs } = options;
    this.#due = new ResolutionQueue(Math.max(refreshMs, retryMs, freshMs, this.#lookupDelays[3]));
  }

  /** Number of labelers that were not added because the roster was full, up to `maxKnown`. */
  get dropped(): number {
    return this.#dropped.size;
  }

  get labelers(): Iterable<KnownLabeler> {
    return this.#labelers.values();
  }

  labeler(did: string): KnownLabeler | undefined {
    return this.#labelers.get(did);
  }

  /** Returns the enrolled labelers, in the order of their discovery. */
  enrolled(now: Micros): KnownLabeler[] {
    return [...this.#labelers.values()].filter((labeler) => isEnrolled(labeler, now));
  }

  /** Loads the labelers of the last run; `answered` contains the time of the last accepted page of each. */
  load(rows: readonly RosterRow[], answered: ReadonlyMap<string, Micros>): void {
    const now = this.#options.clock();
    for (const row of rows) {
      const labeler = labelerFromRow(row, answered.get(row.did) ?? null);
      labeler.tracker.apply({ kind: 'restarted', now });
      this.#labelers.set(row.did, labeler);
      // The last run may have ended before it looked for this labeler's document again.
      const isNew = row.endpoint === null && now - row.stateSince < this.#lookupDelays[3] * 1000;
      if (isNew) this.#lookups.event(row.did, row.stateSince / 1000);
      this.#due.set(row.did, 0, { fresh: isNew, privileged: this.#isPrivileged(labeler) });
    }
  }

  /**
   * Adds a labeler that a discovery source named. If the labeler is already known, adds the provenance, and looks for
   * its document again if a further source names it although no labeler service is known. If the roster is full and no
   * labeler can be evicted, drops the new one.
   */
  add(did: string, origin: KnownLabeler['origin'], provenance: string): void {
    const known = this.#labelers.get(did);
    if (known) {
      // At the first start, relays name seeds before the first look-up of their documents, which is then enough.
      const isPending = this.#unread.has(did);
      const isNews = !isPending && known.resolutionStatus !== 'labeler' && !known.provenance.has(provenance);
      known.provenance.add(provenance);
      if (isNews) this.documentChanged(did);
      return;
    }
    // More than one labeler may have to go: a stop may leave evicted labelers in the store, which the next start loads.
    for (let surplus = this.#labelers.size - maxKnown; surplus >= 0; surplus -= 1) {
      if (this.#makeRoom(did, origin)) continue;
      if (this.#dropped.size < maxKnown) this.#dropped.add(did);
      return;
    }
    this.#dropped.delete(did);
    const tracker = new Tracker(did, untracked(this.#options.clock()));
    const labeler: KnownLabeler = {
      did,
      origin,
      provenance: new Set([provenance]),
      resolutionStatus: 'unresolved',
      endpoint: null,
      pds: null,
      handle: null,
      handleConfirmed: false,
      denied: false,
      tracker,
    };
    this.#labelers.set(did, labeler);
    this.#unread.add(did);
    this.resolveSoon(did, false);
  }

  /**
   * Makes room for one more labeler: evicts a new labeler that `evictionCandidates` selects, or any new labeler in
   * favor of a seed. Returns true if the labeler may be added, which is always the case for a seed.
   */
  #makeRoom(newcomer: string, origin: KnownLabeler['origin']): boolean {
    const now = this.#options.clock();
    // A time after the present is that of a clock that was ahead.
    const isOutdated = now < this.#candidatesAt || now - this.#candidatesAt >= minute;
    // A single labeler does not show whether its group still exceeds the share.
    if (isOutdated) this.#candidates.surplus.length = 0;
    let displaced = this.#nextCandidate(newcomer, now);
    if (displaced === null && isOutdated) {
      this.#candidatesAt = now;
      this.#candidates = evictionCandidates(this.#labelers.values(), maxKnown, now);
      displaced = this.#nextCandidate(newcomer, now);
    }
    if (displaced !== null) {
      this.#forget(displaced);
      return true;
    }
    if (origin !== 'seeded') return false;
    const others = [...this.#labelers.values()].filter((labeler) => !this.#isPrivileged(labeler));
    const last = others.findLast(({ tracker }) => tracker.tracked.lastAnswered === null) ?? others.at(-1);
    if (last) this.#forget(last);
    return true;
  }

  #nextCandidate(newcomer: string, now: Micros): KnownLabeler | null {
    const { unused, surplus, crowded } = this.#candidates;
    const lists = crowded.has(domainOf(newcomer)) ? [unused] : [unused, surplus];
    for (const list of lists) {
      for (let did = list.pop(); did !== undefined; did = list.pop()) {
        const labeler = this.#labelers.get(did);
        // The labeler may have responded since the list was computed.
        const isCandidate = labeler && !this.#isPrivileged(labeler) && (list === surplus || isUnused(labeler, now));
        if (isCandidate) return labeler;
      }
    }
    return null;
  }

  #isPrivileged(labeler: KnownLabeler): boolean {
    return isPrivileged(priorityOf(priorityInput(labeler), this.#options.clock()));
  }

  #forget(labeler: KnownLabeler): void {
    const { did } = labeler;
    this.#labelers.delete(did);
    this.#unread.delete(did);
    this.#due.delete(did);
    this.#kept.delete(did);
    this.#lookups.forget(did);
    this.#webFailures.delete(did);
    this.#evicted.add(did);
    labeler.resolutionStatus = 'no_labeler';
    labeler.endpoint = null;
    labeler.pds = null;
    this.#options.changed(labeler);
  }

  /** Reads a known labeler's document soon; `fresh` bypasses the cache. */
  resolveSoon(did: string, fresh: boolean): void {
    this.#resolveAt(did, 0, fresh);
  }

  /**
   * Schedules reads of a known labeler's document: now, and later in case the event precedes the document. Must be
   * called when a stream reports a change to the document. Any party can cause such reports, so `EventLookups` limits
   * the reads.
   */
  documentChanged(did: string): void {
    if (!this.#labelers.has(did)) return;
    this.#lookups.event(did, this.#options.clock() / 1000);
    const due = this.#due.get(did)?.at ?? Number.POSITIVE_INFINITY;
    this.#resolveAt(did, Math.min(due, this.#lookups.next(did) ?? due), true);
  }

  #resolveAt(did: string, at: number, fresh: boolean): void {
    const labeler = this.#labelers.get(did);
    if (!labeler) return;
    this.#due.set(did, at, { fresh, privileged: this.#isPrivileged(labeler) });
    this.#wake?.();
  }

  /** Makes the next `changes` yield every row, because another process wrote the stored rows. */
  rewriteAll(): void {
    this.#kept.clear();
  }

  /**
   * Yields the changes that are not stored yet, in parts of at most `maxRows` rows: changed rows of enrolled labelers,
   * then evicted labelers, then other changed rows. A part counts as stored once the next part is requested, so a part
   * that the store rejects is yielded again by the next call. Yields null between parts of a long comparison, so that
   * the caller can let other work run.
   */
  *changes(maxRows: number): Generator<RosterChange | null> {
    const now = this.#options.clock();
    const enrolled = new Set(this.enrolled(now));
    yield* this.#changedRows(enrolled, maxRows, now);
    const evicted = [...this.#evicted];
    for (let at = 0; at < evicted.length; at += maxRows) {
      const part = evicted.slice(at, at + maxRows);
      const dids = part.filter((did) => !this.#labelers.has(did));
      if (dids.length > 0) yield { kind: 'evicted', dids };
      for (const did of part) this.#evicted.delete(did);
    }
    const others = [...this.#labelers.values()].filter((labeler) => !enrolled.has(labeler));
    yield* this.#changedRows(others, maxRows, now);
  }

  *#changedRows(labelers: Iterable<KnownLabeler>, maxRows: number, now: Micros): Generator<RosterChange | null> {
    let part = new Map<RosterRow, string>();
    let compared = 0;
    for (const labeler of labelers) {
      compared += 1;
      if (compared % maxCompared === 0) yield null;
      // The labeler may have been evicted since the generator began.
      if (this.#labelers.get(labeler.did) !== labeler) continue;
      const row = rowOf(labeler, now, this.#options.waits?.(labeler));
      const text = JSON.stringify(row);
      if (this.#kept.get(labeler.did) === text) continue;
      part.set(row, text);
      if (part.size < maxRows) continue;
      yield* this.#storing(part);
      part = new Map();
    }
    if (part.size > 0) yield* this.#storing(part);
  }

  *#storing(part: ReadonlyMap<RosterRow, string>): Generator<RosterChange> {
    yield { kind: 'changed', rows: [...part.keys()] };
    for (const [{ did }, text] of part) if (this.#labelers.has(did)) this.#kept.set(did, text);
  }

  /** Resolves documents that are due until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const due of this.#due.take(this.#options.clock() / 1000)) {
        void this.#resolve(due, signal).finally(() => {
          this.#due.done(due.did);
          this.#wake?.();
        });
      }
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const pause = stoppable(signal);
      await Promise.race([woken, this.#options.wait(1_000, pause.signal)]);
      pause.abort();
    }
  }

  async #resolve({ did, fresh, privileged }: DueResolution, signal: AbortSignal): Promise<void> {
    const { identities, clock, changed, retryMs, mayResolve = () => true } = this.#options;
    const labeler = this.#labelers.get(did);
    if (!labeler) return;
    if (!mayResolve(did)) {
      this.#due.set(did, clock() / 1000 + retryMs, { fresh, privileged });
      return;
    }
    const startedAt = clock() / 1000;
    if (fresh) this.#lookups.looked(did, startedAt);
    const resolution = await identities.resolve(did, { signal, fresh, privileged });
    // The labeler may have been evicted during the resolution.
    if (signal.aborted || this.#labelers.get(did) !== labeler) return;
    this.#unread.delete(did);
    const before = labeler.resolutionStatus;
    const isApplied = apply(labeler, resolution);
    // A directory may answer so before the document of a new labeler arrives there, or for a short time.
    if (labeler.resolutionStatus !== before && labeler.resolutionStatus !== 'labeler')
      this.#lookups.confirm(did, startedAt);
    const again = clock() / 1000 + this.#nextAfter(labeler, resolution);
    if (this.#due.get(did) === null) {
      const at = Math.min(again, this.#lookups.next(did) ?? again);
      this.#due.set(did, at, { fresh: true, privileged: this.#isPrivileged(labeler) });
    }
    if (!isApplied) return;
    if (before === 'no_labeler' && labeler.resolutionStatus !== before)
      labeler.tracker.apply({ kind: 'returned', now: clock() });
    changed(labeler);
  }

  /**
   * Returns the time until a document's next resolution, in milliseconds. A directory that fails, or whose replica
   * answered, is retried at constant intervals. For a failing host of did:web, `webRetryAfter` returns the interval.
   */
  #nextAfter(labeler: KnownLabeler, resolution: Resolution): number {
    const { refreshMs, retryMs } = this.#options;
    const { did } = labeler;
    if (resolution.kind !== 'failed') {
      this.#webFailures.delete(did);
      return isOfReplica(resolution) ? retryMs : refreshMs;
    }
    const { answer } = resolution;
    if (domainOf(did) === '' || answer.kind === 'busy') return retryMs;
    const failures = (this.#webFailures.get(did) ?? 0) + 1;
    this.#webFailures.set(did, failures);
    const hasResponded = labeler.tracker.tracked.lastAnswered !== null;
    const isInUse = hasResponded && this.#isPrivileged(labeler) && isEnrolled(labeler, this.#options.clock());
    return webRetryAfter({ failures, isInUse, answer }, { retryMs, refreshMs });
  }
}

/** Returns true if a document comes from a replica of the directory, which may lag. */
function isOfReplica(resolution: Resolution): boolean {
  return resolution.kind === 'resolved' && resolution.replica === true;
}

/**
 * Applies the result of a resolution to a labeler. Returns false, without a change, if the resolution failed, or if
 * only a replica reports that a known labeler service no longer exists.
 */
function apply(labeler: KnownLabeler, resolution: Resolution): boolean {
  if (resolution.kind === 'failed') return false;
  const document = resolution.kind === 'resolved' ? resolution.document : null;
  if (isOfReplica(resolution) && document?.labelerDeclared === false && declaresService(labeler)) return false;
  const endpoint = document?.labelerEndpoint ?? null;
  labeler.resolutionStatus = endpoint !== null ? 'labeler' : document?.labelerDeclared ? 'bad_endpoint' : 'no_labeler';
  if (endpoint !== labeler.endpoint) labeler.tracker.apply({ kind: 'endpoint_changed' });
  labeler.endpoint = endpoint;
  labeler.pds = document?.pds ?? null;
  const handle = document?.handle ?? null;
  if (handle !== labeler.handle) labeler.handleConfirmed = false;
  labeler.handle = handle;
  return true;
}
