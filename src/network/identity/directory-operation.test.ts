import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inputLimits } from '../../input/limits.ts';
import { parseDirectoryExport, parseDirectoryOperation } from './did-document.ts';

const did = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';
const operation = {
  type: 'plc_operation',
  rotationKeys: ['did:key:zQ3'],
  verificationMethods: { atproto: 'did:key:zQ3', atproto_label: 'did:key:zQ3' },
  alsoKnownAs: ['at://mod.example'],
  services: {
    atproto_pds: { type: 'AtprotoPersonalDataServer', endpoint: 'https://pds.example' },
    atproto_labeler: { type: 'AtprotoLabeler', endpoint: 'https://mod.example' },
  },
  prev: null,
  sig: 'x',
};
const message = {
  type: 'sequenced_op',
  seq: 41_234_567,
  did,
  cid: 'b',
  createdAt: '2026-11-20T10:11:12.345Z',
  operation,
};

function parse(value: unknown, allowHttp = false) {
  return parseDirectoryOperation(Buffer.from(JSON.stringify(value)), { allowHttp });
}
const labeler = (service: unknown) =>
  parse({ ...message, operation: { ...operation, services: { atproto_labeler: service } } })?.isLabeler;

describe("an operation of the directory's export stream", () => {
  it('declares a labeler if it contains a labeler service', () => {
    expect(parse(message)).toEqual({ seq: 41_234_567, did, isLabeler: true });
  });

  it.each([
    ['a service of a different type', { type: 'Other', endpoint: 'https://mod.example' }],
    ['a plain http endpoint', { type: 'AtprotoLabeler', endpoint: 'http://mod.example' }],
    ['an endpoint with a path', { type: 'AtprotoLabeler', endpoint: 'https://mod.example/xrpc' }],
    ['no endpoint', { type: 'AtprotoLabeler' }],
    ['a value that is not an object', 'https://mod.example'],
  ])('does not declare a labeler if it contains %s', (_, service) => {
    expect(labeler(service)).toBe(false);
  });

  it.each([
    ['a tombstone', { type: 'plc_tombstone', prev: 'b', sig: 'x' }],
    ['a legacy operation', { ...operation, type: 'create' }],
    ['a value that is not an object', null],
  ])('has a position and declares no labeler if it is %s', (_, other) => {
    expect(parse({ ...message, operation: other })).toEqual({ seq: 41_234_567, did, isLabeler: false });
  });

  it('can name a plain http endpoint if loopback is allowed', () => {
    const services = { atproto_labeler: { type: 'AtprotoLabeler', endpoint: 'http://127.0.0.1:9' } };
    expect(parse({ ...message, operation: { ...operation, services } }, true)?.isLabeler).toBe(true);
  });

  it.each([
    ['a different type', { ...message, type: 'info' }],
    ['the shape of a legacy line', { ...message, type: undefined, seq: undefined }],
    ['a fraction as its position', { ...message, seq: 1.5 }],
    ['a negative position', { ...message, seq: -1 }],
    ['a DID of the method did:web', { ...message, did: 'did:web:mod.example' }],
    ['an invalid DID', { ...message, did: 'did:plc:x' }],
    ['the shape of a list', [message]],
  ])('is rejected if it has %s', (_, value) => {
    expect(parse(value)).toBe(null);
  });

  it('is rejected if it is larger or deeper than the limits', () => {
    const { bytes, depth } = inputLimits.directoryOperation;
    expect(parse({ ...message, pad: 'x'.repeat(bytes) })).toBe(null);
    expect(parse({ ...message, pad: JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown })).toBe(null);
  });
});

it('the operation parser does not throw on an edited message, and returns the DID for any content of the operation', () => {
  const text = JSON.stringify(message);
  fc.assert(
    fc.property(fc.nat(text.length), fc.nat(8), fc.string({ maxLength: 8 }), (at, length, other) => {
      const parsed = parseDirectoryOperation(Buffer.from(text.slice(0, at) + other + text.slice(at + length)), {
        allowHttp: false,
      });
      if (parsed !== null) expect(Number.isSafeInteger(parsed.seq)).toBe(true);
    }),
  );
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(parse({ ...message, operation: value })?.did).toBe(did);
    }),
  );
});

it('a page of the export is parsed up to the requested number of lines, and invalid lines are skipped', () => {
  const lines = [1, 2, 3, 4].map((seq) => JSON.stringify({ ...message, seq }));
  const text = [lines[0], 'no operation', ...lines.slice(1)].join('\n');
  const page = parseDirectoryExport(text, { maxLines: 4, allowHttp: false });
  expect({ ...page, operations: page.operations.map(({ seq }) => seq) }).toEqual({ lines: 4, operations: [1, 2, 3] });
});
