import type { Micros } from '../../contract/timestamp.ts';
import type { Peer } from '../../network/http/http.ts';
import { ClockChanged } from '../ingest/acceptance.ts';
import { note, type ReaderPorts } from '../ingest/ports.ts';
import { type KnownLabeler, type Presence, priorityInput } from '../roster/known-labeler.ts';
import { type MarkedRow, noPosition, type ReadPosition } from '../state/reading-events.ts';
import { isPrivileged, labelerLimits, priorityOf } from '../state/reading-state.ts';
import { Source } from '../state/source.ts';
import type { Tracker } from '../state/tracker.ts';
import { containReading } from './read-source.ts';
import { ReadingSlots } from './reading-slots.ts';

interface Running {
  readonly endpoint: string;
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

/**
 * Maximum number of endpoints per labeler whose positions are kept. If a labeler returns to one of these endpoints,
 * reading resumes at the kept position.
 */
const maxEndpoints = 4;
/** Maximum number of positions that one commit removes from the store. */
const maxForgotten = 500;

/** Keeps one reader for each labeler that has an endpoint and a reading slot and is not denied. */
export class SourceRunner {
  readonly #ports: ReaderPorts;
  readonly #signal: AbortSignal;
  /** Positions as loaded, or as of the end of the last reader; a running reader keeps its own position. */
  readonly #positions = new Map<string, ReadPosition>();
  /** Endpoints of each labeler that may have a stored position, in the order of their use. */
  readonly #endpoints = new Map<string, string[]>();
  readonly #running = new Map<string, Running>();
  /**
   * Readers that were stopped and have not ended yet, by DID; the next reader of a labeler starts after the previous
   * one has ended.
   */
  readonly #endings = new Map<string, Promise<void>>();
  readonly #failed: (error: unknown) => void;
  readonly #slots: ReadingSlots;

  /**
   * Calls `failed` when a reader fails because the store fails; an error that a source's data causes does not count as
   * such a failure.
   */
  constructor(
    ports: ReaderPorts,
    signal: AbortSignal,
    failed: (error: unknown) => void,
    maxLabelers = labelerLimits.default,
  ) {
    this.#ports = ports;
    this.#signal = signal;
    this.#failed = failed;
    this.#slots = new ReadingSlots(maxLabelers, ports.time.clock);
    // One listener for all readers, because each further listener of a signal makes adding the next one slower.
    signal.addEventListener('abort', () => {
      for (const { stop } of this.#running.values()) stop.abort();
    });
  }

  /**
   * Loads a stored position of a source and endpoint; the positions of one source must be loaded by age, oldest first.
   */
  keep(did: string, endpoint: string, position: ReadPosition): void {
    this.#positions.set(`${did} ${endpoint}`, position);
    this.#endpoints.set(did, [...(this.#endpoints.get(did) ?? []), endpoint]);
  }

  /**
   * Starts, moves or stops the reader of a labeler, as its document and its denial require. An invalid endpoint is
   * recorded as a failure. Does nothing after the signal aborts.
   */
  follow(labeler: KnownLabeler): void {
    if (this.#signal.aborted) return;
    const { did, endpoint, resolutionStatus, denied, tracker } = labeler;
    const running = this.#running.get(did);
    const target = resolutionStatus === 'labeler' && !denied ? endpoint : null;
    if (running?.endpoint === target && running !== undefined) return;
    if (running) this.#stop(did, running);
    if (resolutionStatus === 'bad_endpoint' && !denied) this.#refuse(tracker);
    if (target !== null) {
      this.#start(labeler, target, running ?? null);
      return;
    }
    this.#slots.release(did);
    if (running) this.fillSlots();
  }

  /** Records an endpoint that is not an https address as a failed attempt, with its gap. */
  #refuse(tracker: Tracker): void {
    const { gaps, time } = this.#ports;
    const now = time.clock();
    tracker.apply({ kind: 'asked', now });
    const refused = { kind: 'failed', now, fault: 'refusing', problem: 'endpoint_not_public' } as const;
    note(tracker, gaps, refused).catch(this.#failed);
  }

  /** Assigns free reading slots to waiting labelers, whose priority may have increased since their request. */
  fillSlots(): void {
    for (let next = this.#slots.next(); next !== null; next = this.#slots.next()) {
      this.follow(next);
      if (this.#slots.waits(next.did)) return;
    }
  }

  /** Returns true if a labeler waits because all reading slots are occupied. */
  waits({ did }: KnownLabeler): boolean {
    return this.#slots.waits(did);
  }

  /** Returns the presence of a labeler: read, waiting for a reading slot, or neither. */
  presence({ did }: KnownLabeler): Presence {
    if (this.#running.has(did)) return 'read';
    return this.#slots.waits(did) ? 'waiting' : 'not_read';
  }

  #start(labeler: KnownLabeler, endpoint: string, before: Running | null): void {
    const waited = this.#slots.waits(labeler.did);
    const outcome = this.#slots.take(labeler, endpoint);
    if (outcome.kind === 'waiting') return;
    // No later event records this gap.
    if (waited) this.#noteWait(labeler);
    const { displaced } = outcome;
    const displacedReader = displaced && this.#running.get(displaced.did);
    if (displaced && displacedReader) {
      this.#stop(displaced.did, displacedReader);
      this.#noteWait(displaced);
      this.#ports.report.log.info('a new labeler lost its reading slot to a seeded or established labeler', {
        labeler: displaced.did,
        to: labeler.did,
      });
    }
    if (before) labeler.tracker.apply({ kind: 'moved', now: this.#ports.time.clock() });
    this.#startReader(labeler, endpoint, before?.done ?? this.#endings.get(labeler.did) ?? Promise.resolve());
  }

  /** Records the gap of a labeler that begins to wait for a reading slot, or has waited for one. */
  #noteWait({ tracker }: KnownLabeler): void {
    const { gaps, time } = this.#ports;
    note(tracker, gaps, { kind: 'displaced', now: time.clock() }).catch(this.#failed);
  }

  /** Returns true if a reader of the labeler runs or has not stopped yet. */
  reads(did: string): boolean {
    return this.#running.has(did) || this.#endings.has(did);
  }

  /** Resolves when every reader has ended, which happens after the signal aborts. */
  async ended(): Promise<void> {
    await Promise.all([...this.#endings.values(), ...[...this.#running.values()].map(({ done }) => done)]);
  }

  #startReader(labeler: KnownLabeler, endpoint: string, before: Promise<void>): void {
    const { did, tracker } = labeler;
    const others = (this.#endpoints.get(did) ?? []).filter((one) => one !== endpoint);
    const former = others.at(-1);
    const moved = (this.#endpoints.get(did)?.at(-1) ?? endpoint) !== endpoint;
    const stop = new AbortController();
    const { signal } = stop;
    this.#endpoints.set(did, [...others, endpoint]);
    const read = async (): Promise<void> => {
      await before;
      // The reader of the previous endpoint may have accepted labels after the document changed.
      if (moved) tracker.apply({ kind: 'endpoint_changed' });
      await this.#forgetOld(did);
      const key = `${did} ${endpoint}`;
      const peer = this.#peerOf(labeler);
      const position = this.#positions.get(key) ?? noPosition;
      // A restart may end a move before the first page of the new endpoint is read.
      const isNew = position.cursor === null && position.seq === null;
      const left = former !== undefined && (moved || isNew) ? this.#positions.get(`${did} ${former}`) : undefined;
      const source = new Source({ did, endpoint, peer }, tracker, position, left && newestRowOf(left));
      try {
        await containReading(source, this.#ports, signal);
      } finally {
        this.#positions.set(key, source.position);
      }
    };
    const done = read().catch((error: unknown) => {
      if (!signal.aborted) this.#failed(error);
    });
    this.#running.set(did, { endpoint, stop, done });
  }

  /** Returns the labeler as a peer for the slot scheduler, with its current priority. */
  #peerOf(labeler: KnownLabeler): Peer {
    const now = (): Micros => this.#ports.time.clock();
    return {
      source: labeler.did,
      get privileged() {
        return isPrivileged(priorityOf(priorityInput(labeler), now()));
      },
    };
  }

  /**
   * Removes the positions of labelers that left the roster and have no reader, in memory and in the store, because
   * anyone can create any number of labelers. A labeler that is found again is read like a new one.
   */
  async forgetUnknown(isKnown: (did: string) => boolean): Promise<void> {
    const gone = [...this.#endpoints].filter(([did]) => !isKnown(did) && !this.reads(did));
    let part: [did: string, endpoint: string][] = [];
    for (const [did, endpoints] of gone) {
      part.push(...endpoints.map((endpoint): [string, string] => [did, endpoint]));
      if (part.length < maxForgotten && did !== gone.at(-1)?.[0]) continue;
      await this.#removePositions(part);
      part = [];
    }
    // A labeler that was found again meanwhile has a reader, which keeps its position.
    for (const [did, endpoints] of gone) {
      if (this.reads(did)) continue;
      for (const endpoint of endpoints) this.#positions.delete(`${did} ${endpoint}`);
      this.#endpoints.delete(did);
    }
  }

  /** Removes the positions of all but the newest endpoints, in memory and in the store. */
  async #forgetOld(did: string): Promise<void> {
    const endpoints = this.#endpoints.get(did) ?? [];
    while (endpoints.length > maxEndpoints) {
      const old = endpoints.slice(0, Math.min(maxForgotten, endpoints.length - maxEndpoints));
      await this.#removePositions(old.map((endpoint) => [did, endpoint]));
      endpoints.splice(0, old.length);
      for (const endpoint of old) this.#positions.delete(`${did} ${endpoint}`);
    }
  }

  /** Removes positions from the store in one commit. */
  async #removePositions(gone: readonly (readonly [did: string, endpoint: string])[]): Promise<void> {
    const { acceptance } = this.#ports;
    const positions = gone.map(([source, endpoint]) => ({ source, endpoint, value: null }));
    const page = { source: gone[0]?.[0] ?? '', observations: [], refusals: [], positions };
    for (;;) {
      try {
        await acceptance.accept({ ...page, clockGeneration: acceptance.clockGeneration() });
        return;
      } catch (error) {
        // Repeat the removal immediately, because it does not depend on the clock.
        if (!(error instanceof ClockChanged)) throw error;
      }
    }
  }

  #stop(did: string, { stop, done }: Running): void {
    stop.abort();
    this.#running.delete(did);
    this.#endings.set(did, done);
    void done.then(() => {
      if (this.#endings.get(did) === done) this.#endings.delete(did);
    });
  }
}

/**
 * Returns the newest row before a position, or null if no row is known. Labelers use one number for a row in streams and
 * pages.
 */
function newestRowOf({ seq, seqTail, cursor, cursorTail }: ReadPosition): MarkedRow | null {
  const ofPages = cursor === null || cursorTail === null ? null : { number: cursor, mark: cursorTail };
  if (seq === null || seqTail === null) return ofPages;
  return ofPages === null || seq >= ofPages.number ? { number: seq, mark: seqTail } : ofPages;
}
