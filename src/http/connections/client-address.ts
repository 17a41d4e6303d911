import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isNearby } from './network-tiers.ts';

/** Returns the address of a request's client. */
export type ClientOf = (message: Pick<IncomingMessage, 'headers' | 'socket'>) => string;

/**
 * Creates a function that finds the client's address behind `proxies` trusted proxies. Each proxy appends the address
 * of its peer to `X-Forwarded-For`, so the client is the Nth address from the right; the client controls everything
 * to the left of it. If the header has fewer entries, the function uses the first entry. Without trusted proxies, or
 * without a valid address at that position, the function returns the connection's peer. `onUntrusted` is called for
 * each request that a local proxy forwarded although no proxy is trusted: the server then treats all clients of that
 * proxy as one.
 */
export function clientAddress(proxies: number, onUntrusted: () => void = () => undefined): ClientOf {
  return ({ headers, socket }) => {
    const peer = socket.remoteAddress ?? 'unknown';
    if (proxies > 0) return forwarded(headers['x-forwarded-for'], proxies) ?? peer;
    if (isProxied(headers) && isNearby(peer)) onUntrusted();
    return peer;
  };
}

/** Returns true if a request has a header that reverse proxies add. */
function isProxied(headers: IncomingHttpHeaders): boolean {
  return ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'].some((name) => headers[name] !== undefined);
}

function forwarded(field: string | string[] | undefined, proxies: number): string | null {
  if (proxies === 0 || field === undefined) return null;
  const addresses = String(field).split(',');
  const claimed = (addresses.at(-proxies) ?? addresses[0] ?? '').trim();
  return isIP(claimed) === 0 ? null : claimed;
}
