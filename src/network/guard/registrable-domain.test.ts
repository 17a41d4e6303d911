import { describe, expect, it, test } from 'vitest';
import { hostDomains, registrableDomain } from './host-rates.ts';

test.each([
  ['a.b.example.co.uk', 'example.co.uk'],
  ['example.com:8443', 'example.com'],
  ['l1.workers.dev', 'workers.dev'],
  ['l2.workers.dev', 'workers.dev'],
  ['labeler.d1.localhost:3000', 'd1.localhost'],
  ['co.uk', 'co.uk'],
  ['203.0.113.7:443', '203.0.113.0/24'],
  ['203.0.113.250', '203.0.113.0/24'],
  ['[2001:db8:1:2::3]:443', '2001:db8:1::/48'],
  ['[2001:db8:1:ffff::3]', '2001:db8:1::/48'],
  ['127.0.0.1:3000', '127.0.0.1:3000'],
  ['127.0.0.1:3001', '127.0.0.1:3001'],
  ['[::1]:3000', '[::1]:3000'],
  ['localhost:3000', 'localhost:3000'],
])('registrableDomain maps the host %s to %s', (host, domain) => {
  expect(registrableDomain(host)).toBe(domain);
});

describe('hostDomains', () => {
  it.each([
    ['example.com', ['example.com']],
    ['labeler.mod.example.com.', ['example.com']],
    ['labeler.example.co.uk', ['example.co.uk']],
    ['mod.xn--bcher-kva.example', ['xn--bcher-kva.example']],
    ['a.b.workers.dev', ['b.workers.dev', 'workers.dev']],
    ['workers.dev', ['workers.dev']],
    ['-a.example.com', ['example.com']],
    ['_x.a-.example.co.uk', ['example.co.uk']],
    ['-a.b.workers.dev', ['b.workers.dev', 'workers.dev']],
    ['co.uk', []],
    ['localhost', ['localhost']],
    ['203.0.113.5', ['203.0.113.5']],
    ['[2001:db8::1]', ['2001:db8::1']],
  ])('maps the host %s to the domains %j', (host, domains) => {
    expect(hostDomains(host)).toEqual(domains);
  });
});
