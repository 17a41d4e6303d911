import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { systemCode } from '../../ops/errors.ts';

/** Options of one query; all times in milliseconds. */
export interface QueryOptions {
  /** Addresses of DNS servers, with a port where it is not 53; the system's unless given. */
  readonly servers?: readonly string[] | undefined;
  /** Wait for one server's first answer; further tries take longer. */
  readonly timeoutMs: number;
  readonly tries: number;
  /** For the whole query, all tries and both families. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

/** DNS answer for a name. */
export type AddressAnswer =
  | { readonly kind: 'addresses'; readonly addresses: readonly LookupAddress[]; readonly ttlMs: number }
  /** There is no such name, or it has no address. */
  | { readonly kind: 'none' }
  /** No server responded; `code` is that of `node:dns` (`ESERVFAIL`, `ETIMEOUT`). */
  | { readonly kind: 'failed'; readonly code: string };

/** Addresses of one family that are taken from an answer: a connection tries one after the other. */
const maxAddresses = 8;
/** Once one family has answered, the other one gets this long. */
const otherFamilyMs = 1_000;

/**
 * Asks for the IPv4 and IPv6 addresses of a name with c-ares, which needs no thread. Each query has a channel of its own:
 * that is what can be cancelled, it costs some 40 microseconds, and it reads the system's servers as they are now.
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

/** Asks for the texts of a name. Rejects as `node:dns` does. */
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

/** Merges the answers for both address families. IPv4 comes first: it works on every machine that has it. */
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
  // A name that cannot be put into a query does not exist either.
  if (code === 'ENOTFOUND' || code === 'ENODATA' || code === 'EBADNAME') return { kind: 'none' };
  // Our own deadline cancels; the caller cannot tell, and need not.
  return { kind: 'failed', code: code === 'ECANCELLED' ? 'ETIMEOUT' : code };
}
