import type { NewObservation } from '../../src/store/port.ts';
import { day, micros } from '../../src/store/time.ts';

/** Batches of the process in `appender.ts`; the test that starts the process derives the expected rows from them. */

/** DID of the labeler of every label. */
export const source = 'did:plc:labelerlabelerlabelerlab';
/** Rows per batch. */
export const rowsOfBatch = 40;
/** Instant at which the store begins, in microseconds. */
export const firstInstant = micros(20_000 * day);
/** Subjects of the labels; consecutive labels have different subjects. */
export const accounts = ['did:plc:aaaaaaaaaaaaaaaaaaaaaaaa', 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb', 'did:web:c.example'];

/**
 * Returns the batch that begins with label number `first`. Each label has its number as `exp`, which identifies the
 * label.
 */
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
