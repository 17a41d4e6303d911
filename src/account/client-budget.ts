import { createHmac, randomBytes } from 'node:crypto';
import ipaddr from 'ipaddr.js';

/** Most accounts of all clients that are remembered at once; beyond it the clients seen first are forgotten. */
const maxRemembered = 1_000_000;

const dayMs = 86_400_000;

/**
 * How many distinct accounts a client may ask for in a UTC day. Kept in memory alone, as numbers under a salt that is
 * thrown away with the day: which client asked for which account is written nowhere and cannot be told afterwards.
 */
export interface ClientBudget {
  /** Seconds until the client may ask for this account, or null: it may now. `now` in milliseconds since 1970. */
  waitFor(client: string, account: string, now: number): number | null;
}

/** A budget of `accounts` a day; null where there is no bound. */
export function createClientBudget(accounts: number | null): ClientBudget {
  let today = Number.NaN;
  let salt = randomBytes(32);
  let remembered = 0;
  const asked = new Map<string, Set<number>>();

  function mark(text: string): number {
    return createHmac('sha256', salt).update(text).digest().readUIntBE(0, 6);
  }

  function begin(day: number): void {
    today = day;
    salt = randomBytes(32);
    asked.clear();
    remembered = 0;
  }

  function forgetOldest(): void {
    const [first] = asked;
    if (!first) return;
    asked.delete(first[0]);
    remembered -= first[1].size;
  }

  return {
    waitFor(client, account, now) {
      if (accounts === null) return null;
      const day = Math.floor(now / dayMs);
      if (day !== today) begin(day);
      const name = String(mark(`client ${clientKey(client)}`));
      const own = asked.get(name) ?? new Set<number>();
      const one = mark(`account ${account}`);
      if (own.has(one)) return null;
      if (own.size >= accounts) return Math.max(1, Math.ceil(((day + 1) * dayMs - now) / 1000));
      own.add(one);
      asked.set(name, own);
      remembered += 1;
      if (remembered > maxRemembered) forgetOldest();
      return null;
    },
  };
}

/** What counts as one client: an IPv4 address, or the network of 64 bits that an IPv6 address lies in. */
export function clientKey(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}
