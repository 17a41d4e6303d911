import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { systemCode } from '../../ops/errors.ts';

/** Options for one DNS query; all times in milliseconds. */
export interface QueryOptions {
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
export type AddressAnswer =
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
export async function queryAddresses(name: string, options: QueryOptions): Promise<AddressAnswer> {
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
export async function queryTexts(name: string, options: QueryOptions): Promise<string[][]> {
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
