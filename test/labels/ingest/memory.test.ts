import { afterEach, expect, test } from 'vitest';
import { answer, type LabelReader, labelReader, pagesOf, row } from '../../../harness/labels/label-reader.ts';
import { until } from '../../../harness/process/until.ts';

const readers: LabelReader[] = [];

afterEach(async () => {
  await Promise.all(readers.splice(0).map((reader) => reader.close()));
});

async function made(...options: Parameters<typeof labelReader>): Promise<LabelReader> {
  const reader = await labelReader(...options);
  readers.push(reader);
  return reader;
}

test('the memory for received input is released when the input is stored, and when reading ends', async () => {
  const rows = Array.from({ length: 600 }, (_, i) => ({ n: i + 1, label: row(i + 1, 600_000 - i) }));
  const observed = await made({
    page: (cursor, limit) => pagesOf(rows, cursor, limit),
    connected: ({ send }) => {
      for (let n = 601; n < 1_200; n += 1) send(n, row(n));
    },
  });
  observed.read();
  await until('all labels are stored', () => observed.stored.size === 1_199);
  const { queued, decoded } = observed.memory;
  await until('no memory is held', () => queued.held === 0 && decoded.held === 0);
  await observed.close();
  readers.splice(0);
  expect([queued.held, decoded.held, decoded.waiting]).toEqual([0, 0, 0]);
});

test('large pages that wait for memory do not delay a labeler with few labels', async () => {
  const hostile = await made({
    page: (cursor) => (cursor === 0 ? answer([row(1, 600_000)], '1') : answer([])),
    pageCost: 20_000_000,
    // Keep the connection open, because closing it would also end the wait for memory.
    streamless: true,
  });
  const { decoded } = hostile.memory;
  const others = decoded.open();
  others.hold(64 * 1024 * 1024);
  hostile.read();
  await until('the page waits for memory', () => decoded.waiting === 1);
  expect(hostile.stored.size).toBe(0);
  const honest = await made({ connected: ({ send }) => send(1, row(2)) }, hostile.memory);
  honest.read();
  await until('the live label is stored', () => honest.stored.size === 1);
  expect(hostile.stored.size).toBe(0);
  others.release();
  await until('the page is stored', () => hostile.stored.size === 1);
});

test('a frame with too many elements is counted, and does not prevent later frames from being read', async () => {
  const observed = await made({
    connected: ({ send, raw }) => {
      send(1, row(1));
      // The frame consists of a header and a body with a million open arrays.
      raw(Buffer.concat([Buffer.from('a2617467236c6162656c73626f7001', 'hex'), Buffer.alloc(1_000_000, 0x81)]));
      send(2, row(2));
    },
  });
  observed.read();
  await until('both labels are stored', () => observed.stored.size === 2);
  expect(observed.quirks).toContain('frame_over_budget');
});
