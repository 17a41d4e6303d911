import { afterEach, describe, expect, test } from 'vitest';
import {
  type LabelReader,
  type LabelScript,
  labelReader,
  pagesOf,
  resumeAt,
  row,
  type ScriptedStream,
} from '../../../harness/labels/label-reader.ts';
import { until } from '../../../harness/process/until.ts';
import { errorFrame } from '../../../sim/labelers/wire.ts';
import { readPosition, writePosition } from '../../../src/labels/state/reading-events.ts';

/**
 * Tests the check of the last row that was read. An emptied database counts as a reset, but a replaced last row does
 * not, whichever request first detects the change.
 */

interface Row {
  readonly n: number;
  readonly label: unknown;
}

/** A labeler with a database. Its stream begins after the cursor and then sends rows as they are added. */
class Labeler {
  rows: readonly Row[] = [1, 2, 3, 4].map((n) => ({ n, label: row(n, 4_000 - n) }));
  /** Number of pages served so far. */
  pages = 0;
  /** While this promise is pending, page requests wait for it. Null while requests are served. */
  #held: PromiseWithResolvers<void> | null = null;
  #stream: ScriptedStream | null = null;

  hold(): void {
    this.#held = Promise.withResolvers();
  }

  release(): void {
    this.#held?.resolve();
    this.#held = null;
  }

  drop(): void {
    this.#stream?.end();
  }

  readonly page: NonNullable<LabelScript['page']> = async (cursor, limit, { signal }) => {
    signal.addEventListener('abort', () => this.release(), { once: true });
    await this.#held?.promise;
    this.pages += 1;
    return pagesOf(this.rows, cursor, limit);
  };

  readonly connected = (stream: ScriptedStream): void => {
    this.#stream = stream;
    const { cursor } = stream;
    if (cursor === null) return;
    if (cursor > (this.rows.at(-1)?.n ?? 0)) stream.raw(errorFrame('FutureCursor', 'Cursor in the future.'));
    else for (const { n, label } of this.rows) if (n > cursor) stream.send(n, label);
  };
}

let reader: LabelReader | null = null;
afterEach(() => reader?.close());

const hour = 3_600_000;
const patient = { tailMs: hour, streamRetryMs: hour, confirmMs: hour };

/**
 * Reads a labeler to its end, and returns the reader. With the transport `stream`, the reader has a stream position.
 */
async function observe(labeler: Labeler, transport: 'poll' | 'stream', value?: string): Promise<LabelReader> {
  reader = await labelReader({
    page: labeler.page,
    ...(transport === 'stream' ? { connected: labeler.connected } : { streamless: true }),
    days: 1,
    timings: patient,
  });
  const observed = reader;
  if (value !== undefined) resumeAt(observed.source, readPosition(value) ?? observed.source.position);
  observed.read();
  return observed;
}

async function read(labeler: Labeler, transport: 'poll' | 'stream'): Promise<LabelReader> {
  const observed = await observe(labeler, transport);
  await until('the first rows are stored', () => observed.stored.size === 4);
  if (transport === 'stream') {
    resumeAt(observed.source, { ...observed.source.position, seq: 4, seqTail: observed.source.position.cursorTail });
  }
  const { pages } = labeler;
  if (transport === 'poll') await until('a quiet poll has ended', () => labeler.pages >= pages + 2);
  return observed;
}

/** Stops the first reader and starts another one at its position, as a restart does. */
async function restart(labeler: Labeler, observed: LabelReader, transport: 'poll' | 'stream'): Promise<LabelReader> {
  await observed.close();
  return observe(labeler, transport, writePosition(observed.source.position));
}

/** Returns the distinct reasons of gaps that were recorded and not withdrawn. */
function reasons({ gaps, withdrawn }: LabelReader): readonly string[] {
  return [...new Set(gaps.filter((gap) => !withdrawn.includes(gap)).map(({ reason }) => reason))];
}

const afterwards: Row = { n: 10, label: row(10) };

describe('a reader of an emptied database', () => {
  test('detects the reset immediately if a poll finds no rows', async () => {
    const labeler = new Labeler();
    const observed = await read(labeler, 'poll');
    labeler.rows = [];
    await until('the gap is recorded', () => observed.gaps.length > 0);
    labeler.rows = [afterwards];
    await until('the new row is stored', () => observed.stored.has('v10'));
    expect(reasons(observed)).toEqual(['cursor_reset']);
    expect(observed.quirks).toContain('tail_missing');
  });

  test('detects the reset if a poll finds new rows', async () => {
    const labeler = new Labeler();
    const observed = await read(labeler, 'poll');
    labeler.rows = [afterwards];
    await until('the new row is stored', () => observed.stored.has('v10'));
    expect(reasons(observed)).toEqual(['cursor_reset']);
    expect(observed.quirks).toContain('tail_missing');
  });

  test('detects the reset if a poll finds at least as many new rows as the reader had read before, and reads all new rows', async () => {
    const labeler = new Labeler();
    const observed = await read(labeler, 'poll');
    labeler.rows = [11, 12, 13, 14, 15, 16].map((n) => ({ n: n - 10, label: row(n) }));
    await until('all rows are stored', () => observed.stored.size === 10);
    expect(reasons(observed)).toEqual(['cursor_reset']);
  });

  test('detects the reset in the first poll after a restart', async () => {
    const labeler = new Labeler();
    const before = await read(labeler, 'poll');
    labeler.rows = [afterwards];
    const observed = await restart(labeler, before, 'poll');
    await until('the new row is stored', () => observed.stored.has('v10'));
    expect(reasons(observed)).toEqual(['cursor_reset']);
  });

  test.each([
    ['the stream, whose cursor is in the future', 'stream', []],
    ['the stream, which sends the next row', 'stream', [afterwards]],
    ['a poll, whose page is empty', 'poll', []],
    ['a poll, which finds the next row', 'poll', [afterwards]],
    ['both together, without a row', 'both', []],
    ['both together, with the next row', 'both', [afterwards]],
  ] as const)('detects the reset after a restart (by %s)', async (_, first, rows) => {
    const labeler = new Labeler();
    const before = await read(labeler, 'stream');
    labeler.rows = rows;
    await before.close();
    if (first === 'stream') labeler.hold();
    const silent = first === 'poll' ? { connected: () => undefined } : {};
    reader = await labelReader({
      page: labeler.page,
      connected: labeler.connected,
      days: 1,
      timings: patient,
      ...silent,
    });
    const observed = reader;
    resumeAt(observed.source, before.source.position);
    observed.read();
    await until('the gap is recorded', () => observed.gaps.length > 0);
    labeler.release();
    labeler.rows = [afterwards];
    labeler.drop();
    await until('the new row is stored', () => observed.stored.has('v10'));
    expect(reasons(observed)).toEqual(['cursor_reset']);
  });
});

describe('a reader whose last row was replaced', () => {
  /**
   * Makes the labeler remove the label of the last row. The removal is a row with a new number, among further new rows.
   */
  function replaceLast(labeler: Labeler): void {
    const last = labeler.rows.at(-1);
    const removed = { ...(last?.label as object), neg: true, cts: new Date().toISOString() };
    labeler.rows = [
      ...labeler.rows.slice(0, -1),
      { n: 5, label: row(5) },
      { n: 6, label: removed },
      { n: 7, label: row(7) },
    ];
  }

  test('records no gap if a poll finds the replacement', async () => {
    const labeler = new Labeler();
    const observed = await read(labeler, 'poll');
    replaceLast(labeler);
    await until('the row after it is stored', () => observed.stored.has('v7'));
    expect(reasons(observed)).toEqual([]);
    expect(observed.quirks).not.toContain('tail_missing');
  });

  test('records no gap if the first poll after a restart finds the replacement', async () => {
    const labeler = new Labeler();
    const before = await read(labeler, 'poll');
    replaceLast(labeler);
    const observed = await restart(labeler, before, 'poll');
    await until('the row after it is stored', () => observed.stored.has('v7'));
    expect(reasons(observed)).toEqual([]);
  });

  test('records no gap if a resumed stream sends the replacement next', async () => {
    const labeler = new Labeler();
    const before = await read(labeler, 'stream');
    replaceLast(labeler);
    labeler.rows = labeler.rows.filter(({ n }) => n !== 5);
    const observed = await restart(labeler, before, 'stream');
    await until('the row after it is stored', () => observed.stored.has('v7'));
    expect(reasons(observed)).toEqual([]);
  });
});

test('a reader records a gap for a full page without the last row, and continues after that page', async () => {
  const labeler = new Labeler();
  const observed = await read(labeler, 'poll');
  labeler.rows = Array.from({ length: 300 }, (_, i) => ({ n: i + 5, label: row(i + 5) }));
  await until('all rows are stored', () => observed.stored.size === 304);
  expect(reasons(observed)).toEqual(['cursor_reset']);
  expect(observed.source.position.cursor).toBe(304);
});

test('a labeler whose pages lack the last row is checked twice, and then only once an hour', async () => {
  const labeler = new Labeler();
  // This labeler's cursors lie between the numbers of rows, so a cursor minus one still lies after the row.
  const page: LabelScript['page'] = (cursor, limit, asked) => labeler.page(cursor, limit, asked);
  labeler.rows = labeler.rows.map(({ n, label }) => ({ n: n * 10, label }));
  reader = await labelReader({
    page: async (cursor, limit, asked) => {
      const given = await page(cursor, limit, asked);
      const { value } = given as { value: { cursor?: string; labels: readonly unknown[] } };
      return {
        ...given,
        value: value.cursor === undefined ? value : { ...value, cursor: String(Number(value.cursor) + 5) },
      };
    },
    streamless: true,
    days: 1,
    timings: patient,
  });
  const observed = reader;
  observed.read();
  await until('many polls have ended', () => labeler.pages >= 20);
  expect(observed.stored.size).toBe(4);
  expect(observed.gaps.map(({ reason }) => reason)).toEqual(['cursor_reset', 'cursor_reset']);
});
