import type { LookupAddress } from 'node:dns';
import { BusyResolverError, type Resolve } from '../guard/address-policy.ts';
import { createSharedCache } from '../guard/shared-cache.ts';
import { createSlots } from '../guard/slots.ts';
import { type AddressAnswer, type QueryOptions, queryAddresses, queryTexts } from './dns-query.ts';
import { createHostsFile } from './hosts-file.ts';

/** Settings of a resolver; all times in milliseconds, all bounds with defaults. */
export interface NameResolverOptions {
  /**
   * The hosts file that comes before DNS, for names that the operator configured. Null for names that strangers chose:
   * what this machine calls its neighbours is nothing that they may ask for.
   */
  readonly hostsFile: string | null;
  /** DNS servers (`127.0.0.1:5353`); the system's unless given. */
  readonly servers?: readonly string[];
  /** Queries at once (256), and of one registrable domain (32). */
  readonly total?: number;
  readonly perDomain?: number;
  /** Answers that are kept (8,192). */
  readonly maxEntries?: number;
  /** A query may take this long in all (10,000). */
  readonly deadlineMs?: number;
  /** Milliseconds, from any origin. */
  readonly clock?: () => number;
}

/** Resolves names with c-ares: no name that is never answered can hold up another. */
export interface NameResolver {
  /** The addresses of a name. Callers that ask for one name at the same time share one query. */
  readonly resolve: Resolve;
  /** The texts of a name, not cached; rejects as `node:dns` does. */
  resolveTxt(name: string, signal: AbortSignal): Promise<string[][]>;
}

/** Bounds of an answer's lifetime in the cache, regardless of its time to live: half a minute to an hour. */
const ttlBounds = { minMs: 30_000, maxMs: 3_600_000 };
/** Cache lifetime of the result that a name has no address, or that no server responded. */
const noneTtlMs = 60_000;
const failedTtlMs = 5_000;
/** One try at one server; c-ares doubles it with each further one. */
const tryMs = 2_500;
const tries = 2;

/** The hosts file of this machine. */
export const systemHostsFile = '/etc/hosts';

type Answer = AddressAnswer | { readonly kind: 'busy' | 'aborted' };

/**
 * Makes a resolver with a cache of its own, so that what strangers make it ask displaces nothing of the operator's
 * upstreams: make one for each. `localhost` and the names under it are this machine, as RFC 6761 has it.
 */
export function createNameResolver(options: NameResolverOptions): NameResolver {
  const { hostsFile, servers, total = 256, perDomain = 32, maxEntries = 8_192, deadlineMs = 10_000 } = options;
  const clock = options.clock ?? (() => performance.now());
  const hosts = hostsFile === null ? null : createHostsFile(hostsFile);
  const slots = createSlots({ total, perHost: perDomain, perDomain, maxWaiting: 8_192 });
  const cache = createSharedCache<Answer>({ ttlOf, maxEntries, clock, gaveUp: { kind: 'aborted' } });

  /** Waits for a slot, then sends the query; the caller's signal limits the wait too. */
  async function query<T>(name: string, signal: AbortSignal, ask: (query: QueryOptions) => Promise<T>): Promise<T> {
    const slot = await slots.acquire({ host: name }, deadlineMs, signal);
    if (slot === 'aborted') throw dnsError('ECANCELLED', name);
    if (slot === 'busy') throw new BusyResolverError();
    try {
      return await ask({ servers, timeoutMs: tryMs, tries, deadlineMs, signal });
    } finally {
      slot();
    }
  }

  async function askDns(name: string, signal: AbortSignal): Promise<Answer> {
    try {
      return await query(name, signal, (how) => queryAddresses(name, how));
    } catch (error) {
      return { kind: error instanceof BusyResolverError ? 'busy' : 'aborted' };
    }
  }

  async function find(hostname: string, signal: AbortSignal): Promise<Answer> {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    if (name === 'localhost' || name.endsWith('.localhost'))
      return { kind: 'addresses', addresses: thisMachine, ttlMs: 0 };
    const known = (await hosts?.addressesOf(name)) ?? [];
    if (known.length > 0) return { kind: 'addresses', addresses: known, ttlMs: 0 };
    return cache.get(name, (shared) => askDns(name, shared), { signal, fresh: false });
  }

  return {
    resolve(hostname, { signal }, done) {
      void find(hostname, signal).then((answer) => {
        if (answer.kind === 'addresses') done(null, [...answer.addresses]);
        else done(errorOf(answer, hostname), []);
      });
    },
    resolveTxt: (name, signal) => query(name, signal, (how) => queryTexts(name, how)),
  };
}

const thisMachine: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

function ttlOf(answer: Answer): number {
  switch (answer.kind) {
    case 'addresses':
      return Math.min(Math.max(answer.ttlMs, ttlBounds.minMs), ttlBounds.maxMs);
    case 'none':
      return noneTtlMs;
    case 'failed':
      return failedTtlMs;
    // Neither says anything about the name.
    case 'busy':
    case 'aborted':
      return 0;
  }
}

function errorOf(answer: Exclude<Answer, { kind: 'addresses' }>, name: string): Error {
  switch (answer.kind) {
    case 'none':
      return dnsError('ENOTFOUND', name);
    case 'failed':
      return dnsError(answer.code, name);
    case 'busy':
      return new BusyResolverError();
    case 'aborted':
      return dnsError('ECANCELLED', name);
  }
}

function dnsError(code: string, name: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`cannot resolve ${name}: ${code}`), { code });
}
