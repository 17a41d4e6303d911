import { expect, it } from 'vitest';
import { bareHost, httpSchemes, parseUrl, publicUrl, socketSchemes } from './url.ts';

const rules = { schemes: httpSchemes };

it('parseUrl admits a URL with an admitted scheme', () => {
  expect(parseUrl('https://host.example:8443/a?b', rules)).toEqual({
    kind: 'url',
    url: new URL('https://host.example:8443/a?b'),
  });
});

it.each([
  [`https://host.example/${'x'.repeat(8192)}`, rules, 'length', 'longer than 8192 characters'],
  ['https://a.example/', { ...rules, maxLength: 17 }, 'length', 'longer than 17 characters'],
  ['not a URL ?secret', rules, 'syntax', 'not a URL'],
  ['file:///etc/passwd', rules, 'scheme', 'file: is not allowed; use https:'],
  ['https://a.example', { schemes: socketSchemes }, 'scheme', 'https: is not allowed; use wss:'],
  ['https://user@a.example', rules, 'credentials', 'it contains credentials'],
  ['https://:secret@a.example', rules, 'credentials', 'it contains credentials'],
  ['https://a.example/#part', rules, 'fragment', 'it has a fragment'],
  ['https://a.example/x', { ...rules, isOrigin: true }, 'path', 'it has a path or a query'],
  ['https://a.example/?', { ...rules, isOrigin: true }, 'path', 'it has a path or a query'],
  ['https://a.example/#', { ...rules, isOrigin: true }, 'path', 'it has a path or a query'],
])('parseUrl refuses %j', (text, given, rule, why) => {
  const url = rule === 'length' ? null : URL.parse(text);
  expect(parseUrl(text, given)).toEqual({ kind: 'refused', rule, why, url });
});

it('parseUrl admits credentials and a fragment if the rules allow them', () => {
  const text = 'wss://user:secret@a.example/x#part';
  expect(parseUrl(text, { schemes: socketSchemes, admits: ['credentials', 'fragment'] }).kind).toBe('url');
});

it('publicUrl formats a URL without the parts that can contain a secret', () => {
  expect(publicUrl(new URL('wss://user:secret@a.example:8443/x?token=secret#secret'))).toBe('wss://a.example:8443/x');
});

it('bareHost returns an IPv6 address without brackets', () => {
  expect([new URL('https://[2001:db8::1]:1/'), new URL('https://0x7f.1/')].map(bareHost)).toEqual([
    '2001:db8::1',
    '127.0.0.1',
  ]);
});
