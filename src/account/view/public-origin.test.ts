import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { publicOrigin } from './public-origin.ts';

describe('publicOrigin', () => {
  it.each([
    ['https://labels.example.com', 'https://labels.example.com'],
    ['https://labels.example.com:8443/path?query', 'https://labels.example.com:8443'],
    ['https://LABELS.example.com/', 'https://labels.example.com'],
  ])('returns the origin of the https endpoint %s', (endpoint, origin) => {
    expect(publicOrigin(endpoint)).toBe(origin);
  });

  it.each([
    [undefined],
    ['labels.example.com'],
    ['http://labels.example.com'],
    ['javascript:alert(1)'],
    ['https://user:secret@labels.example.com'],
    ['https://labels.example.com/#fragment'],
    ['https://127.0.0.1'],
    ['https://2130706433/'],
    ['https://192.168.1.1'],
    ['https://[::1]'],
    ['https://8.8.8.8'],
    ['https://localhost'],
    ['https://router'],
    ['https://router.local'],
    ['https://printer.internal'],
    [`https://${'a.'.repeat(200)}example.com`],
  ])('returns null for the endpoint %s', (endpoint) => {
    expect(publicOrigin(endpoint)).toBeNull();
  });

  it('never throws, and returns only https origins of at most 300 characters', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.webUrl(),
      fc.webUrl({ validSchemes: ['https'], withQueryParameters: true, withFragments: true }),
      fc.string({ unit: 'binary', maxLength: 12 }).map((host) => `https://${host}.com`),
    );
    fc.assert(
      fc.property(text, (endpoint) => {
        const origin = publicOrigin(endpoint);
        if (origin === null) return;
        expect(origin).toMatch(/^https:\/\/[a-z0-9.-]+(?::\d+)?$/);
        expect(origin.length).toBeLessThanOrEqual(300);
      }),
    );
  });
});
