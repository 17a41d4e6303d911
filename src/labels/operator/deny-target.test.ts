import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OperatorError } from '../../ops/errors.ts';
import { domainsOfLabeler, parseDenyOperand, parseDenyTarget, targetText } from './deny-file.ts';

const plc = 'did:plc:ar7c4by46qjdydhdevvrndac';

describe('the command almanac labels deny', () => {
  it.each([
    [plc, plc],
    [` ${plc}\n`, plc],
    ['did:web:Mod.Example.com', 'did:web:mod.example.com'],
    ['DID:WEB:mod.example.com', 'did:web:mod.example.com'],
    ['example.com', 'example.com'],
    ['Mod.Example.COM.', 'example.com'],
    ['https://mod.example.com:8443/xrpc/x?y=1', 'example.com'],
    ['wss://mod.example.co.uk', 'example.co.uk'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['203.0.113.5', '203.0.113.5'],
    ['https://[2001:db8::1]:8443', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
    ['localhost:2583', 'localhost'],
    ['a.b.workers.dev', 'b.workers.dev'],
    ['workers.dev', 'workers.dev'],
  ])('parses the operand %j as %j', (operand, target) => {
    expect(targetText(parseDenyTarget(operand))).toBe(target);
  });

  it.each([
    ['', '"" does not name a labeler: give a DID'],
    ['did:plc:short', '"did:plc:short" does not name a labeler: a DID is did:plc: and 24'],
    ['did:key:z6Mk', 'a DID is did:plc: and 24'],
    ['@mod.example.com', 'a handle can change'],
    ['co.uk', 'the operand is a public suffix'],
    ['two words', 'neither a DID'],
    ['user:secret@example.com', 'neither a DID'],
    ['x'.repeat(3_000), 'give a DID'],
    ['-bad-.example.com', 'neither a DID'],
  ])('refuses the operand %j and states the reason', (operand, message) => {
    expect(() => parseDenyTarget(operand)).toThrow(OperatorError);
    expect(() => parseDenyTarget(operand)).toThrow(message);
  });

  it('parses any operand to a target that is unchanged after formatting and parsing, or refuses the operand with a one-line message', () => {
    const texts = fc.oneof(fc.string(), fc.domain(), fc.webUrl(), fc.ipV4(), fc.ipV6(), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(texts, (text) => {
        try {
          const target = parseDenyTarget(text);
          expect(
            parseDenyTarget(
              target.kind === 'domain' && target.domain.includes(':') ? `[${target.domain}]` : targetText(target),
            ),
          ).toEqual(target);
        } catch (error) {
          expect(error).toBeInstanceOf(OperatorError);
          expect(error instanceof Error ? error.message : '').not.toContain('\n');
        }
      }),
    );
  });
});

describe('an operand of the commands deny and allow', () => {
  it.each([
    plc,
    'example.com',
    'https://example.com/xrpc',
    'b.workers.dev',
    '203.0.113.5',
    '2001:db8::1',
    'localhost:2583',
  ])('can be a DID, a registrable domain or an address (%s)', (operand) => {
    expect(parseDenyOperand(operand)).toEqual(parseDenyTarget(operand));
  });

  it.each(['labeler.example.com', 'https://a.b.workers.dev/xrpc'])(
    'is refused if it is a host below a registrable domain, because the denial would cover the whole domain (%s)',
    (operand) => {
      const { domain } = parseDenyTarget(operand) as { domain: string };
      expect(() => parseDenyOperand(operand)).toThrow(
        `is part of ${domain}: give ${domain} for every labeler of that domain, or the DID of one labeler`,
      );
    },
  );
});

describe('the domains of a labeler', () => {
  it('are the registrable domains of its endpoint and of its did:web', () => {
    expect(domainsOfLabeler({ did: plc, endpoint: 'https://labels.mod.example.com' })).toEqual(['example.com']);
    expect(domainsOfLabeler({ did: 'did:web:a.example.org', endpoint: 'https://b.example.com' })).toEqual([
      'example.com',
      'example.org',
    ]);
    expect(domainsOfLabeler({ did: 'did:web:a.example.org', endpoint: 'https://b.example.org' })).toEqual([
      'example.org',
    ]);
    expect(domainsOfLabeler({ did: 'did:web:localhost%3A2583', endpoint: null })).toEqual(['localhost']);
    expect(domainsOfLabeler({ did: plc, endpoint: null })).toEqual([]);
    expect(domainsOfLabeler({ did: plc, endpoint: 'https://a.b.workers.dev' })).toEqual([
      'b.workers.dev',
      'workers.dev',
    ]);
  });
});
