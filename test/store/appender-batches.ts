import type { NewObservation } from '../../src/store/port.ts';
import { day, micros } from '../../src/store/time.ts';

/** What the appending process appends, so that its parent can tell what must be there. */

/** The labeler of every label. */
export const source = 'did:plc:labelerlabelerlabelerlab';
/** Rows of one batch. */
export const rowsOfBatch = 40;
/** When the store begins. */
export const firstInstant = micros(20_000 * day);
/** The accounts that labels are about, in turn. */
export const accounts = ['did:plc:aaaaaaaaaaaaaaaaaaaaaaaa', 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb', 'did:web:c.example'];

/** The n-th label's number is its `exp`, so that each can be told. */
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
