import { describe, expect, it } from 'vitest';
import { clientAddress } from './network-tiers.ts';

const socket = { remoteAddress: '10.0.0.9' };

function client(proxies: number, forwarded?: string): string {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return clientAddress(proxies)({ headers, socket } as Parameters<ReturnType<typeof clientAddress>>[0]);
}

describe('clientAddress', () => {
  it.each([
    [0, undefined, '10.0.0.9'],
    [0, '203.0.113.1', '10.0.0.9'],
    [1, undefined, '10.0.0.9'],
    [1, '203.0.113.1', '203.0.113.1'],
    [1, '198.51.100.7, 203.0.113.1', '203.0.113.1'],
    [2, '198.51.100.7, 203.0.113.1', '198.51.100.7'],
    [2, '6.6.6.6,198.51.100.7,\t2001:db8::1', '198.51.100.7'],
    [3, '203.0.113.1', '203.0.113.1'],
    [1, '203.0.113.1, not an address', '10.0.0.9'],
    [1, '', '10.0.0.9'],
  ])('given %d trusted proxies and the forwarded addresses %j, returns %s', (proxies, forwarded, address) => {
    expect(client(proxies, forwarded)).toBe(address);
  });

  it('reports a request that a local proxy forwarded although no proxy is trusted', () => {
    const untrusted = (proxies: number, remoteAddress: string, headers: Record<string, string>): number => {
      let told = 0;
      const clientOf = clientAddress(proxies, () => {
        told += 1;
      });
      clientOf({ headers, socket: { remoteAddress } } as Parameters<ReturnType<typeof clientAddress>>[0]);
      return told;
    };
    const passedOn = { via: '1.1 proxy' };
    expect(untrusted(0, '10.0.0.9', passedOn)).toBe(1);
    expect([untrusted(0, '10.0.0.9', {}), untrusted(0, '203.0.113.1', passedOn)]).toEqual([0, 0]);
    expect(untrusted(1, '10.0.0.9', passedOn)).toBe(0);
  });
});
