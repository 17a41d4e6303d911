import { HostPaces } from './host-paces.ts';
import { registrableDomain } from './registrable-domain.ts';

/** Bounds of what is under way at once. Shares of hosts and domains are counted for privileged claims and others apart. */
export interface SlotLimits {
  readonly total: number;
  /** Of one host and port. */
  readonly perHost: number;
  /** Of one registrable domain; `total` unless given. */
  readonly perDomain?: number;
  /** On behalf of one source; `total` unless given. */
  readonly perSource?: number;
  /** Maximum number of waiting claims, for privileged and other claims each; further ones are refused at once. */
  readonly maxWaiting: number;
  /** So many of `total` go to privileged claims alone (0). */
  readonly reserved?: number;
  /** Of the slots that are not reserved, so many may go to hosts that are slow or have not answered yet (all). */
  readonly unproven?: number;
  /** So many of `total` may be held by privileged claims to slow hosts (all). */
  readonly slowPrivileged?: number;
}

/** A request for a slot. */
export interface Claim {
  /** As `URL.host` spells it. */
  readonly host: string;
  /** On whose behalf, where that is known. */
  readonly source?: string;
  /** True if reserved slots may serve it (default: false). */
  readonly privileged?: boolean;
}

/** Gives back a slot; calling it again does nothing. `answered`: the host gave an answer, whatever it says. */
export type Release = (answered?: boolean) => void;

/**
 * Grants slots fairly: the domains that wait take turns, privileged claims first, and a host that holds its slots for
 * long competes only with other slow hosts. A claim that must wait does not delay other claims.
 */
export interface Slots {
  /** Resolves to a slot, or to the reason for not getting one: refused, timed out, or aborted. Never rejects. */
  acquire(claim: Claim, waitMs: number, signal: AbortSignal): Promise<Release | 'busy' | 'aborted'>;
}

/** Claims that share a bound: by whether they are privileged, and by whether their host is slow. */
interface Lane {
  readonly privileged: boolean;
  readonly slow: boolean;
  taken: number;
  queued: number;
  /** Waiting claims by domain; the last entry is the domain that was served last. */
  readonly waiting: Map<string, Set<Waiting>>;
}

interface Waiting {
  readonly shares: readonly Share[];
  readonly grant: () => void;
}

interface Share {
  readonly key: string;
  readonly limit: number;
}

/** Makes the slots of one client. `clock` gives milliseconds from any origin. */
export function createSlots(limits: SlotLimits, clock: () => number = () => performance.now()): Slots {
  const { total, perHost, perDomain = total, perSource = total, maxWaiting, reserved = 0 } = limits;
  const { unproven = total, slowPrivileged = total } = limits;
  const paces = new HostPaces();
  const shareCounts = new Map<string, number>();
  const privilegedLanes = { quick: createLane(true, false), slow: createLane(true, true) };
  const otherLanes = { quick: createLane(false, false), slow: createLane(false, true) };
  /** In the order in which what is free is offered to them. */
  const lanes = [privilegedLanes.quick, privilegedLanes.slow, otherLanes.quick, otherLanes.slow];
  const taken = (some: readonly Lane[]): number => some.reduce((sum, one) => sum + one.taken, 0);

  function laneOf({ host, privileged = false }: Claim): Lane {
    const pace = paces.of(host);
    // Privileged hosts that were not asked yet get the benefit of the doubt: after a start all of them are such.
    if (privileged) return pace === 'slow' ? privilegedLanes.slow : privilegedLanes.quick;
    return pace === 'quick' ? otherLanes.quick : otherLanes.slow;
  }

  function hasRoom({ privileged, slow, taken: own }: Lane): boolean {
    if (taken(lanes) >= total) return false;
    if (privileged) return !slow || own < slowPrivileged;
    return taken([otherLanes.quick, otherLanes.slow]) < total - reserved && (!slow || own < unproven);
  }

  function sharesOf({ host, source, privileged = false }: Claim, domain: string): readonly Share[] {
    // A stranger's document may name another labeler's host: it must not use up that labeler's share.
    const group = privileged ? 'privileged' : 'other';
    const shares = [
      { key: `host ${group} ${host}`, limit: perHost },
      { key: `domain ${group} ${domain}`, limit: perDomain },
    ];
    return source === undefined ? shares : [...shares, { key: `source ${source}`, limit: perSource }];
  }

  function fits(shares: readonly Share[]): boolean {
    return shares.every(({ key, limit }) => (shareCounts.get(key) ?? 0) < limit);
  }

  function take(host: string, one: Lane, shares: readonly Share[]): Release {
    const since = clock();
    one.taken += 1;
    for (const { key } of shares) shareCounts.set(key, (shareCounts.get(key) ?? 0) + 1);
    let given = false;
    return (answered = false) => {
      if (given) return;
      given = true;
      paces.held(host, clock() - since, answered);
      one.taken -= 1;
      for (const { key } of shares) {
        const left = (shareCounts.get(key) ?? 1) - 1;
        if (left === 0) shareCounts.delete(key);
        else shareCounts.set(key, left);
      }
      offer();
    };
  }

  /** Offers what is free to what waits. */
  function offer(): void {
    for (const one of lanes) {
      while (hasRoom(one)) {
        const next = nextOf(one);
        if (next === null) break;
        next.grant();
      }
    }
  }

  /** The first claim that fits, of the domain that was served longest ago. */
  function nextOf({ waiting }: Lane): Waiting | null {
    for (const [domain, entries] of waiting) {
      for (const entry of entries) {
        if (!fits(entry.shares)) continue;
        waiting.delete(domain);
        waiting.set(domain, entries);
        return entry;
      }
    }
    return null;
  }

  return {
    async acquire(claim, waitMs, signal) {
      if (signal.aborted) return 'aborted';
      const { host, privileged = false } = claim;
      const domain = registrableDomain(host);
      const shares = sharesOf(claim, domain);
      const one = laneOf(claim);
      if (hasRoom(one) && fits(shares)) return take(host, one, shares);
      const group = privileged ? privilegedLanes : otherLanes;
      if (group.quick.queued + group.slow.queued >= maxWaiting) return 'busy';
      return new Promise((resolve) => {
        const settle = (outcome: Release | 'busy' | 'aborted'): void => {
          entries.delete(entry);
          one.queued -= 1;
          if (entries.size === 0 && one.waiting.get(domain) === entries) one.waiting.delete(domain);
          clearTimeout(timer);
          signal.removeEventListener('abort', abort);
          resolve(outcome);
        };
        const abort = (): void => settle('aborted');
        const entry: Waiting = { shares, grant: () => settle(take(host, one, shares)) };
        const entries = one.waiting.get(domain) ?? new Set<Waiting>();
        entries.add(entry);
        one.queued += 1;
        one.waiting.set(domain, entries);
        const timer = setTimeout(() => settle('busy'), waitMs);
        signal.addEventListener('abort', abort, { once: true });
      });
    },
  };
}

function createLane(privileged: boolean, slow: boolean): Lane {
  return { privileged, slow, taken: 0, queued: 0, waiting: new Map() };
}
