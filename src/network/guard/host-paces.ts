/** Response speed of a host. `unknown` means that the host has not responded yet. */
type Pace = 'quick' | 'slow' | 'unknown';

/**
 * Threshold in milliseconds above which a host is slow. The threshold applies to the weighted mean of the times for
 * which the host's recent requests held their slots. A single handshake without a response exceeds this limit.
 */
const slowMs = 4_000;
/** Weight of the newest request in the mean that is compared with `slowMs`. */
const newestWeight = 0.3;
/** Maximum number of hosts with a recorded speed; above this number, the least recently requested host is removed. */
const maxHosts = 16_384;

interface Entry {
  readonly meanMs: number;
  readonly answered: boolean;
}

/**
 * Records how long requests to each host hold their slots, because slots held by a slow host delay requests to other
 * hosts.
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
