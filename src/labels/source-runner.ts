import { ClockChanged } from './acceptance.ts';
import { containReading } from './contain-reading.ts';
import { type Member, maxEnrolled } from './member.ts';
import { noPosition, type ReadPosition } from './position.ts';
import type { ReaderTools, Source } from './source.ts';

interface Running {
  readonly endpoint: string;
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

/** Endpoints of a labeler whose positions are kept: the newest, so that one that moves back goes on where it was. */
const mostEndpoints = 4;
/** Positions that are forgotten in one commit. */
const mostForgotten = 500;

/** Keeps one reader for each member that has an endpoint, and none for the others. */
export class SourceRunner {
  readonly #tools: ReaderTools;
  readonly #signal: AbortSignal;
  /** Positions as of the start; readers then keep their own. */
  readonly #positions = new Map<string, ReadPosition>();
  /** Endpoints of each labeler for which a position may be kept, the newest last. */
  readonly #endpoints = new Map<string, string[]>();
  readonly #running = new Map<string, Running>();
  readonly #ending = new Set<Promise<void>>();
  readonly #failed: (error: unknown) => void;
  readonly #most: number;
  /** Those that would be read, were there not so many already; in the order in which they came. */
  readonly #waiting = new Map<string, Member>();

  /** `failed` is called when a reader fails because the store does; an error that a source's data causes stays with the source. */
  constructor(tools: ReaderTools, signal: AbortSignal, failed: (error: unknown) => void, most = maxEnrolled) {
    this.#tools = tools;
    this.#signal = signal;
    this.#failed = failed;
    this.#most = most;
  }

  /** Takes over a stored position of a source and endpoint; those of one source in the order of their age. */
  keep(did: string, endpoint: string, position: ReadPosition): void {
    this.#positions.set(`${did} ${endpoint}`, position);
    this.#endpoints.set(did, [...(this.#endpoints.get(did) ?? []), endpoint]);
  }

  /** Brings the reader of a member in line with what is known of it now. */
  follow(member: Member): void {
    if (this.#signal.aborted) return;
    const { did, endpoint, finding, tracker } = member;
    const running = this.#running.get(did);
    const wanted = finding === 'labeler' ? endpoint : null;
    if (running?.endpoint === wanted && running !== undefined) return;
    if (running) this.#stop(did, running);
    if (finding === 'bad_endpoint') {
      tracker.asked(this.#tools.clock());
      tracker.failed(this.#tools.clock(), 'refusing');
    }
    this.#waiting.delete(did);
    if (wanted !== null && this.#running.size >= this.#most) this.#waiting.set(did, member);
    else if (wanted !== null) {
      if (running) tracker.moved(this.#tools.clock());
      this.#start(member, wanted, running?.done ?? Promise.resolve());
    }
    const [next] = this.#waiting.values();
    if (next && this.#running.size < this.#most) this.follow(next);
  }

  /** Whether a labeler is not read because others are. */
  waits({ did }: Member): boolean {
    return this.#waiting.has(did);
  }

  /** Resolves when every reader has ended; they end when the signal aborts. */
  async ended(): Promise<void> {
    await Promise.all([...this.#ending, ...[...this.#running.values()].map(({ done }) => done)]);
  }

  #start({ did, tracker }: Member, endpoint: string, before: Promise<void>): void {
    const stop = new AbortController();
    const key = `${did} ${endpoint}`;
    const position = this.#positions.get(key) ?? noPosition;
    const source: Source = {
      ...{ did, endpoint, tracker, position, replayFrom: null, unplaced: new Set<string>(), lastPage: null },
      ...{ seen: new Map<number, string>(), live: null, contiguous: false },
    };
    const signal = AbortSignal.any([this.#signal, stop.signal]);
    this.#endpoints.set(did, [...(this.#endpoints.get(did) ?? []).filter((one) => one !== endpoint), endpoint]);
    const done = before
      .then(() => this.#forgetOld(did))
      .then(() => containReading(source, this.#tools, signal))
      .catch((error: unknown) => {
        if (!signal.aborted) this.#failed(error);
      })
      .then(() => {
        this.#positions.set(key, source.position);
      });
    this.#running.set(did, { endpoint, stop, done });
  }

  /** Forgets the positions of all but the newest endpoints, here and in the store. */
  async #forgetOld(did: string): Promise<void> {
    const endpoints = this.#endpoints.get(did) ?? [];
    while (endpoints.length > mostEndpoints) {
      const old = endpoints.slice(0, Math.min(mostForgotten, endpoints.length - mostEndpoints));
      const positions = old.map((endpoint) => ({ source: did, endpoint, value: null }));
      try {
        await this.#tools.accept({ observations: [], refusals: [], positions, clockEra: this.#tools.clockEra() });
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
    this.#ending.add(done);
    void done.then(() => this.#ending.delete(done));
  }
}
