import { expect, test } from 'vitest';
import { labelerFiles, labelerFixture } from '../harness/artifacts/labelers.ts';
import { windowStore } from '../harness/labels/window-store.ts';
import { shareOfBound } from '../harness/process/longest-turn.ts';
import { type LabelerBytesReading, LabelersSource } from '../src/artifact/labelers/labelers-source.ts';
import { labelersLimits } from '../src/artifact/labelers.ts';
import { prepareCatalogue } from '../src/facts/labelers/catalogue.ts';
import { summarizeGaps } from '../src/labels/publish/coverage.ts';
import { FilledInCounts, SourceHistory } from '../src/labels/publish/hours/hour-counts.ts';
import { makeHours } from '../src/labels/publish/hours/labels-hours.ts';
import type { ListedLabeler } from '../src/labels/publish/labelers/listed-labeler.ts';
import { WindowReader } from '../src/labels/publish/window/window-reader.ts';
import type { StoredGap } from '../src/store/port.ts';
import { day, hour, micros, minute } from '../src/store/time.ts';

/**
 * Proofs that large work is divided into short turns of the event loop. They compare each turn with 10 ms, or with what
 * the machine needs for collections of garbage, whichever is more.
 */

const start = micros(Date.parse('2026-11-10T00:00:00Z') * 1000);
const window = { start: micros(0), end: micros(30 * day) };
const observed = { start: micros(day), end: window.end };
const week = { start: micros(23 * day), end: window.end };

function listed(did: string): ListedLabeler {
  return {
    ...{ did, handle: null, enrolled: true, state: 'established', stateSince: start, problem: null },
    ...{ provenance: new Set(['seeds']), readBy: 'stream', firstAnswered: start, lastAnswered: null },
    ...{ replacesRows: null, departure: null, dated: true },
  };
}

test('the longest possible artifact is read and prepared in event loop turns of less than 10 ms', async () => {
  const fixture = labelerFixture({ count: labelersLimits.labelers, seed: 1, longest: true });
  const { labelers, definitions } = labelerFiles(fixture);
  const bytes = { labelers: Buffer.from(labelers), definitions: Buffer.from(definitions) };
  const [, line = ''] = labelers.split('\n', 2);
  expect([line.length > 0.9 * labelersLimits.lineBytes, bytes.definitions.length > 25_000_000]).toEqual([true, true]);
  let round = 0;
  const readOnce = async (): Promise<void> => {
    round += 1;
    let read = false;
    const readBytes = (): Promise<LabelerBytesReading> => {
      const isFirst = !read;
      read = true;
      const content = { kind: 'bytes', bytes, digest: String(round), modifiedAt: 0 } as const;
      return Promise.resolve(isFirst ? content : { kind: 'unchanged' });
    };
    const source = new LabelersSource({
      ...{ from: readBytes, pollMs: 60_000, firstReadingMs: 60_000, monotonic: () => performance.now() },
      prepare: () => prepareCatalogue(() => undefined),
      failed: (error) => {
        throw error;
      },
    });
    await source.start();
    expect(source.read()).toMatchObject({ kind: 'readable', sets: [{ prepared: { entries: { length: 5_000 } } }] });
    await source.stop();
  };
  expect(await shareOfBound(10, 4, readOnce)).toBeLessThan(1);
});

test('hundreds of thousands of gaps are summarized in turns of less than 10 ms', async () => {
  const dids = Array.from({ length: 5_000 }, (_, i) => `did:plc:${i}`);
  const gaps = Array.from({ length: 400_000 }, (_, i): StoredGap => {
    const start = micros(i * 6_000_000);
    return {
      source: dids[(i * 7) % dids.length] ?? '',
      reason: 'source_unavailable',
      start,
      end: micros(start + hour),
    };
  });
  const work = () => summarizeGaps({ gaps, departures: [], counted: new Set(dids), window, observed, week });
  expect(await shareOfBound(10, 5, work)).toBeLessThan(1);
});

test('the hours of thousands of labelers with gaps are created in turns of less than 10 ms', async () => {
  const letters = (index: number): string => `${index}`.replace(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)));
  const dids = Array.from({ length: 3_000 }, (_, at) => `did:plc:${letters(at).padStart(24, 'z')}`);
  const now = micros(start + 72 * hour + minute);
  const starts = Array.from({ length: 72 }, (_, at) => start + at * hour);
  const hours = { start, end: micros(start + 72 * hour), starts };
  const counts = dids.map((labeler) => ({ labeler, applied: 7, removed: 1 }));
  const counted = starts.map((at) => ({ start: micros(at), end: micros(at + hour), counts }));
  const gaps = dids.flatMap((source, at) =>
    Array.from({ length: 10 }, (_, nth): StoredGap => {
      const from = start + ((at + nth * 7) % 70) * hour;
      return { source, start: micros(from), end: micros(from + minute), reason: 'source_unavailable' };
    }),
  );
  const store = windowStore(() => ({ startedAt: start, rows: [], observedThrough: now }));
  const reading = await new WindowReader(store).read(now, 30);
  const inputs = {
    ...{ reading: { ...reading, gaps }, hours, counted, entries: dids.map(listed) },
    ...{ sources: new SourceHistory(), origin: 'live' as const, filledIn: new FilledInCounts(store) },
  };
  expect(await shareOfBound(10, 5, () => makeHours(inputs))).toBeLessThan(1);
});
