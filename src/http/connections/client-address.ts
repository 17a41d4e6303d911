import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isNearby } from './network-tiers.ts';

/** Tells the address of a request's client. */
export type ClientOf = (message: Pick<IncomingMessage, 'headers' | 'socket'>) => string;

/**
 * Finds the client's address behind `proxies` trusted proxies. Each proxy appends the address of its peer to
 * `X-Forwarded-For`, so the client is the Nth address from the right; everything left of it is the client's own claim.
 * Without trusted proxies, or without an address at that place, the result is the connection's peer. Calls
 * `onUntrusted` for each request that a local proxy forwarded although none is trusted: all its clients then count as
 * one.
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
