import type { DnsVerdict } from './server.ts';

/**
 * The zone of hostile hosts. The first word of a name determines its response, so the zone needs no state.
 *
 *   a-127-64-0-1.d7.test          the address in the name, or 127.127.0.1 if there is none
 *   slow-127-64-0-1.…             the address in the name, after four seconds
 *   never-…, nx-…, fail-…, junk-… no response, NXDOMAIN, SERVFAIL, invalid bytes
 *   private-…                     addresses that every address check must refuse
 *   many-127-64-0-1.…             the address in the name, among two dozen that refuse connections
 *
 * Other names do not exist, except `localhost` and the names below it, which have the address 127.0.0.1.
 */
export function hostileZone(name: string): DnsVerdict {
  if (name === 'localhost' || name.endsWith('.localhost')) return { kind: 'answer', addresses: ['127.0.0.1'] };
  if (!name.endsWith('.test')) return { kind: 'nxdomain' };
  const [word = '', ...rest] = (name.split('.')[0] ?? '').split('-');
  const address = rest.length >= 4 ? rest.slice(0, 4).map(Number).join('.') : '127.127.0.1';
  switch (word) {
    case 'a':
      return { kind: 'answer', addresses: [address] };
    case 'slow':
      return { kind: 'slow', addresses: [address], delayMs: 4_000 };
    case 'many':
      return { kind: 'answer', addresses: [...manyDead, address] };
    case 'private':
      return { kind: 'answer', addresses: ['10.0.0.1', '169.254.169.254', '192.168.0.1', '0.0.0.0'] };
    case 'never':
      return { kind: 'never' };
    case 'fail':
      return { kind: 'servfail' };
    case 'junk':
      return { kind: 'garbage' };
    default:
      return { kind: 'nxdomain' };
  }
}

/** Addresses on which nothing listens. */
const manyDead = Array.from({ length: 24 }, (_, at) => `127.127.1.${at + 1}`);
