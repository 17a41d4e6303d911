import type { NewObservation } from '../../src/store/port.ts';
import { day, micros } from '../../src/store/time.ts';

/** Batches that the appending process sends. The parent process derives the expected rows from them. */

/** DID of the labeler that emitted all labels. */
export const source = 'did:plc:labelerlabelerlabelerlab';
/** Number of rows per batch. */
export const rowsOfBatch = 40;
/** Start of the store, in microseconds. */
export const firstInstant = micros(20_000 * day);
/** Subjects that the labels use in turn. */
export const accounts = ['did:plc:aaaaaaaaaaaaaaaaaaaaaaaa', 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb', 'did:web:c.example'];

/** Returns a batch of labels numbered from `first`. A label carries its number in `exp`. */
export function batchFrom(first: number): NewObservation[] {
  return Array.from({ length: rowsOfBatch }, (_, i) => {
    const n = first + i;
    return {
      signature: 'unsigned',
      label: {
        src: source,
        uri: `at://${accounts[n % accounts.length] ?? ''}/app.bsky.feed.post/${n}`,
        val: 'spam',
        neg: n % 7 === 0,
        cts: '2024-10-04T00:00:00.000Z',
        exp: String(n),
      },
    };
  });
}
