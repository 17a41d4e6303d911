import { clientKey, siteKey } from '../../http/connections/network-tiers.ts';
import { BudgetSpent, type CostBudget } from './budgets.ts';

/** Maximum number of concurrent look-ups of one client. */
const maxOfClient = 2;
/** Maximum number of concurrent look-ups of one site: half of the slots for requests to the hosts of handles. */
const maxOfSite = 4;
/** `Retry-After` in seconds if a client has too many concurrent look-ups. Most look-ups take less. */
const retrySeconds = 1;

/**
 * Runs a look-up, which sends requests to other servers for a client, and charges its duration. Rejects with
 * `BudgetSpent` if the client has used up its allowance, or if too many look-ups of the client or of its site are in
 * progress.
 */
export type LookUp = <T>(request: { readonly client: string }, work: () => Promise<T>) => Promise<T>;

/** Options for look-ups. */
interface LookUpOptions {
  readonly cost: CostBudget;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Monotonic clock in milliseconds. */
  readonly monotonic: () => number;
}

/**
 * Creates a function that runs look-ups. A host that does not respond occupies a slot until its timeout, so a client
 * must not be able to occupy all slots.
 */
export function createLookUps({ cost, clock, monotonic }: LookUpOptions): LookUp {
  /** Number of look-ups in progress by client or site. */
  const running = new Map<string, number>();

  function count(names: readonly string[], change: 1 | -1): void {
    for (const name of names) {
      const now = (running.get(name) ?? 0) + change;
      if (now === 0) running.delete(name);
      else running.set(name, now);
    }
  }

  return async ({ client }, work) => {
    const wait = cost.waitFor(client, clock());
    if (wait !== null) throw new BudgetSpent(wait);
    const [own, site] = [`client ${clientKey(client)}`, `site ${siteKey(client)}`];
    const isFull = (running.get(own) ?? 0) >= maxOfClient || (running.get(site) ?? 0) >= maxOfSite;
    if (isFull) throw new BudgetSpent(retrySeconds);
    count([own, site], 1);
    const began = monotonic();
    try {
      return await work();
    } finally {
      count([own, site], -1);
      cost.charge(client, { readMs: monotonic() - began }, clock());
    }
  };
}
