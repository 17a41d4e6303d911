import { afterEach, expect, test } from 'vitest';
import {
  answer,
  type LabelReader,
  type LabelScript,
  labelReader,
  pagesOf,
  row,
} from '../../../harness/labels/label-reader.ts';
import { until } from '../../../harness/process/until.ts';
import { infoFrame } from '../../../sim/labelers/wire.ts';
import { wait } from '../../../src/labels/clock/clock.ts';

/** Tests throttling, which prevents a labeler from causing unlimited repeated work. */

let reader: LabelReader | null = null;

afterEach(async () => {
  await reader?.close();
  reader = null;
});

/** Creates a reader of a new labeler, and a list of its waits that last at least half a second. */
async function made(script: LabelScript): Promise<{ observed: LabelReader; waits: number[] }> {
  const waits: number[] = [];
  reader = await labelReader({
    priority: 'new',
    ...script,
    wait: (ms, signal) => {
      // Waiting for a quiet stream, and for the delay limit, does not count as throttling.
      if (ms >= 500 && ms < 60_000) waits.push(ms);
      return wait(ms, signal);
    },
    timings: { confirmMs: 100_000, resumeMs: 100_000, ...script.timings },
  });
  return { observed: reader, waits };
}

test('a labeler that repeatedly reports an outdated cursor causes at most one gap, and is throttled', async () => {
  const outdated = infoFrame('OutdatedCursor', '');
  const { observed, waits } = await made({
    page: () => answer([]),
    connected: (stream) => {
      for (let i = 0; i < 300; i += 1) stream.raw(outdated);
    },
  });
  observed.read();
  await until('the reader is throttled', () => waits.length > 0);
  const said = observed.quirks.filter((quirk) => quirk === 'outdated_cursor').length;
  expect(said).toBeGreaterThan(5);
  expect(said).toBeLessThan(20);
  expect(observed.gaps.filter(({ reason }) => reason === 'cursor_reset').length).toBeLessThanOrEqual(1);
});

test('a labeler whose connections end immediately is throttled, even if each of them delivers new labels', async () => {
  const rows = Array.from({ length: 1_000 }, (_, i) => ({ n: i + 1, label: row(i + 1) }));
  const { observed, waits } = await made({
    page: (cursor, limit) => pagesOf(rows.slice(0, observed.connections), cursor, limit),
    connected: (stream) => {
      stream.send(stream.connection + 1, row(stream.connection + 1));
      stream.end();
    },
  });
  observed.read();
  await until('the reader is throttled', () => waits.length > 0);
  expect(observed.connections).toBeLessThanOrEqual(11);
});

test('a labeler with endless pages of known rows is throttled', async () => {
  const page = Array.from({ length: 250 }, (_, i) => row(i));
  let asked = 0;
  const { observed, waits } = await made({
    page: (cursor) => {
      asked += 1;
      return answer(page, String(cursor + 250));
    },
  });
  observed.read();
  await until('the reader is throttled', () => waits.length > 0 || asked > 2_000);
  expect(asked).toBeLessThan(500);
});
