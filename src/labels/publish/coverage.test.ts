import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTimestamp } from '../../contract/timestamp.ts';
import { day, hour, micros } from '../../store/time.ts';
import { sourceStates } from '../state/reading-state.ts';
import { countSources, coverageOf, type EnrolledSource } from './coverage.ts';

type CoverageInputs = Parameters<typeof coverageOf>[0];

const now = micros(parseTimestamp('2026-09-01T00:00:00Z') ?? 0);
const established: EnrolledSource = { did: 'did:plc:a', origin: 'seeded', state: 'established', answered: true };
const inputs: CoverageInputs = {
  now,
  windowDays: 30,
  startedAt: micros(now - 40 * day),
  observedThrough: micros(now - 1_000),
  gaps: [],
  sources: [established],
  refusals: [],
};
const gap = { source: null, start: micros(now - 2 * hour), end: micros(now - hour), reason: 'ingest_paused' } as const;

describe('the coverage status', () => {
  test.each<[string, string, Partial<CoverageInputs>]>([
    ['no_recorded_gaps', 'complete coverage', {}],
    ['gapped', 'a gap in the window', { gaps: [gap] }],
    [
      'no_recorded_gaps',
      'a gap before the window',
      { gaps: [{ ...gap, start: micros(now - 32 * day), end: micros(now - 31 * day) }] },
    ],
    ['warming_up', 'an epoch shorter than the window', { startedAt: micros(now - 29 * day) }],
    ['warming_up', 'an epoch shorter than the window, with a gap', { startedAt: micros(now - 29 * day), gaps: [gap] }],
    ['unknown', 'an empty list of sources', { sources: [] }],
    [
      'unknown',
      'an epoch shorter than the window, with a probing source',
      { startedAt: now, sources: [established, { ...established, state: 'probing' }] },
    ],
  ])('is %s for %s', (status, _, over) => {
    expect(coverageOf({ ...inputs, ...over }).status).toBe(status);
  });

  test.each(sourceStates.filter((state) => state !== 'established'))('is unknown if one source is %s', (state) => {
    expect(coverageOf({ ...inputs, gaps: [gap], sources: [established, { ...established, state }] }).status).toBe(
      'unknown',
    );
  });
});

describe('the warm-up of the coverage', () => {
  test('is the part of the window before the epoch', () => {
    expect(coverageOf({ ...inputs, startedAt: micros(now - 5 * day - hour) })).toMatchObject({
      observed_days: 5,
      warmup: { start: '2026-08-02T00:00:00.000Z', end: '2026-08-26T23:00:00.000Z', reason: 'not_observed' },
    });
  });

  test('is null if the window begins at the start of the epoch', () => {
    expect(coverageOf({ ...inputs, startedAt: micros(now - 30 * day) })).toMatchObject({
      observed_days: 30,
      warmup: null,
    });
  });
});

describe('time without an accepted page', () => {
  const tenMinutes = 600_000_000;

  test('is not a gap if it lasts at most 10 minutes', () => {
    expect(coverageOf({ ...inputs, observedThrough: micros(now - tenMinutes) })).toMatchObject({
      status: 'no_recorded_gaps',
      gaps: [],
    });
  });

  test('is a gap if it exceeds 10 minutes, and makes the status unknown', () => {
    expect(coverageOf({ ...inputs, observedThrough: micros(now - tenMinutes - 1) })).toMatchObject({
      status: 'unknown',
      gaps: [{ start: '2026-08-31T23:49:59.999Z', end: '2026-09-01T00:00:00.000Z', reason: 'source_unavailable' }],
    });
  });

  test('is counted once if it is also recorded as an interruption', () => {
    const paused = { ...gap, end: now };
    expect(coverageOf({ ...inputs, gaps: [paused], observedThrough: gap.start })).toMatchObject({
      status: 'unknown',
      gaps: [{ reason: 'ingest_paused' }],
    });
  });
});

test('observed_through is the time of the last accepted page, or null if no page was accepted', () => {
  expect(coverageOf({ ...inputs, observedThrough: null }).observed_through).toBe(null);
  expect(coverageOf(inputs).observed_through).toBe('2026-08-31T23:59:59.999Z');
});

test('gaps beyond the maximum number become one gap that spans the whole window', () => {
  const reasons = ['ingest_paused', 'cursor_reset', 'maintenance'] as const;
  const gaps = reasons.flatMap((reason) =>
    Array.from({ length: 55 }, (_, i) => ({
      ...gap,
      reason,
      start: micros(now - (i + 1) * 13 * hour),
      end: micros(now - (i + 1) * 13 * hour + 1),
    })),
  );
  expect(coverageOf({ ...inputs, gaps })).toMatchObject({
    status: 'unknown',
    gap_overflow: true,
    gaps: [{ start: '2026-08-02T00:00:00.000Z', end: '2026-09-01T00:00:00.000Z', reason: 'unknown' }],
  });
});

test('the counts of sources by state and by origin sum to the number of enrolled sources, and refusals are summed by reason', () => {
  const sources = fc.array(
    fc.record({
      did: fc.string(),
      origin: fc.constantFrom('seeded', 'discovered'),
      state: fc.constantFrom(...sourceStates),
    }),
  );
  fc.assert(
    fc.property(sources, (some) => {
      const counts = countSources(some as EnrolledSource[], [
        { source: 'a', reason: 'late', count: 2 },
        { source: 'b', reason: 'late', count: 3 },
        { source: 'b', reason: 'future', count: 1 },
        { source: 'b', reason: 'duplicate', count: 9 },
      ]);
      expect(sourceStates.reduce((sum, state) => sum + counts[state], 0)).toBe(counts.enrolled);
      expect(counts.seeded + counts.discovered).toBe(counts.enrolled);
      expect(counts).toMatchObject({ late_skipped: 5, future_skipped: 1, pre_epoch_skipped: 0, undated_skipped: 0 });
    }),
  );
});

test('a gap that begins before the epoch is listed from the start of the epoch, after the warm-up', () => {
  const startedAt = micros(now - 10 * day);
  const early = { ...gap, start: micros(now - 20 * day), end: micros(now - 9 * day) };
  const { gaps, warmup } = coverageOf({ ...inputs, startedAt, gaps: [early] });
  expect(gaps).toEqual([{ start: warmup?.end, end: '2026-08-23T00:00:00.000Z', reason: 'ingest_paused' }]);
});
