/** Response speed of a host; `unknown` if it has not responded yet. */
export type Pace = 'quick' | 'slow' | 'unknown';

/**
 * A host is slow when its recent requests held a slot for longer than this on average, in milliseconds: one handshake
 * that was never answered is enough.
 */
const slowMs = 4_000;
/** Weight of the newest request in the average. */
const newestWeight = 0.3;
/** Hosts that are remembered; beyond it the one that was asked longest ago is forgotten. */
const maxHosts = 16_384;

interface Entry {
  readonly meanMs: number;
  readonly answered: boolean;
}

/** Remembers for how long requests to each host held their slot: time is what a slow host costs the others. */
export class HostPaces {
  readonly #hosts = new Map<string, Entry>();

  /** A request to the host held a slot for so long, and was answered or not. */
  held(host: string, milliseconds: number, answered: boolean): void {
    const before = this.#hosts.get(host);
    const meanMs = (before?.meanMs ?? 0) * (1 - newestWeight) + milliseconds * newestWeight;
    this.#hosts.delete(host);
    this.#hosts.set(host, { meanMs, answered: answered || before?.answered === true });
    const [oldest] = this.#hosts.keys();
    if (this.#hosts.size > maxHosts && oldest !== undefined) this.#hosts.delete(oldest);
  }

  of(host: string): Pace {
    const entry = this.#hosts.get(host);
    if (entry === undefined) return 'unknown';
    if (entry.meanMs > slowMs) return 'slow';
    return entry.answered ? 'quick' : 'unknown';
  }
}
