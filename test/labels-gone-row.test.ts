import { afterEach, describe, expect, test } from 'vitest';
import { type LabelReader, labelReader, pagesOf, row } from './support/label-reader.ts';
import { until } from './support/label-station.ts';

/** Polls of a labeler that no longer has the row that was read last, by whichever request notices it first. */

interface Row {
  readonly n: number;
  readonly label: unknown;
}

let reader: LabelReader | null = null;
afterEach(() => reader?.close());

/** A labeler without a stream whose pages show `rows`, read up to a fourth row that came after the first three. */
async function polled(tailMs: number) {
  const database: { rows: readonly Row[] } = { rows: [1, 2, 3].map((n) => ({ n, label: row(n, 4_000 - n) })) };
  reader = await labelReader({
    page: (cursor, limit) => pagesOf(database.rows, cursor, limit),
    streamless: true,
    rhythm: { tailMs, streamRetryMs: 3_600_000 },
  });
  const observed = reader;
  observed.read();
  await until('the first rows', () => observed.stored.size === 3);
  database.rows = [...database.rows, { n: 4, label: row(4, 100) }];
  await until('the fourth row', () => observed.stored.size === 4);
  observed.gaps.length = 0;
  observed.withdrawn.length = 0;
  return { observed, database };
}

/** Gaps that were recorded and not withdrawn. */
const left = ({ gaps, withdrawn }: LabelReader) => gaps.filter((gap) => !withdrawn.includes(gap));

describe.each([
  ['the next rows', 3_600_000],
  ['a look for the remembered row', 1],
])('when %s show it', (_, tailMs) => {
  test('a database that was emptied is a reset, and reading goes on', async () => {
    const { observed, database } = await polled(tailMs);
    database.rows = [{ n: 10, label: row(10) }];
    await until('the new row', () => observed.stored.has('v10'));
    expect(left(observed)).toMatchObject([{ reason: 'cursor_reset' }]);
    expect(observed.quirks).toContain('tail_missing');
  });

  test('a row that was replaced under a new number is no gap', async () => {
    const { observed, database } = await polled(tailMs);
    const [, , , last] = database.rows;
    const replaced = { ...(last?.label as object), neg: true, cts: new Date().toISOString() };
    database.rows = [...database.rows.slice(0, 3), { n: 5, label: replaced }, { n: 6, label: row(6) }];
    await until('the row after it', () => observed.stored.has('v6'));
    expect(left(observed)).toEqual([]);
  });
});
