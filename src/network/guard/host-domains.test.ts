import { describe, expect, it } from 'vitest';
import { hostDomains } from './host-domains.ts';

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
