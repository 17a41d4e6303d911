import type { Micros } from '../../contract/timestamp.ts';
import { isObject } from '../../input/json-object.ts';
import { inputLimits } from '../../input/limits.ts';
import { type HttpClient, withPeer } from '../../network/http/http.ts';
import type { IdentityResolver } from '../../network/identity/identity.ts';
import { resolveHandle } from '../../network/identity/resolve-handle.ts';
import { errorFields, type Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import type { StoreWriter } from '../../store/port.ts';
import type { ShareKey } from '../shares/shares.ts';
import type { SourcePart } from '../shares/telemetry.ts';
import { isPrivileged, priorityOf } from '../state/priority.ts';
import { type KnownLabeler, priorityInput } from './known-labeler.ts';
import { labelerCollection } from './relay-list.ts';
import { definitionsOf } from './service-events.ts';

/** Dependencies of fetching labelers' metadata; times in milliseconds. */
export interface LabelerMetadataOptions {
  readonly http: HttpClient;
  readonly identities: Pick<IdentityResolver, 'resolve'>;
  /** Asks DNS for the texts of a name; null: no handle is confirmed. */
  readonly resolveTxt: ((name: string, signal: AbortSignal) => Promise<string[][]>) | null;
  readonly store: Pick<StoreWriter, 'putDefinitions'>;
  readonly labeler: (did: string) => KnownLabeler | undefined;
  readonly clock: () => Micros;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
  /** Called when an error that one labeler's data caused ends the look at this labeler. */
  readonly sourceFailed: (part: SourcePart) => void;
  readonly timeoutMs: number;
  /** A labeler is asked about itself again after this long (7 days). */
  readonly refreshMs?: number;
  /** And after this long where it could not be asked (1 day). */
  readonly retryMs?: number;
  /** Definitions of one labeler are taken at most this often (10 minutes): records that are rewritten without end were seen. */
  readonly minIntervalMs?: number;
  /** The same for labelers that are neither seeded nor long established: there may be any number of these (1 hour). */
  readonly newMinIntervalMs?: number;
  readonly shareOf: (source: string) => ShareKey;
}

/** Labelers asked at a time: this must not hold up the reading of labels. */
const atOnce = 8;
/** Timeout for a host, in milliseconds: a host that hangs delays the next one. */
const maxWaitMs = 10_000;
/** Labelers that are named in the log for an error. */
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
  /** Time at which definitions were last accepted, in milliseconds. */
  readonly #taken = new Map<string, number>();
  /** The name and host that each was last asked about under. */
  readonly #known = new Map<string, string>();
  /** Labelers whose data caused an error that was logged: once for each. */
  readonly #logged = new Set<string>();

  constructor(options: LabelerMetadataOptions) {
    this.#options = options;
    const day = 86_400_000;
    this.#refreshMs = options.refreshMs ?? 7 * day;
    this.#retryMs = options.retryMs ?? day;
    this.#minIntervalMs = options.minIntervalMs ?? 600_000;
    this.#newMinIntervalMs = options.newMinIntervalMs ?? 6 * this.#minIntervalMs;
  }

  /** A labeler's document was read. */
  resolved({ did, handle, pds }: KnownLabeler): void {
    const place = `${handle} ${pds}`;
    if (this.#known.get(did) === place) return;
    this.#known.set(did, place);
    this.#due.set(did, this.#now);
  }

  /** A labeler is no longer asked; once it is resolved again it is asked as one that is new. */
  forget(did: string): void {
    this.#known.delete(did);
    this.#due.delete(did);
  }

  /** A labeler wrote its record, with these definitions. Rejects when the store does. */
  async written(did: string, content: string): Promise<void> {
    if (!this.#options.labeler(did)) return;
    const minInterval = isPrivileged(this.#options.shareOf(did).priority)
      ? this.#minIntervalMs
      : this.#newMinIntervalMs;
    const next = (this.#taken.get(did) ?? Number.NEGATIVE_INFINITY) + minInterval;
    if (this.#now >= next) await this.#take(did, content);
    // Too often: its host is asked later, for what the record says by then.
    else this.#due.set(did, Math.min(next, this.#due.get(did) ?? next));
  }

  /** Asks those that are due until the signal aborts. Rejects when the store does. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const due = this.#nextDue();
      await Promise.all(due.map((did) => this.#contained(did, signal)));
      if (due.length === 0) await this.#options.wait(1_000, signal);
    }
  }

  /** Those that are asked now: seeded and established labelers before new ones, however many of these there are. */
  #nextDue(): string[] {
    const due = [...this.#due].filter(([, at]) => at <= this.#now).map(([did]) => did);
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

  /** Asks one labeler. An error that its data causes is counted, and does not reach the others. */
  async #contained(did: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#ask(did, signal);
    } catch (error) {
      if (error instanceof StoreError && !error.retry) throw error;
      this.#due.set(did, this.#now + this.#retryMs);
      this.#options.sourceFailed('particulars');
      if (this.#logged.has(did) || this.#logged.size >= maxLogged) return;
      this.#logged.add(did);
      this.#options.log.warn('the definitions of a labeler could not be fetched', {
        labeler: did,
        ...errorFields(error),
      });
    }
  }

  async #ask(did: string, signal: AbortSignal): Promise<void> {
    const labeler = this.#options.labeler(did);
    if (!labeler) {
      this.#due.delete(did);
      return;
    }
    const [confirmed, answered] = await Promise.all([this.#confirm(labeler, signal), this.#fetch(labeler, signal)]);
    if (signal.aborted) return;
    this.#due.set(did, this.#now + (confirmed && answered ? this.#refreshMs : this.#retryMs));
  }

  /** Resolves whether its handle is its own; returns false if that could not be resolved. */
  async #confirm(labeler: KnownLabeler, signal: AbortSignal): Promise<boolean> {
    const { identities: identity, resolveTxt } = this.#options;
    const http = this.#clientFor(labeler.did);
    const { handle } = labeler;
    if (handle === null || resolveTxt === null) return true;
    const resolution = await resolveHandle(handle, { http, identity, resolveTxt }, signal);
    if (resolution.kind === 'failed') return false;
    // It may have another name by now.
    if (labeler.handle === handle) {
      labeler.handleConfirmed = resolution.kind === 'resolved' && resolution.did === labeler.did;
    }
    return true;
  }

  /** Returns true if its host responded, even without a record. */
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
    if (content === null) return true;
    try {
      await this.#take(did, content);
      return true;
    } catch (error) {
      if (!(error instanceof StoreError && error.retry)) throw error;
      log.warn('definitions were not stored', errorFields(error));
      return false;
    }
  }

  #clientFor(did: string): HttpClient {
    return withPeer(this.#options.http, { source: did, privileged: this.#isPrivileged(did) });
  }

  async #take(did: string, content: string): Promise<void> {
    const { store, clock, shareOf } = this.#options;
    this.#taken.set(did, this.#now);
    await store.putDefinitions(
      { did, seenAt: clock(), content },
      {
        isProtected: (other) => isPrivileged(shareOf(other).priority),
        groupOf: (other) => shareOf(other).domain,
      },
    );
  }
}
