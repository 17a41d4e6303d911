import { expect, test } from 'vitest';
import type { EarlierLabelKey, LabelKey } from '../../network/identity/did-document.ts';
import { micros } from '../../store/time.ts';
import { Signatures } from './signatures.ts';
import type { LabelerKeys } from './verifier.ts';

const did = 'did:web:labeler.example';

/** Creates a labeler in a simulated directory, and the signature checks of its labels. */
function signaturesFor(
  stored: readonly { key: string; firstSeen: number; lastSeen: number }[],
  putKey = (): Promise<true | null> => Promise.resolve(true),
  labeler = did,
) {
  const used: LabelerKeys[] = [];
  const asked: string[] = [];
  let now = 1_780_000_000_000_000;
  const directory: { current: LabelKey[]; log: EarlierLabelKey[] | null; isDown: boolean; isReplica: boolean } = {
    isDown: false,
    isReplica: false,
    current: [{ curve: 'p256', point: 'new' }],
    log: [],
  };
  const signatures = new Signatures({
    identities: {
      resolve: () => {
        asked.push('document');
        if (directory.isDown) return Promise.resolve({ kind: 'failed', answer: { kind: 'timeout', phase: 'connect' } });
        const document = { did: labeler, handle: null, labelerDeclared: true, labelerEndpoint: null, pds: null };
        const found = { kind: 'resolved', document: { ...document, labelKeys: directory.current } } as const;
        return Promise.resolve(directory.isReplica ? { ...found, replica: true } : found);
      },
      earlierLabelKeys: () => {
        asked.push('audit log');
        return Promise.resolve(directory.log);
      },
    },
    verifier: {
      verify: (labels, keys) => {
        used.push(keys);
        return Promise.resolve(labels.map(() => 'invalid' as const));
      },
      stop: () => Promise.resolve(),
    },
    store: {
      keys: () =>
        Promise.resolve(
          stored.map(({ key, firstSeen, lastSeen }) => {
            return { did, key, firstSeen: micros(firstSeen), lastSeen: micros(lastSeen) };
          }),
        ),
    },
    putKey: () => putKey(),
    clock: () => micros(now),
    shareOf: (source) => ({ priority: 'new', domain: source, source }),
  });
  return {
    ...{ used, asked, directory, signatures },
    verify: (...rows: readonly object[]) =>
      signatures.verify(labeler, rows.length === 0 ? [{}] : rows, new AbortController().signal),
    /** Returns a label that its labeler dates `ago` microseconds before now. */
    labelFrom: (ago: number) => ({ cts: new Date((now - ago) / 1_000).toISOString() }),
    pass: (microseconds: number) => {
      now += microseconds;
    },
  };
}

const minute = 60_000_000;
const old = (point: string): LabelKey => ({ curve: 'k256', point });

test('a key of an earlier document is valid until the first observation of the next key', async () => {
  const labeler = signaturesFor([
    { key: 'k256:first', firstSeen: 10, lastSeen: 20 },
    { key: 'k256:second', firstSeen: 30, lastSeen: 40 },
    { key: 'p256:new', firstSeen: 50, lastSeen: 60 },
  ]);
  await labeler.verify();
  expect(labeler.used[0]).toEqual({
    current: [{ curve: 'p256', point: 'new' }],
    earlier: [
      { key: old('second'), from: null, until: 50 },
      { key: old('first'), from: null, until: 30 },
    ],
  });
});

test('a key that was followed by the return of an earlier one is valid until it was last seen', async () => {
  const labeler = signaturesFor([
    { key: 'p256:new', firstSeen: 10, lastSeen: 60 },
    { key: 'k256:second', firstSeen: 30, lastSeen: 40 },
    { key: 'k256:first', firstSeen: 5, lastSeen: 8 },
  ]);
  await labeler.verify();
  expect(labeler.used[0]?.earlier).toEqual([
    { key: old('second'), from: null, until: 40 },
    { key: old('first'), from: null, until: 10 },
  ]);
});

test('a document and an audit log that were read while the clock was ahead are read again after it was corrected', async () => {
  const labeler = signaturesFor([]);
  labeler.pass(40 * 24 * 60 * minute);
  await labeler.verify();
  labeler.pass(-40 * 24 * 60 * minute);
  labeler.asked.length = 0;
  await labeler.verify();
  expect(labeler.asked).toEqual(['document', 'audit log']);
  await labeler.verify();
  expect(labeler.asked).toEqual(['document', 'audit log']);
});

test('a document that cannot be read is requested again after 10 minutes, and until then the last observed key stays current', async () => {
  const labeler = signaturesFor([
    { key: 'k256:first', firstSeen: 10, lastSeen: 20 },
    { key: 'k256:second', firstSeen: 30, lastSeen: 40 },
  ]);
  labeler.directory.isDown = true;
  labeler.directory.log = null;
  await labeler.verify();
  expect(labeler.used[0]).toEqual({
    current: [old('second')],
    earlier: [{ key: old('first'), from: null, until: 30 }],
  });
  labeler.directory.isDown = false;
  labeler.pass(9 * minute);
  await labeler.verify();
  expect(labeler.used.at(-1)?.current).toEqual([old('second')]);
  labeler.pass(minute);
  await labeler.verify();
  expect(labeler.used.at(-1)?.current).toEqual([{ curve: 'p256', point: 'new' }]);
});

test('the keys in the document of a replica, which may lag, are read again after a minute', async () => {
  const labeler = signaturesFor([], undefined, 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa');
  labeler.directory.isReplica = true;
  labeler.directory.current = [old('first')];
  await labeler.verify();
  labeler.directory.isReplica = false;
  labeler.directory.current = [old('second')];
  labeler.pass(minute - 1);
  await labeler.verify();
  expect(labeler.used.at(-1)?.current).toEqual([old('first')]);
  labeler.pass(1);
  await labeler.verify();
  expect(labeler.used.at(-1)?.current).toEqual([old('second')]);
  const asked = labeler.asked.length;
  labeler.pass(minute);
  await labeler.verify();
  expect(labeler.asked).toHaveLength(asked);
});

test('a signature that no key verifies is invalid only by the document of the primary directory', async () => {
  const labeler = signaturesFor([{ key: 'k256:first', firstSeen: 10, lastSeen: 20 }]);
  labeler.directory.isReplica = true;
  expect(await labeler.verify()).toEqual(['unverified']);
  expect(await labeler.verify()).toEqual(['unverified']);
  labeler.directory.isReplica = false;
  labeler.directory.isDown = true;
  labeler.pass(10 * minute);
  expect(await labeler.verify()).toEqual(['unverified']);
  labeler.directory.isDown = false;
  labeler.pass(10 * minute);
  expect(await labeler.verify()).toEqual(['invalid']);
});

test('a label that no known key of a did:web verifies is invalid only if it is not newer than the last refresh of the document', async () => {
  const labeler = signaturesFor([]);
  expect(await labeler.verify(labeler.labelFrom(0))).toEqual(['invalid']);
  // The labeler may have a new key since, which no stream announces, and its document is not read again yet.
  labeler.pass(minute / 2);
  const labels = [
    labeler.labelFrom(0),
    labeler.labelFrom(4 * minute),
    labeler.labelFrom(6 * minute),
    { cts: 'undated' },
  ];
  expect(await labeler.verify(...labels)).toEqual(['unverified', 'unverified', 'invalid', 'unverified']);
  labeler.pass(minute / 2);
  expect(await labeler.verify(labeler.labelFrom(0))).toEqual(['invalid']);
});

test('a label that no known key of a did:plc verifies is invalid, because the directory announces each new key', async () => {
  const labeler = signaturesFor([], undefined, 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa');
  expect(await labeler.verify(labeler.labelFrom(0))).toEqual(['invalid']);
  labeler.pass(minute);
  expect(await labeler.verify(labeler.labelFrom(0))).toEqual(['invalid']);
});

test('after a label that no known key verifies, the audit log is read and its key periods replace the observed periods', async () => {
  const labeler = signaturesFor([{ key: 'k256:first', firstSeen: 10, lastSeen: 20 }]);
  const logged = [
    { key: old('second'), from: micros(7), until: micros(9) },
    { key: old('first'), from: micros(5), until: micros(7) },
  ];
  labeler.directory.log = logged;
  await labeler.verify();
  expect(labeler.asked).toEqual(['document', 'document', 'audit log']);
  expect(labeler.used.map(({ earlier }) => earlier)).toEqual([[{ key: old('first'), from: null, until: 20 }], logged]);
});

test('the audit log is read at most once an hour, and its last content is used while the directory does not respond', async () => {
  const labeler = signaturesFor([]);
  const logged = [{ key: old('first'), from: micros(5), until: micros(7) }];
  labeler.directory.log = logged;
  const logReads = () => labeler.asked.filter((what) => what === 'audit log').length;
  await labeler.verify();
  labeler.pass(11 * minute);
  await labeler.verify();
  expect(logReads()).toBe(1);
  labeler.pass(60 * minute);
  labeler.directory.log = null;
  await labeler.verify();
  expect([logReads(), labeler.used.at(-1)?.earlier]).toEqual([2, logged]);
});

test('a key that was valid twice has both periods of the audit log', async () => {
  const labeler = signaturesFor([{ key: 'k256:first', firstSeen: 10, lastSeen: 20 }]);
  const logged = [
    { key: old('first'), from: micros(8), until: micros(9) },
    { key: old('second'), from: micros(7), until: micros(8) },
    { key: old('first'), from: micros(5), until: micros(7) },
  ];
  labeler.directory.log = logged;
  await labeler.verify();
  expect(labeler.used.at(-1)?.earlier).toEqual(logged);
});

test('a key that the document names again is used only as the current key', async () => {
  const labeler = signaturesFor([{ key: 'p256:new', firstSeen: 10, lastSeen: 20 }]);
  labeler.directory.log = [{ key: { curve: 'p256', point: 'new' }, from: micros(5), until: micros(7) }];
  await labeler.verify();
  expect(labeler.used.at(-1)).toEqual({ current: [{ curve: 'p256', point: 'new' }], earlier: [] });
});

test('a key does not verify labels if the instrument stops before storing the key', async () => {
  const labeler = signaturesFor([], () => Promise.resolve(null));
  await expect(labeler.verify()).rejects.toThrow('stopped');
  expect(labeler.used).toEqual([]);
});

test('keys of a document that changes while they are being stored are not cached', async () => {
  const storing = Promise.withResolvers<true>();
  const labeler = signaturesFor([], () => storing.promise);
  const first = labeler.verify();
  await expect.poll(() => labeler.asked.length).toBe(1);
  labeler.signatures.forget(did);
  labeler.directory.current = [{ curve: 'p256', point: 'newest' }];
  storing.resolve(true);
  await first;
  await labeler.verify();
  expect(labeler.used.at(-1)?.current).toEqual([{ curve: 'p256', point: 'newest' }]);
});
