import { isIP } from 'node:net';
import { type HostRate, HostRates, registrableDomain } from './host-rates.ts';

/**
 * Limits on concurrent claims. The claims for hosts and domains are counted separately for privileged and other claims.
 */
export interface SlotLimits {
  readonly total: number;
  /** Maximum number of slots of one host and port. */
  readonly perHost: number;
  /**
   * Maximum number of slots of one host, over all its ports, for unprivileged claims; default: `perHost` for each
   * port. The limit protects a host that other parties name without its owner's consent.
   */
  readonly perNewHost?: number;
  /**
   * Maximum number of slots of one registrable domain for unprivileged claims; default: `perDomain`. All names below a
   * domain may lead to one machine.
   */
  readonly perNewDomain?: number;
  /** Maximum number of slots of one registrable domain; default `total`. */
  readonly perDomain?: number;
  /** Maximum number of slots of one source; default `total`. */
  readonly perSource?: number;
  /**
   * Maximum number of waiting claims, which applies separately to privileged and to other claims. Further claims are
   * rejected immediately.
   */
  readonly maxWaiting: number;
  /** Number of the `total` slots that only privileged claims get; default 0. */
  readonly reserved?: number;
  /** Maximum number of unreserved slots for hosts that are slow or have not responded yet; default: all. */
  readonly unproven?: number;
  /** Maximum number of the `total` slots for privileged claims to slow hosts; default: all. */
  readonly slowPrivileged?: number;
  /**
   * Maximum rate of the unprivileged claims for one host and port; default: no limit. Any number of parties may name
   * another party's host. Without a limit, the resulting requests could make the host reject all requests, including
   * requests for its owner.
   */
  readonly hostRate?: HostRate;
}

/** A request for a slot. */
export interface Claim {
  /** Host and port in the form of `URL.host`. */
  readonly host: string;
  /** Source that causes the request, or undefined if unknown. */
  readonly source?: string;
  /** True if the claim may get a reserved slot (default: false). */
  readonly privileged?: boolean;
}

/** Function that releases a slot; further calls have no effect. `answered` is true if the host sent any response. */
export type Release = (answered?: boolean) => void;

/**
 * Fair distribution of slots. Waiting domains take turns, privileged claims come first, and a host that holds its slots
 * for a long time competes only with other slow hosts. A claim that must wait does not delay other claims.
 */
export interface Slots {
  /**
   * Resolves with a function that releases the slot, with `busy` if the claim was rejected or timed out, or with
   * `aborted`. Never rejects.
   */
  acquire(claim: Claim, waitMs: number, signal: AbortSignal): Promise<Release | 'busy' | 'aborted'>;
}

/**
 * A group of claims with a common limit. The claims of a group are all privileged or all unprivileged, and their hosts
 * are all slow or all quick.
 */
interface Lane {
  readonly privileged: boolean;
  readonly slow: boolean;
  taken: number;
  queued: number;
  /** Waiting claims by domain and host; the domain and the host served last are the last entries. */
  readonly waiting: Map<string, Map<string, Set<Waiting>>>;
}

interface Request {
  readonly host: string;
  /** Host whose rate limits the claim, or null if the claim has no rate limit. */
  readonly ratedHost: string | null;
  readonly lane: Lane;
  /** Shares of the host, of the domain, and of the source if it is known. */
  readonly shares: readonly Share[];
}

interface Waiting extends Request {
  readonly grant: () => void;
}

interface Share {
  readonly key: string;
  readonly limit: number;
}

/** Creates the slots of one client. `clock` is a monotonic clock, in milliseconds. */
export function createSlots(limits: SlotLimits, clock: () => number = () => performance.now()): Slots {
  return new FairSlots(limits, clock);
}

class FairSlots implements Slots {
  readonly #limits: Required<Omit<SlotLimits, 'hostRate' | 'perNewHost'>>;
  readonly #perNewHost: number | null;
  readonly #rates: HostRates | null;
  /** Timers that offer the slots again when the rate of a host allows the next claim. */
  readonly #rateTimers = new Map<string, NodeJS.Timeout>();
  readonly #clock: () => number;
  readonly #paces = new HostPaces();
  readonly #shareCounts = new Map<string, number>();
  readonly #privilegedLanes = { quick: createLane(true, false), slow: createLane(true, true) };
  readonly #otherLanes = { quick: createLane(false, false), slow: createLane(false, true) };
  /** All groups, in the order in which they are offered free slots. */
  readonly #lanes = [
    this.#privilegedLanes.quick,
    this.#privilegedLanes.slow,
    this.#otherLanes.quick,
    this.#otherLanes.slow,
  ];

  constructor(limits: SlotLimits, clock: () => number) {
    const { hostRate, perNewHost, ...others } = limits;
    const { total } = limits;
    const whole = {
      perDomain: total,
      perNewDomain: limits.perDomain ?? total,
      perSource: total,
      unproven: total,
      slowPrivileged: total,
    };
    this.#limits = { ...whole, reserved: 0, ...others };
    this.#perNewHost = perNewHost ?? null;
    this.#rates = hostRate === undefined ? null : new HostRates(hostRate, clock);
    this.#clock = clock;
  }

  async acquire(claim: Claim, waitMs: number, signal: AbortSignal): Promise<Release | 'busy' | 'aborted'> {
    if (signal.aborted) return 'aborted';
    const { host, privileged = false } = claim;
    const domain = registrableDomain(host);
    const shares = this.#sharesOf(claim, domain);
    const one = this.#laneOf(claim);
    const request: Request = {
      host,
      ratedHost: this.#rates === null || privileged ? null : machineOf(host),
      lane: one,
      shares,
    };
    if (this.#hasRoom(one) && this.#fits(request)) return this.#take(request);
    const group = privileged ? this.#privilegedLanes : this.#otherLanes;
    if (group.quick.queued + group.slow.queued >= this.#limits.maxWaiting) return 'busy';
    return new Promise((resolve) => {
      const settle = (outcome: Release | 'busy' | 'aborted'): void => {
        entries.delete(entry);
        one.queued -= 1;
        if (entries.size === 0 && hosts.get(host) === entries) hosts.delete(host);
        if (hosts.size === 0 && one.waiting.get(domain) === hosts) one.waiting.delete(domain);
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        resolve(outcome);
      };
      const abort = (): void => settle('aborted');
      const entry: Waiting = { ...request, grant: () => settle(this.#take(request)) };
      const hosts = one.waiting.get(domain) ?? new Map<string, Set<Waiting>>();
      const entries = hosts.get(host) ?? new Set<Waiting>();
      entries.add(entry);
      one.queued += 1;
      hosts.set(host, entries);
      one.waiting.set(domain, hosts);
      const timer = setTimeout(() => settle('busy'), waitMs);
      signal.addEventListener('abort', abort, { once: true });
      this.#offerWhenFree(request);
    });
  }

  #laneOf({ host, privileged = false }: Claim): Lane {
    const pace = this.#paces.of(host);
    // Treat a privileged host without a response as quick, because after startup no privileged host has responded yet.
    if (privileged) return pace === 'slow' ? this.#privilegedLanes.slow : this.#privilegedLanes.quick;
    return pace === 'quick' ? this.#otherLanes.quick : this.#otherLanes.slow;
  }

  #hasRoom({ privileged, slow, taken: own }: Lane): boolean {
    const { total, reserved, unproven, slowPrivileged } = this.#limits;
    if (taken(this.#lanes) >= total) return false;
    if (privileged) return !slow || own < slowPrivileged;
    const { quick, slow: others } = this.#otherLanes;
    return taken([quick, others]) < total - reserved && (!slow || own < unproven);
  }

  #sharesOf({ host, source, privileged = false }: Claim, domain: string): readonly Share[] {
    const { perHost, perDomain, perNewDomain, perSource } = this.#limits;
    // Count privileged claims separately, because another party's document may name a labeler's host but must not use
    // up the labeler's share.
    const group = privileged ? 'privileged' : 'other';
    const hostShare =
      privileged || this.#perNewHost === null
        ? { key: `host ${group} ${host}`, limit: perHost }
        : { key: `host ${group} ${machineOf(host)}`, limit: Math.min(perHost, this.#perNewHost) };
    const shares = [hostShare, { key: `domain ${group} ${domain}`, limit: privileged ? perDomain : perNewDomain }];
    return source === undefined ? shares : [...shares, { key: `source ${source}`, limit: perSource }];
  }

  #fits(request: Request): boolean {
    return request.shares.every((share) => this.#hasFree(share)) && this.#msUntilFree(request) === 0;
  }

  /** Returns true if the limits of the host and the domain allow another claim. Ignores the limit of the source. */
  #hasFreeHost(request: Request): boolean {
    return request.shares.slice(0, 2).every((share) => this.#hasFree(share)) && this.#msUntilFree(request) === 0;
  }

  #hasFree({ key, limit }: Share): boolean {
    return (this.#shareCounts.get(key) ?? 0) < limit;
  }

  #msUntilFree({ ratedHost }: Request): number {
    return ratedHost === null ? 0 : (this.#rates?.msUntilFree(ratedHost) ?? 0);
  }

  /** Offers the free slots again when the rate of the request's host allows its next claim. */
  #offerWhenFree(request: Request): void {
    const { ratedHost } = request;
    const ms = this.#msUntilFree(request);
    if (ratedHost === null || ms === 0 || this.#rateTimers.has(ratedHost)) return;
    const timer = setTimeout(() => {
      this.#rateTimers.delete(ratedHost);
      this.#offer();
    }, ms);
    this.#rateTimers.set(ratedHost, timer.unref());
  }

  #take({ host, ratedHost, lane: one, shares }: Request): Release {
    const since = this.#clock();
    if (ratedHost !== null) this.#rates?.take(ratedHost);
    one.taken += 1;
    for (const { key } of shares) this.#shareCounts.set(key, (this.#shareCounts.get(key) ?? 0) + 1);
    let given = false;
    return (answered = false) => {
      if (given) return;
      given = true;
      this.#paces.held(host, this.#clock() - since, answered);
      one.taken -= 1;
      for (const { key } of shares) {
        const left = (this.#shareCounts.get(key) ?? 1) - 1;
        if (left === 0) this.#shareCounts.delete(key);
        else this.#shareCounts.set(key, left);
      }
      this.#offer();
    };
  }

  /** Grants free slots to waiting claims. */
  #offer(): void {
    for (const one of this.#lanes) {
      while (this.#hasRoom(one)) {
        const next = this.#nextOf(one);
        if (next === null) break;
        next.grant();
      }
    }
  }

  /**
   * Returns the first claim that fits, from the domain that has waited longest for a slot, and moves that domain to the
   * end of the queue. Returns null if no claim fits.
   */
  #nextOf({ waiting }: Lane): Waiting | null {
    for (const [domain, hosts] of waiting) {
      const found = this.#nextOfHosts(hosts);
      if (found === null) continue;
      waiting.delete(domain);
      waiting.set(domain, hosts);
      return found;
    }
    return null;
  }

  #nextOfHosts(hosts: Map<string, Set<Waiting>>): Waiting | null {
    for (const [host, entries] of hosts) {
      const found = this.#firstFitting(entries);
      if (found === null) {
        if (this.#isDomainFull(entries)) return null;
        continue;
      }
      hosts.delete(host);
      hosts.set(host, entries);
      return found;
    }
    return null;
  }

  /**
   * Returns true if no claim for the domain of these claims can fit. The caller then skips the other hosts of the
   * domain. This matters because a domain may have thousands of waiting hosts, and each release of a slot visits all
   * domains.
   */
  #isDomainFull(entries: ReadonlySet<Waiting>): boolean {
    const [first] = entries;
    const share = first?.shares[1];
    return share !== undefined && !this.#hasFree(share);
  }

  /**
   * Returns the first claim for one host that fits, or null. Stops once no claim for the host can fit, because
   * thousands of claims may wait for a host that hangs.
   */
  #firstFitting(entries: ReadonlySet<Waiting>): Waiting | null {
    for (const entry of entries) {
      if (this.#fits(entry)) return entry;
      this.#offerWhenFree(entry);
      if (!this.#hasFreeHost(entry)) return null;
    }
    return null;
  }
}

/**
 * Returns the host without its port and without the dot of an absolute name, because all such spellings lead to one
 * machine. An address and a name with one label keep their port: on a simulated network each port is a separate host.
 */
function machineOf(host: string): string {
  const name = host.replace(/:\d+$/, '').replace(/\.+$/, '');
  return isIP(name.replace(/^\[|\]$/g, '')) === 0 && name.includes('.') ? name : host;
}

function taken(lanes: readonly Lane[]): number {
  return lanes.reduce((sum, one) => sum + one.taken, 0);
}

function createLane(privileged: boolean, slow: boolean): Lane {
  return { privileged, slow, taken: 0, queued: 0, waiting: new Map() };
}

/** Response speed of a host. `unknown` means that the host has not responded yet. */
type Pace = 'quick' | 'slow' | 'unknown';

/**
 * Threshold in milliseconds above which a host is slow. The threshold applies to the weighted mean of the times for
 * which the host's recent requests held their slots. A single handshake without a response exceeds this limit.
 */
export const slowMs = 4_000;
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
class HostPaces {
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
