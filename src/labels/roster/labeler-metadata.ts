import type { Micros } from '../../contract/timestamp.ts';
import { isObject } from '../../input/json-budget.ts';
import { inputLimits } from '../../input/limits.ts';
import { type HttpClient, withPeer } from '../../network/http/http.ts';
import { type IdentityResolver, resolveHandle } from '../../network/identity/identity.ts';
import { errorFields, type Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import type { Definitions } from '../../store/roster.ts';
import type { GroupedCommits } from '../shares/commits.ts';
import type { ShareKey } from '../shares/fair-queue.ts';
import type { Telemetry } from '../shares/telemetry.ts';
import { isPrivileged, priorityOf } from '../state/reading-state.ts';
import { type KnownLabeler, priorityInput } from './known-labeler.ts';
import { labelerCollection } from './labeler-lists.ts';
import { definitionsOf } from './service-events.ts';

/** Dependencies of `LabelerMetadata`; times in milliseconds. */
interface LabelerMetadataOptions {
  readonly http: HttpClient;
  readonly identities: Pick<IdentityResolver, 'resolve'>;
  /** Looks up the TXT records of a name. With null, no handle is confirmed. */
  readonly resolveTxt: ((name: string, signal: AbortSignal) => Promise<string[][]>) | null;
  /**
   * Stores definitions; the result is false if the newest stored revision is equal, or null if the instrument stops.
   */
  readonly revisions: Pick<GroupedCommits<Definitions, boolean>, 'put' | 'isFull'>;
  readonly labeler: (did: string) => KnownLabeler | undefined;
  readonly clock: () => Micros;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
  /** Called when a new revision of a labeler's definitions was stored. */
  readonly definitionsStored: (did: string) => void;
  /** Called when an error that a labeler's data caused ends the fetch for this labeler. */
  readonly sourceFailed: Telemetry['sourceFailed'];
  readonly timeoutMs: number;
  /** Interval between two fetches for a labeler, in milliseconds (7 days). */
  readonly refreshMs?: number;
  /** Interval after a failed fetch, in milliseconds (1 day). */
  readonly retryMs?: number;
  /**
   * Minimum interval between two accepted definitions of a privileged labeler, in milliseconds (10 minutes). Some
   * labelers rewrite their record constantly.
   */
  readonly minIntervalMs?: number;
  /**
   * Minimum interval between two accepted definitions of a labeler that is not privileged, in milliseconds (1 hour).
   */
  readonly newMinIntervalMs?: number;
  readonly shareOf: (source: string) => ShareKey;
}

/** Maximum concurrent fetches; the bound prevents them from delaying label reads. */
const atOnce = 8;
/** Timeout for a host, in milliseconds. A host that hangs delays the next fetch for at most this time. */
const maxWaitMs = 10_000;
/** Maximum number of labelers whose errors are logged. */
const maxLogged = 1_000;

/** Fetches labelers' metadata: their label definitions from their own hosts, and the confirmation of their handles. */
export class LabelerMetadata {
  readonly #options: LabelerMetadataOptions;
  readonly #refreshMs: number;
  readonly #retryMs: number;
  readonly #minIntervalMs: number;
  readonly #newMinIntervalMs: number;
  /** Time of each labeler's next fetch, in milliseconds. */
  readonly #due = new Map<string, number>();
  /** Time at which the definitions of each labeler were last accepted, in milliseconds. */
  readonly #taken = new Map<string, number>();
  /** Handle and host of each labeler in its last resolved document, as one string. */
  readonly #known = new Map<string, string>();
  /** Labelers for which an error was logged, so that only one line is logged for each. */
  readonly #logged = new Set<string>();

  constructor(options: LabelerMetadataOptions) {
    this.#options = options;
    const day = 86_400_000;
    this.#refreshMs = options.refreshMs ?? 7 * day;
    this.#retryMs = options.retryMs ?? day;
    this.#minIntervalMs = options.minIntervalMs ?? 600_000;
    this.#newMinIntervalMs = options.newMinIntervalMs ?? 6 * this.#minIntervalMs;
  }

  /** Schedules a fetch if the handle or the host changed. Must be called after a labeler's document was read. */
  resolved({ did, handle, pds }: KnownLabeler): void {
    const identity = `${handle} ${pds}`;
    if (this.#known.get(did) === identity) return;
    this.#known.set(did, identity);
    this.#due.set(did, this.#now);
  }

  /** Ends the fetches for a labeler; after its next resolution, the labeler is treated as new. */
  forget(did: string): void {
    this.#known.delete(did);
    this.#due.delete(did);
  }

  /** Discards everything about a labeler that left the roster. */
  left(did: string): void {
    this.forget(did);
    this.#taken.delete(did);
  }

  /** Number of labelers that have an entry in any map; `#logged` is not counted. */
  get remembered(): number {
    return new Set([...this.#known.keys(), ...this.#due.keys(), ...this.#taken.keys()]).size;
  }

  /**
   * Stores the definitions of a known labeler, or schedules a fetch if the last accepted definitions are too recent or
   * too many definitions wait for a commit. Must be called after a labeler has written its record. Rejects if the store
   * fails.
   */
  async written(did: string, content: string): Promise<void> {
    if (!this.#options.labeler(did)) return;
    const isProtected = isPrivileged(this.#options.shareOf(did).priority);
    const minInterval = isProtected ? this.#minIntervalMs : this.#newMinIntervalMs;
    const taken = this.#taken.get(did) ?? Number.NEGATIVE_INFINITY;
    // A time after the present is that of a clock that was ahead.
    const next = taken > this.#now ? Number.NEGATIVE_INFINITY : taken + minInterval;
    const isTaken = this.#now >= next && (isProtected || !this.#options.revisions.isFull);
    if (isTaken) await this.#take(did, content);
    else this.#dueAt(did, Math.max(next, this.#now));
  }

  /** Fetches due metadata until the signal aborts. Rejects if the store fails permanently. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const due = this.#nextDue();
      await Promise.all(due.map((did) => this.#contained(did, signal)));
      if (due.length === 0) await this.#options.wait(1_000, signal);
    }
  }

  /** Returns the labelers to fetch now, privileged ones first. */
  #nextDue(): string[] {
    const now = this.#now;
    // No fetch is scheduled further ahead than this. One that is due later was scheduled by a clock that was ahead.
    const furthestMs = Math.max(this.#refreshMs, this.#retryMs, this.#minIntervalMs, this.#newMinIntervalMs);
    const due = [...this.#due].filter(([, at]) => at <= now || at > now + furthestMs).map(([did]) => did);
    return [...due.filter((did) => this.#isPrivileged(did)), ...due.filter((did) => !this.#isPrivileged(did))].slice(
      0,
      atOnce,
    );
  }

  #isPrivileged(did: string): boolean {
    const labeler = this.#options.labeler(did);
    return labeler !== undefined && isPrivileged(priorityOf(priorityInput(labeler), this.#options.clock()));
  }

  get #now(): number {
    return this.#options.clock() / 1000;
  }

  /**
   * Fetches the metadata of one labeler. Catches and counts an error that the labeler's data causes, so that other
   * labelers are not affected.
   */
  async #contained(did: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#ask(did, signal);
    } catch (error) {
      if (error instanceof StoreError && !error.retry) throw error;
      this.#dueAt(did, this.#now + this.#retryMs);
      this.#options.sourceFailed('particulars');
      if (this.#logged.has(did) || this.#logged.size >= maxLogged) return;
      this.#logged.add(did);
      this.#options.log.warn('the definitions of a labeler could not be fetched', {
        labeler: did,
        ...errorFields(error),
      });
    }
  }

  /** Schedules a fetch, unless an earlier one is scheduled or the labeler has left meanwhile. */
  #dueAt(did: string, at: number): void {
    if (!this.#options.labeler(did)) return;
    this.#due.set(did, Math.min(at, this.#due.get(did) ?? Number.POSITIVE_INFINITY));
  }

  async #ask(did: string, signal: AbortSignal): Promise<void> {
    // A record that the labeler writes during this fetch schedules another one.
    this.#due.delete(did);
    const labeler = this.#options.labeler(did);
    if (!labeler) return;
    const [confirmed, answered] = await Promise.all([this.#confirm(labeler, signal), this.#fetch(labeler, signal)]);
    if (signal.aborted) return;
    this.#dueAt(did, this.#now + (confirmed && answered ? this.#refreshMs : this.#retryMs));
  }

  /**
   * Records whether a labeler's handle resolves to its DID. Returns false, and changes nothing, if the look-up failed. A
   * handle whose host redirects is not confirmed.
   */
  async #confirm(labeler: KnownLabeler, signal: AbortSignal): Promise<boolean> {
    const { identities: identity, resolveTxt } = this.#options;
    const http = this.#clientFor(labeler.did);
    const { handle } = labeler;
    if (handle === null || resolveTxt === null) return true;
    const resolution = await resolveHandle(handle, { http, identity, resolveTxt }, signal);
    if (resolution.kind === 'failed' && !resolution.redirects) return false;
    // The handle may have changed during the look-up.
    if (labeler.handle === handle) {
      labeler.handleConfirmed = resolution.kind === 'resolved' && resolution.did === labeler.did;
    }
    return true;
  }

  /**
   * Fetches a labeler's record and stores its definitions. Returns false if the host must be asked again soon, because
   * it did not respond properly or the store rejected the definitions temporarily.
   */
  async #fetch({ did, pds }: KnownLabeler, signal: AbortSignal): Promise<boolean> {
    const { log } = this.#options;
    const http = this.#clientFor(did);
    const timeoutMs = Math.min(this.#options.timeoutMs, maxWaitMs);
    if (pds === null) return true;
    const url = new URL('/xrpc/com.atproto.repo.getRecord', pds);
    url.searchParams.set('repo', did);
    url.searchParams.set('collection', labelerCollection);
    url.searchParams.set('rkey', 'self');
    const { labelerRecord: limits } = inputLimits;
    const answer = await http.getJson(url, { maxBytes: limits.bytes, shape: limits, timeoutMs, signal });
    if (answer.kind !== 'json') return answer.kind === 'status' && answer.status < 500;
    const content = isObject(answer.value) ? definitionsOf(answer.value.value) : null;
    // The labeler may have left the roster, or may have been denied, during the fetch.
    if (content === null || !this.#options.labeler(did)) return true;
    try {
      await this.#take(did, content);
      return true;
    } catch (error) {
      if (!(error instanceof StoreError && error.retry)) throw error;
      log.warn('the label definitions of a labeler were not stored', errorFields(error));
      return false;
    }
  }

  #clientFor(did: string): HttpClient {
    return withPeer(this.#options.http, { source: did, privileged: this.#isPrivileged(did) });
  }

  async #take(did: string, content: string): Promise<void> {
    const { revisions, clock, definitionsStored } = this.#options;
    this.#taken.set(did, this.#now);
    const isNew = await revisions.put({ did, seenAt: clock(), content });
    if (isNew === true) definitionsStored(did);
  }
}
