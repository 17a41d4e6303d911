import type { LookupAddress } from 'node:dns';
import { connect, createServer, type LookupFunction } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { guardedLookup, judgeAddress, RefusedAddressError, type Resolve } from './address-policy.ts';

const strict = { allowLoopback: false };
const withLoopback = { allowLoopback: true };
const publicAddress = { allowed: true, loopback: false };

describe('the address policy', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '100.63.255.255',
    '100.128.0.1',
    '172.15.255.255',
    '172.32.0.1',
    '223.255.255.255',
    '2606:4700::6810:84e5',
    '2a00:1450:4001:80b::200e',
  ])('allows the public address %s', (address) => {
    expect(judgeAddress(address, strict)).toEqual(publicAddress);
  });

  it('allows an IPv4 address embedded by NAT64 if and only if the IPv4 address is public', () => {
    expect(judgeAddress('64:ff9b::8.8.8.8', strict)).toEqual(publicAddress);
    expect(judgeAddress('64:ff9b::10.0.0.1', strict)).toEqual({ allowed: false, range: 'reserved' });
    expect(judgeAddress('64:ff9b::127.0.0.1', withLoopback)).toEqual({ allowed: false, range: 'reserved' });
    expect(judgeAddress('64:ff9b:1::8.8.8.8', strict)).toEqual({ allowed: false, range: 'rfc6052' });
  });

  it.each([
    ['unspecified', '0.0.0.0', '0.1.2.3', '::'],
    ['private', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    ['loopback', '127.0.0.1', '127.255.255.254', '::1'],
    ['linkLocal', '169.254.169.254', 'fe80::1'],
    ['uniqueLocal', 'fc00::1', 'fdff::1'],
    ['carrierGradeNat', '100.64.0.1', '100.127.255.255'],
    ['multicast', '224.0.0.1', '239.255.255.255', 'ff02::1'],
    ['broadcast', '255.255.255.255'],
    ['reserved', '192.0.0.8', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '240.0.0.1', '192.88.99.1'],
    ['reserved', '2001:db8::1', '3fff::1', '2001:1::1'],
    ['benchmarking', '2001:2::1'],
    ['ipv4Mapped', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:8.8.8.8', '::ffff:7f00:1'],
    ['reserved', '::7f00:1', '::808:808', '4000::1', '1::1'],
    ['ipv4Mapped', '::127.0.0.1', '::8.8.8.8'],
    ['6to4', '2002:7f00:1::', '2002:808:808::'],
    ['teredo', '2001:0:7f00:1::', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['rfc6145', '::ffff:0:127.0.0.1'],
    ['not an address', 'localhost', '', '0x7f.1', '2130706433', '127.1', '[::1]', 'fe80::1%eth0', '2606:4700::1%lo'],
  ])('rejects addresses that are classified as "%s", such as "%s"', (range, ...addresses) => {
    for (const address of addresses) expect(judgeAddress(address, strict)).toEqual({ allowed: false, range });
  });

  it('allows loopback if configured, and no other private address', () => {
    const loopback = { allowed: true, loopback: true };
    expect(judgeAddress('127.0.0.1', withLoopback)).toEqual(loopback);
    expect(judgeAddress('127.8.8.8', withLoopback)).toEqual(loopback);
    expect(judgeAddress('::1', withLoopback)).toEqual(loopback);
    for (const address of [
      '10.0.0.1',
      '0.0.0.0',
      '::',
      '169.254.169.254',
      '::ffff:127.0.0.1',
      '::127.0.0.1',
      'fc00::1',
    ]) {
      expect(judgeAddress(address, withLoopback).allowed).toBe(false);
    }
  });

  it('rejects a loopback address in unusual notations that a URL allows', () => {
    for (const host of ['2130706433', '0x7f000001', '0177.0.0.1', '127.1', '0x7f.1', '127.0.0.1.', '%31%32%37.0.0.1']) {
      expect(judgeAddress(new URL(`wss://${host}/`).hostname, strict)).toEqual({ allowed: false, range: 'loopback' });
    }
  });

  it('returns a verdict for any text without throwing', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.ipV4Extended()), (text) => {
        expect(typeof judgeAddress(text, strict).allowed).toBe('boolean');
      }),
    );
  });
});

describe('the guarded lookup', () => {
  const { signal } = new AbortController();

  const answers =
    (...addresses: string[]): Resolve =>
    (_hostname, _options, done) =>
      done(
        null,
        addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
      );

  const ask = (lookup: LookupFunction, all: boolean): Promise<unknown[]> =>
    new Promise((resolve) => lookup('host.example', { all }, (...answer) => resolve(answer)));

  it('returns the allowed addresses of a name and drops all other addresses', async () => {
    const lookup = guardedLookup(strict, { signal, resolve: answers('10.0.0.1', '8.8.8.8', '::1', '2606:4700::1') });
    expect(await ask(lookup, true)).toEqual([
      null,
      [
        { address: '8.8.8.8', family: 4 },
        { address: '2606:4700::1', family: 6 },
      ],
    ]);
    expect(await ask(lookup, false)).toEqual([null, '8.8.8.8', 4]);
  });

  it('rejects a name without an allowed address, and states the reason', async () => {
    const refused = guardedLookup(strict, { signal, resolve: answers('10.0.0.1', '192.168.0.1', '::1') });
    expect(await ask(refused, true)).toEqual([new RefusedAddressError(['private', 'loopback']), []]);
    expect(await ask(guardedLookup(strict, { signal, resolve: answers() }), false)).toEqual([
      new RefusedAddressError([]),
      [],
    ]);
  });

  it('rejects public addresses for connections that must not leave the machine', async () => {
    const lookup = guardedLookup(withLoopback, {
      loopbackOnly: true,
      signal,
      resolve: answers('8.8.8.8', '127.0.0.1'),
    });
    expect(await ask(lookup, true)).toEqual([null, [{ address: '127.0.0.1', family: 4 }]]);
  });

  it('returns the error of a failed resolution', async () => {
    const failure = Object.assign(new Error('none'), { code: 'ENOTFOUND' });
    const lookup = guardedLookup(strict, { signal, resolve: (_hostname, _options, done) => done(failure, []) });
    expect(await ask(lookup, true)).toEqual([failure, []]);
  });

  it('resolves a name once per connection, so that a later change in DNS has no effect', async () => {
    const arrivals: string[] = [];
    const server = createServer((socket) => {
      arrivals.push(socket.localAddress ?? '');
      socket.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
    onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
    const bound = server.address();
    const port = typeof bound === 'object' && bound ? bound.port : 0;

    let asked = 0;
    const rebinding: Resolve = (_hostname, _options, done) => {
      asked += 1;
      done(null, [{ address: asked === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }]);
    };
    const socket = connect({
      host: 'host.example',
      port,
      lookup: guardedLookup(withLoopback, { signal, resolve: rebinding }),
    });
    await new Promise((resolve) => socket.resume().once('close', resolve));
    expect({ asked, arrivals }).toEqual({ asked: 1, arrivals: ['127.0.0.1'] });
  });
});
