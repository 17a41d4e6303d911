import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isNearby } from './network-tiers.ts';

/** Tells the address of a request's client. */
export type ClientOf = (message: Pick<IncomingMessage, 'headers' | 'socket'>) => string;

/**
 * Who asked, behind `proxies` trusted proxies: each of them appends the address that it was reached from to
 * `X-Forwarded-For`, so the client is the Nth from the right; what stands left of it is the client's own claim.
 * Without trusted proxies, or where no address stands there, it is the other end of the connection. `onUntrusted` is
 * called for each request that a proxy nearby passed on although none is trusted: all its clients count as one then.
 */
export function clientAddress(proxies: number, onUntrusted: () => void = () => undefined): ClientOf {
  return ({ headers, socket }) => {
    const peer = socket.remoteAddress ?? 'unknown';
    if (proxies > 0) return forwarded(headers['x-forwarded-for'], proxies) ?? peer;
    if (isProxied(headers) && isNearby(peer)) onUntrusted();
    return peer;
  };
}

/** Headers that a reverse proxy adds. */
function isProxied(headers: IncomingHttpHeaders): boolean {
  return ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'].some((name) => headers[name] !== undefined);
}

function forwarded(field: string | string[] | undefined, proxies: number): string | null {
  if (proxies === 0 || field === undefined) return null;
  const addresses = String(field).split(',');
  const claimed = (addresses.at(-proxies) ?? addresses[0] ?? '').trim();
  return isIP(claimed) === 0 ? null : claimed;
}
