import { describe, expect, it } from 'vitest';
import { parseEarlierLabelKeys } from './did-document.ts';

const did = 'did:plc:ar7c4by46qjdydhdevvrndac';
// Public keys from the interoperability vectors of did:key.
const k256 = 'zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme';
const p256 = 'zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169';
const point = {
  k256: { curve: 'k256', point: expect.stringMatching(/^0[23][0-9a-f]{64}$/) },
  p256: { curve: 'p256', point: expect.stringMatching(/^0[23][0-9a-f]{64}$/) },
};
const at = (day: number) => `2026-03-${String(day).padStart(2, '0')}T00:00:00.000Z`;
const us = (day: number) => Date.parse(at(day)) * 1000;

function operation(day: number, multikey: string | null, more: object = {}) {
  const verificationMethods = multikey === null ? {} : { atproto_label: `did:key:${multikey}` };
  return {
    ...{ did, cid: 'bafyrei', nullified: false, createdAt: at(day) },
    operation: { type: 'plc_operation', verificationMethods },
    ...more,
  };
}

describe('the earlier label keys of an audit log', () => {
  it('are the keys before the current key, newest first, each valid until the operation that replaced it', () => {
    const log = [operation(1, null), operation(2, k256), operation(3, k256), operation(4, p256), operation(6, null)];
    expect(parseEarlierLabelKeys(log, did)).toEqual([
      { key: point.p256, from: us(4), until: us(6) },
      { key: point.k256, from: us(2), until: us(4) },
    ]);
  });
  it('are empty for a labeler with one key or without operations', () => {
    expect(parseEarlierLabelKeys([operation(1, k256), operation(2, k256)], did)).toEqual([]);
    expect(parseEarlierLabelKeys([], did)).toEqual([]);
  });
  it('exclude the keys of nullified operations', () => {
    const log = [operation(1, k256), operation(2, p256, { nullified: true }), operation(3, null)];
    expect(parseEarlierLabelKeys(log, did)).toEqual([{ key: point.k256, from: us(1), until: us(3) }]);
  });
  it('are valid at most until a tombstone', () => {
    const tombstone = operation(3, null, { operation: { type: 'plc_tombstone', prev: 'bafyrei' } });
    expect(parseEarlierLabelKeys([operation(1, k256), tombstone], did)).toEqual([
      { key: point.k256, from: us(1), until: us(3) },
    ]);
  });
  it('exclude a key that cannot be parsed, without changing the periods of the other keys', () => {
    const log = [operation(1, k256), operation(2, 'zNotAKey'), operation(3, p256)];
    expect(parseEarlierLabelKeys(log, did)).toEqual([{ key: point.k256, from: us(1), until: us(2) }]);
  });
  it('are read from the newest 16 changes only', () => {
    const log = Array.from({ length: 1_000 }, (_, i) => operation(1 + (i % 28), i % 2 === 0 ? k256 : null));
    expect(parseEarlierLabelKeys(log, did)).toHaveLength(8);
  });
});

describe('an audit log that is invalid or belongs to a different DID', () => {
  it.each([
    ['a value that is not a list', {}],
    ['an entry that is not an object', [null]],
    ['an entry of another DID', [operation(1, k256, { did: 'did:plc:other' })]],
    ['an entry without a usable time', [operation(1, k256, { createdAt: '2026-03-01' })]],
    ['an entry without an operation', [operation(1, k256, { operation: null })]],
  ])('is rejected if it is or contains %s', (_, value) => {
    expect(parseEarlierLabelKeys(value, did)).toBeNull();
  });
});
