/** Response speed of a host. `unknown` means that the host has not responded yet. */
export type Pace = 'quick' | 'slow' | 'unknown';

/**
 * Threshold above which a host is slow, in milliseconds: the mean time for which its recent requests held a slot. A
 * single handshake without a response exceeds this threshold.
 */
const slowMs = 4_000;
/** Weight of the newest request in the mean time of a host. */
const newestWeight = 0.3;
/** Maximum number of hosts with a recorded speed; above this number, the least recently requested host is removed. */
const maxHosts = 16_384;

interface Entry {
  readonly meanMs: number;
  readonly answered: boolean;
}

/**
 * Records how long requests to each host hold their slots. A slow host delays requests to other hosts by this time.
 */
export class HostPaces {
  readonly #hosts = new Map<string, Entry>();

  /** Records how long, in milliseconds, a request to the host held a slot, and whether the host responded. */
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
