import fc from 'fast-check';
import type { ReceivedLabel } from '../../src/store/label.ts';
import type { Batch, NewObservation } from '../../src/store/port.ts';
import { day, micros } from '../../src/store/time.ts';

/** Labels for the store suites. They use few accounts and labelers, so that many labels share them. */

const accounts = ['aaaaaaaaaaaaaaaaaaaaaaaa', 'ewvi7nxzyoun6zhxrhs64oiz', '2222222222222222222222zz'];
/** Subjects of generated labels, with both did:plc and did:web DIDs. */
export const subjects = [...accounts.map((id) => `did:plc:${id}`), 'did:web:alice.example'];
/** DIDs of the labelers in generated labels. */
export const labelers = ['did:plc:labelerlabelerlabelerlab', 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb', 'did:web:mod.example'];

/** Noon of an arbitrary day, in microseconds since 1970. */
export const noon = micros(20_000 * day + day / 2);

/** Returns the n-th of a long series of distinct labels. */
export function labelNumber(n: number, change: Partial<ReceivedLabel> = {}): ReceivedLabel {
  const subject = subjects[n % subjects.length] ?? '';
  return {
    ver: 1,
    src: labelers[n % labelers.length] ?? '',
    uri: n % 2 === 0 ? subject : `at://${subject}/app.bsky.feed.post/${n.toString(36).padStart(13, '3')}`,
    val: n % 5 === 0 ? 'spam' : 'porn',
    ...(n % 3 === 0 ? { neg: n % 6 === 0 } : {}),
    cts: new Date(noon / 1000 + n).toISOString(),
    sig: Buffer.alloc(64, n),
    ...change,
  };
}

/** Returns an observation of a label whose signature was verified. */
export function observationOf(label: ReceivedLabel): NewObservation {
  return { label, signature: 'verified' };
}

/**
 * Returns the n-th batch, accepted at `at`: some rows, a number of refused labels, and the read position after these
 * rows.
 */
export function numberedBatch(n: number, at: number, rows = 12): Batch {
  const [source = ''] = labelers;
  return {
    at: micros(at),
    observations: Array.from({ length: rows }, (_, i) => observationOf(labelNumber(1_000 * n + i))),
    refusals: [{ source, reason: 'late', count: n + 1 }],
    positions: [{ source, endpoint: 'wss://e.example', value: String(n) }],
  };
}

const cts = fc.oneof(
  fc.integer({ min: 0, max: 4_000_000_000_000 }).map((ms) => new Date(ms).toISOString()),
  fc.constantFrom(
    '2026-11-21T05:03:22Z',
    '2026-11-21T05:03:22.481123Z',
    '2026-11-21T05:03:22.481+00:00',
    '2026-11-21T07:03:22.481+02:00',
    '2026-02-30T00:00:00.000Z',
    '2026',
    '1e3',
    '',
  ),
);
const cid = fc.oneof(
  fc.constantFrom(
    'bafyreie5cvv4h45feadgeuwhbcutmh6t2ceseocckahdoe6uat64zmz454',
    'bafyreie5cvv4h45feadgeuwhbcutmh6t2ceseocckahdoe6uat64zmz45z',
    'BAFYREIE5CVV4H45FEADGEUWHBCUTMH6T2CESEOCCKAHDOE6UAT64ZMZ454',
    'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG',
    '',
  ),
  fc.string(),
);
const uri = fc.oneof(
  fc.constantFrom(...subjects),
  fc
    .tuple(
      fc.constantFrom(...subjects),
      fc.constantFrom(
        '',
        '/',
        '/app.bsky.feed.post',
        '/app.bsky.feed.post/',
        '/app.bsky.feed.post/3lb5xpd2ank2v',
        '/app.bsky.feed.post/self#part',
        '/a/b/c',
        '//x',
        '?q=/a/b',
      ),
    )
    .map(([subject, rest]) => `at://${subject}${rest.startsWith('?') ? '' : rest}`),
);

/** Generates labels that admission accepts, and some that it refuses. */
export const anyLabel: fc.Arbitrary<ReceivedLabel> = fc
  .record(
    {
      ver: fc.constantFrom(0, 1, 2, -1, 300),
      src: fc.constantFrom(...labelers),
      uri,
      cid,
      val: fc.oneof(fc.constantFrom('spam', 'porn', '!hide'), fc.string({ maxLength: 40, unit: 'grapheme' })),
      neg: fc.boolean(),
      cts,
      exp: cts,
      sig: fc.uint8Array({ maxLength: 70 }).map((bytes) => Buffer.from(bytes)),
      extra: fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
    },
    { requiredKeys: ['src', 'uri', 'val', 'cts'] },
  )
  .map((label) => label as ReceivedLabel);
