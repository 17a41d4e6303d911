import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { systemCode } from '../../ops/errors.ts';
import { BusyResolverError, type Resolve } from '../guard/address-policy.ts';
import { createSharedCache } from '../guard/shared-cache.ts';
import { createSlots } from '../guard/slots.ts';

/** Settings of a name resolver; all times in milliseconds. */
interface NameResolverOptions {
  /**
   * Path of the hosts file that is consulted before DNS, for names that the operator configured. Null for names that
   * other parties choose, because other parties must not cause look-ups of this machine's local names.
   */
  readonly hostsFile: string | null;
  /** DNS servers (`127.0.0.1:5353`); default: the system's servers. */
  readonly servers?: readonly string[];
  /** Maximum number of concurrent queries (default 256). */
  readonly total?: number;
  /** Maximum number of concurrent queries for one registrable domain (default 32). */
  readonly perDomain?: number;
  /** Maximum number of cached DNS responses (default 8,192). */
  readonly maxEntries?: number;
  /** Timeout of a whole query in milliseconds (default 10,000). */
  readonly deadlineMs?: number;
  /** Monotonic clock, in milliseconds. */
  readonly clock?: () => number;
}

/** Resolves host names with c-ares. A name whose servers never respond does not delay other names. */
interface NameResolver {
  /**
   * Resolves the addresses of a name. Concurrent callers for one name share one query. Fails with an error of
   * `node:dns`, or with a BusyResolverError if too many queries are in progress.
   */
  readonly resolve: Resolve;
  /** Resolves the TXT records of a name without a cache. Rejects with the same errors as `resolve`. */
  resolveTxt(name: string, signal: AbortSignal): Promise<string[][]>;
}

/** Minimum and maximum lifetime in milliseconds of a cached DNS response, regardless of its TTL. */
const ttlBounds = { minMs: 30_000, maxMs: 3_600_000 };
/** Lifetime in the cache of a name without addresses, in milliseconds. */
const noneTtlMs = 60_000;

/** Lifetime in the cache of a failed query, in milliseconds. */
const failedTtlMs = 5_000;
/**
 * Timeout of the first attempt at one server, in milliseconds; c-ares doubles the timeout with each further attempt.
 */
const tryMs = 2_500;

/** Maximum number of attempts at each server. */
const tries = 2;

/** Path of this machine's hosts file. */
export const systemHostsFile = '/etc/hosts';

type Answer = AddressAnswer | { readonly kind: 'busy' | 'aborted' };

/**
 * Creates a resolver with its own cache. Use separate resolvers for names that other parties choose and for the
 * operator's upstreams, so that other parties cannot evict the operator's names from the cache. `localhost` and names
 * below it resolve to this machine (RFC 6761).
 */
export function createNameResolver(options: NameResolverOptions): NameResolver {
  const { hostsFile, servers, total = 256, perDomain = 32, maxEntries = 8_192, deadlineMs = 10_000 } = options;
  const clock = options.clock ?? (() => performance.now());
  const hosts = hostsFile === null ? null : createHostsFile(hostsFile);
  const slots = createSlots({ total, perHost: perDomain, perDomain, maxWaiting: 8_192 });
  const cache = createSharedCache<Answer>({ ttlOf, maxEntries, clock, gaveUp: { kind: 'aborted' } });

  /** Waits for a slot and then sends the query. Rejects if no slot becomes free in time or the signal aborts. */
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
    // A rejected or aborted query reveals nothing about the name, so do not cache its result.
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

/** A hosts file in which names can be looked up. */
interface HostsFile {
  /**
   * Returns the addresses of a name; empty if the file does not contain the name, is too large or cannot be read. Never
   * rejects.
   */
  addressesOf(name: string): Promise<readonly LookupAddress[]>;
}

/** Maximum size of a hosts file, in bytes. */
const maxBytes = 1024 * 1024;

/**
 * Creates a resolver that looks up names in a hosts file. It reads the file at the first look-up, and again when the
 * modification time or size of the file has changed.
 */
function createHostsFile(path: string): HostsFile {
  let names = new Map<string, LookupAddress[]>();
  let version = '';

  async function refresh(): Promise<void> {
    const { mtimeMs, size } = await stat(path);
    const found = `${mtimeMs} ${size}`;
    if (found === version) return;
    names = size > maxBytes ? new Map() : parseHosts(await readFile(path, 'utf8'));
    version = found;
  }

  return {
    async addressesOf(name) {
      await refresh().catch(() => {
        names = new Map();
        version = '';
      });
      return names.get(name.toLowerCase()) ?? [];
    },
  };
}

/** Parses the text of a hosts file. Skips invalid lines, as the system does. */
function parseHosts(text: string): Map<string, LookupAddress[]> {
  const names = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...aliases] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const alias of aliases) {
      const name = alias.toLowerCase();
      names.set(name, [...(names.get(name) ?? []), { address, family }]);
    }
  }
  return names;
}

/** Options for one DNS query; all times in milliseconds. */
interface QueryOptions {
  /** Addresses of DNS servers, with a port unless it is 53; default: the system's servers. */
  readonly servers?: readonly string[] | undefined;
  /** Timeout of the first attempt at one server, in milliseconds; later attempts have longer timeouts. */
  readonly timeoutMs: number;
  /** Maximum number of attempts at each server. */
  readonly tries: number;
  /** Timeout of the whole query in milliseconds, including all attempts and both address families. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

/** Result of a DNS query for the addresses of a name. */
type AddressAnswer =
  | { readonly kind: 'addresses'; readonly addresses: readonly LookupAddress[]; readonly ttlMs: number }
  /** The name does not exist or has no address. */
  | { readonly kind: 'none' }
  /** The query failed; `code` is the error code of `node:dns` (`ESERVFAIL`, `ETIMEOUT`). */
  | { readonly kind: 'failed'; readonly code: string };

/**
 * Maximum number of addresses of one family that are used. A connection tries them in sequence.
 */
const maxAddresses = 8;
/** Maximum time in milliseconds to wait for the second address family after the first one has a result. */
const otherFamilyMs = 1_000;

/**
 * Queries the IPv4 and IPv6 addresses of a name with c-ares, which uses no thread. Each query has its own channel,
 * because only whole channels can be cancelled. Creating a channel takes about 40 microseconds and reads the system's
 * current servers.
 */
async function queryAddresses(name: string, options: QueryOptions): Promise<AddressAnswer> {
  return withResolver(options, async (resolver, cancelIn) => {
    const family = async (kind: 4 | 6): Promise<AddressAnswer> => {
      try {
        const records = await (kind === 4
          ? resolver.resolve4(name, { ttl: true })
          : resolver.resolve6(name, { ttl: true }));
        if (records.length === 0) return { kind: 'none' };
        cancelIn(otherFamilyMs);
        return {
          kind: 'addresses',
          addresses: records.slice(0, maxAddresses).map(({ address }) => ({ address, family: kind })),
          ttlMs: 1000 * Math.min(...records.slice(0, maxAddresses).map(({ ttl }) => ttl)),
        };
      } catch (error) {
        return failureOf(error);
      }
    };
    return merge(await Promise.all([family(4), family(6)]));
  });
}

/** Queries the TXT records of a name. Rejects with the errors of `node:dns`. */
async function queryTexts(name: string, options: QueryOptions): Promise<string[][]> {
  return withResolver(options, (resolver) => resolver.resolveTxt(name));
}

async function withResolver<T>(
  { servers, timeoutMs, tries, deadlineMs, signal }: QueryOptions,
  ask: (resolver: Resolver, cancelIn: (milliseconds: number) => void) => Promise<T>,
): Promise<T> {
  const resolver = new Resolver({ timeout: timeoutMs, tries });
  if (servers) resolver.setServers(servers);
  const cancel = (): void => resolver.cancel();
  const deadline = setTimeout(cancel, deadlineMs);
  let sooner: NodeJS.Timeout | undefined;
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await ask(resolver, (milliseconds) => {
      sooner ??= setTimeout(cancel, milliseconds);
    });
  } finally {
    clearTimeout(deadline);
    clearTimeout(sooner);
    signal.removeEventListener('abort', cancel);
  }
}

/**
 * Merges the answers for both address families. IPv4 addresses come first, because IPv6 may be configured but not
 * working.
 */
function merge(answers: readonly AddressAnswer[]): AddressAnswer {
  const found = answers.filter((answer) => answer.kind === 'addresses');
  if (found.length > 0) {
    return {
      kind: 'addresses',
      addresses: found.flatMap(({ addresses }) => addresses),
      ttlMs: Math.min(...found.map(({ ttlMs }) => ttlMs)),
    };
  }
  return answers.find((answer) => answer.kind === 'failed') ?? { kind: 'none' };
}

function failureOf(error: unknown): AddressAnswer {
  const code = systemCode(error) ?? 'EUNKNOWN';
  // Treat a name that DNS cannot represent (`EBADNAME`) as nonexistent.
  if (code === 'ENOTFOUND' || code === 'ENODATA' || code === 'EBADNAME') return { kind: 'none' };
  // The deadline of this query cancels the channel, so a cancellation is reported as a timeout.
  return { kind: 'failed', code: code === 'ECANCELLED' ? 'ETIMEOUT' : code };
}
