import type { Micros } from '../../contract/timestamp.ts';
import type { Peer } from '../../network/http/http.ts';
import { ClockChanged } from '../ingest/acceptance.ts';
import type { ReaderPorts } from '../ingest/ports.ts';
import { noPosition, type ReadPosition } from '../label/position.ts';
import { type KnownLabeler, maxEnrolled, priorityInput } from '../roster/known-labeler.ts';
import { Places } from '../roster/places.ts';
import { isPrivileged, priorityOf } from '../state/priority.ts';
import { Source } from '../state/source.ts';
import { containReading } from './contain-reading.ts';
import type { Presence } from './departures.ts';

interface Running {
  readonly endpoint: string;
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

/** Endpoints of a labeler whose positions are kept: the newest, so that one that moves back goes on where it was. */
const maxEndpoints = 4;
/** Positions that are forgotten in one commit. */
const maxForgotten = 500;

/** Keeps one reader for each labeler that has an endpoint, and none for the others. */
export class SourceRunner {
  readonly #ports: ReaderPorts;
  readonly #signal: AbortSignal;
  /** Positions as of the start; readers then keep their own. */
  readonly #positions = new Map<string, ReadPosition>();
  /** Endpoints of each labeler for which a position may be kept, the newest last. */
  readonly #endpoints = new Map<string, string[]>();
  readonly #running = new Map<string, Running>();
  /** Readers that were stopped and have not ended yet; another one of the same labeler begins after it. */
  readonly #endings = new Map<string, Promise<void>>();
  readonly #failed: (error: unknown) => void;
  readonly #places: Places;

  /** `failed` is called when a reader fails because the store does; an error that a source's data causes stays with the source. */
  constructor(ports: ReaderPorts, signal: AbortSignal, failed: (error: unknown) => void, maxReaders = maxEnrolled) {
    this.#ports = ports;
    this.#signal = signal;
    this.#failed = failed;
    this.#places = new Places(maxReaders, ports.time.clock);
  }

  /** Takes over a stored position of a source and endpoint; those of one source in the order of their age. */
  keep(did: string, endpoint: string, position: ReadPosition): void {
    this.#positions.set(`${did} ${endpoint}`, position);
    this.#endpoints.set(did, [...(this.#endpoints.get(did) ?? []), endpoint]);
  }

  /** Brings the reader of a labeler in line with what is known of it now. */
  follow(labeler: KnownLabeler): void {
    if (this.#signal.aborted) return;
    const { did, endpoint, resolutionStatus, denied, tracker } = labeler;
    const running = this.#running.get(did);
    const wanted = resolutionStatus === 'labeler' && !denied ? endpoint : null;
    if (running?.endpoint === wanted && running !== undefined) return;
    if (running) this.#stop(did, running);
    if (resolutionStatus === 'bad_endpoint' && !denied) {
      tracker.apply({ kind: 'asked', now: this.#ports.time.clock() });
      tracker.apply({ kind: 'failed', now: this.#ports.time.clock(), fault: 'refusing' });
    }
    if (wanted !== null) {
      this.#seat(labeler, wanted, running ?? null);
      return;
    }
    this.#places.release(did);
    if (running) this.fillPlaces();
  }

  /** Gives free places to those that wait, some of which may have gained the right to one since they asked. */
  fillPlaces(): void {
    for (let next = this.#places.next(); next !== null; next = this.#places.next()) {
      this.follow(next);
      if (this.#places.waits(next.did)) return;
    }
  }

  /** Returns true if a labeler waits because others occupy all places. */
  waits({ did }: KnownLabeler): boolean {
    return this.#places.waits(did);
  }

  /** Returns whether a labeler is read, waits for a place, or neither. */
  presence({ did }: KnownLabeler): Presence {
    if (this.#running.has(did)) return 'read';
    return this.#places.waits(did) ? 'waiting' : 'gone';
  }

  #seat(labeler: KnownLabeler, endpoint: string, before: Running | null): void {
    const seating = this.#places.take(labeler, endpoint);
    if (seating.kind === 'waiting') return;
    const { displaced } = seating;
    const displacedReader = displaced && this.#running.get(displaced.did);
    if (displaced && displacedReader) {
      this.#stop(displaced.did, displacedReader);
      this.#ports.report.log.info('a new source lost its place to a privileged one', {
        labeler: displaced.did,
        to: labeler.did,
      });
    }
    if (before) labeler.tracker.apply({ kind: 'moved', now: this.#ports.time.clock() });
    this.#start(labeler, endpoint, before?.done ?? this.#endings.get(labeler.did) ?? Promise.resolve());
  }

  /** Returns true if a reader of the labeler runs or has not stopped yet. */
  reads(did: string): boolean {
    return this.#running.has(did) || this.#endings.has(did);
  }

  /** Resolves when every reader has ended; they end when the signal aborts. */
  async ended(): Promise<void> {
    await Promise.all([...this.#endings.values(), ...[...this.#running.values()].map(({ done }) => done)]);
  }

  #start(labeler: KnownLabeler, endpoint: string, before: Promise<void>): void {
    const { did, tracker } = labeler;
    const stop = new AbortController();
    const signal = AbortSignal.any([this.#signal, stop.signal]);
    this.#endpoints.set(did, [...(this.#endpoints.get(did) ?? []).filter((one) => one !== endpoint), endpoint]);
    const read = async (): Promise<void> => {
      await before;
      await this.#forgetOld(did);
      const key = `${did} ${endpoint}`;
      const peer = this.#peerOf(labeler);
      const source = new Source({ did, endpoint, peer }, tracker, this.#positions.get(key) ?? noPosition);
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

  /** A labeler as the slot scheduler identifies it, with its current priority. */
  #peerOf(labeler: KnownLabeler): Peer {
    const now = (): Micros => this.#ports.time.clock();
    return {
      source: labeler.did,
      get privileged() {
        return isPrivileged(priorityOf(priorityInput(labeler), now()));
      },
    };
  }

  /** Forgets the positions of all but the newest endpoints, here and in the store. */
  async #forgetOld(did: string): Promise<void> {
    const endpoints = this.#endpoints.get(did) ?? [];
    while (endpoints.length > maxEndpoints) {
      const old = endpoints.slice(0, Math.min(maxForgotten, endpoints.length - maxEndpoints));
      const positions = old.map((endpoint) => ({ source: did, endpoint, value: null }));
      try {
        await this.#ports.acceptance.accept({
          ...{ source: did, observations: [], refusals: [], positions },
          clockGeneration: this.#ports.acceptance.clockGeneration(),
        });
      } catch (error) {
        // No clock has a say in what is forgotten.
        if (error instanceof ClockChanged) continue;
        throw error;
      }
      endpoints.splice(0, old.length);
      for (const endpoint of old) this.#positions.delete(`${did} ${endpoint}`);
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
