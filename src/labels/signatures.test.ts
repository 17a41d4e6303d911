import { expect, test } from 'vitest';
import type { LabelKey } from '../network/label-key.ts';
import { micros } from '../store/time.ts';
import { Signatures } from './signatures.ts';

const did = 'did:web:labeler.example';

test('labels are checked with the key of the document, and the latest few of those before', async () => {
  const stored = Array.from({ length: 64 }, (_, i) => ({ did, key: `k256:old${i}`, firstSeen: 1, lastSeen: i }));
  let used: readonly LabelKey[] = [];
  const signatures = new Signatures({
    identities: {
      resolve: () =>
        Promise.resolve({
          kind: 'resolved',
          document: {
            ...{ did, handle: null, labelerDeclared: true, labelerEndpoint: null, pds: null },
            labelKeys: [{ curve: 'p256', point: 'new' }],
          },
        }),
    },
    verifier: {
      verify: (labels, keys) => {
        used = keys;
        return Promise.resolve(labels.map(() => 'invalid' as const));
      },
      stop: () => Promise.resolve(),
    },
    store: {
      keys: () =>
        Promise.resolve(stored.map((row) => ({ ...row, firstSeen: micros(1), lastSeen: micros(row.lastSeen) }))),
      putKey: () => Promise.resolve(),
    },
    clock: () => micros(1_780_000_000_000_000),
    shareOf: (source) => ({ standing: 'new', domain: source, source }),
  });
  await signatures.verify(did, [{}], new AbortController().signal);
  expect(used.map(({ point }) => point)).toEqual(['new', 'old63', 'old62', 'old61', 'old60']);
});
