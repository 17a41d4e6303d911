import { expect, it } from 'vitest';
import { clientKey, isNearby, networkTiers, siteKey } from './network-tiers.ts';

it.each([
  ['192.0.2.1', '192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2/64', '2001:db8:1:0/48'],
  ['2001:db8:1:2::1', '2001:db8:1:2/64', '2001:db8:1:0/48'],
  ['unknown', 'unknown', 'unknown'],
])('the client network of %s is %s, and its site is %s', (address, client, site) => {
  expect([clientKey(address), siteKey(address)]).toEqual([client, site]);
});

it('a wider network has a larger allowance than a narrower network', () => {
  expect(networkTiers('2001:db8:1:2ff::1')).toEqual([
    { network: '2001:db8:1:2ff/64', share: 1 },
    { network: '2001:db8:1:200/56', share: 2 },
    { network: '2001:db8:1:0/48', share: 4 },
  ]);
});

it.each([
  ['127.0.0.1', true],
  ['::1', true],
  ['::ffff:10.1.2.3', true],
  ['172.17.0.2', true],
  ['fd00::1', true],
  ['192.0.2.1', false],
  ['8.8.8.8', false],
  ['2001:4860::1', false],
  ['unknown', false],
])('isNearby(%j) returns %s', (address, nearby) => {
  expect(isNearby(address)).toBe(nearby);
});
