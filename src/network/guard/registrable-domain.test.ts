import { expect, test } from 'vitest';
import { registrableDomain } from './registrable-domain.ts';

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
