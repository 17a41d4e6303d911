import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** Tells the address of a request's client. */
export type ClientOf = (message: Pick<IncomingMessage, 'headers' | 'socket'>) => string;

/**
 * Who asked, behind `proxies` trusted proxies: each of them appends the address that it was reached from to
 * `X-Forwarded-For`, so the client is the Nth from the right; what stands left of it is the client's own claim.
 * Without trusted proxies, or where no address stands there, it is the other end of the connection.
 */
export function clientAddress(proxies: number): ClientOf {
  return ({ headers, socket }) => forwarded(headers['x-forwarded-for'], proxies) ?? socket.remoteAddress ?? 'unknown';
}

function forwarded(field: string | string[] | undefined, proxies: number): string | null {
  if (proxies === 0 || field === undefined) return null;
  const addresses = String(field).split(',');
  const claimed = (addresses.at(-proxies) ?? addresses[0] ?? '').trim();
  return isIP(claimed) === 0 ? null : claimed;
}
