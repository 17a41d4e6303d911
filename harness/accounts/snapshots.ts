import fc from 'fast-check';
import type { Cursor, Snapshot } from '../../src/account/cursor/cursor.ts';
import type { AccountFilters } from '../../src/account/query/query.ts';
import { labelActions, targetKinds } from '../../src/contract/vocabulary.ts';
import { micros } from '../../src/store/time.ts';

/** Generators of arbitrary cursors and their parts. */

/** A did:web DID whose host name has the maximum length, 253 characters. */
export const maxLengthDidWeb = `did:web:${`${'a'.repeat(61)}.`.repeat(4)}${'b'.repeat(5)}`;

const plc = fc
  .string({ unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz234567'), minLength: 24, maxLength: 24 })
  .map((id) => `did:plc:${id}`);
const dids = fc.oneof(
  plc,
  fc.domain().map((host) => `did:web:${host}`),
);
const instants = fc.integer({ min: 1, max: 4_000_000_000_000_000 }).map(micros);
const milliseconds = fc.integer({ min: 0, max: 4_000_000_000_000 });
const wholes = fc.integer({ min: 0, max: 0xff_ff_ff_ff });

const filters = fc.record(
  {
    labeler: dids,
    value: fc
      .string({ unit: 'grapheme', maxLength: 60 })
      .filter((text) => text.isWellFormed() && Buffer.byteLength(text) <= 128),
    action: fc.constantFrom(...labelActions),
    target_kind: fc.constantFrom(...targetKinds),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<AccountFilters>;

const snapshots: fc.Arbitrary<Snapshot> = fc.record({
  account: dids,
  start: instants,
  end: instants,
  askedStart: instants,
  frontier: instants,
  clipped: fc.boolean(),
  filters,
  generation: fc
    .uint8Array({ minLength: 8, maxLength: 8 })
    .map((bytes) => Buffer.from(bytes).toString('hex') as Snapshot['generation']),
  countBound: wholes,
  pageRows: fc.integer({ min: 1, max: 500 }),
  createdAt: milliseconds,
  expiresAt: milliseconds,
});
/** Snapshots of downloads. Those of earlier versions do not contain the time of the latest page. */
const downloads: fc.Arbitrary<Snapshot> = fc.oneof(
  snapshots,
  fc.tuple(snapshots, fc.option(instants)).map(([snapshot, observedThrough]) => ({ ...snapshot, observedThrough })),
);

/** Generates cursors of both kinds. */
export const cursors: fc.Arbitrary<Cursor> = fc.oneof(
  fc.record({ kind: fc.constant('snapshot' as const), snapshot: downloads }),
  fc.record({
    kind: fc.constant('export' as const),
    snapshot: snapshots,
    progress: fc.record({
      position: fc.option(instants),
      count: wholes,
      digest: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes)),
    }),
  }),
);
