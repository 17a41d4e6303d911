import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rosterRow } from '../../../harness/store/roster-row.ts';
import { formatMicros } from '../../contract/timestamp.ts';
import type { StoredGap } from '../../store/port.ts';
import type { RosterRow } from '../../store/roster.ts';
import { hour, type Interval, micros, minute } from '../../store/time.ts';
import type { Snapshot } from '../cursor/cursor.ts';
import { atMost } from '../query/intervals.ts';
import { coverageOf, readCoverage } from './manifest.ts';

const start = micros(1_795_176_000_000_000);
const end = micros(start + 24 * hour);
const [one, two] = ['did:plc:ar7c4by46qjdydhdevvrndac', 'did:plc:newitj5jo3uel7o4mnf3vj2o'] as const;
const three = 'did:web:third.example.com';

function known(did: string, state = 'established', enrolled = true): RosterRow {
  return rosterRow(did, { enrolled, state, stateSince: start });
}

function gap(
  source: string | null,
  from: number,
  to: number,
  reason: StoredGap['reason'] = 'ingest_paused',
): StoredGap {
  return { source, start: micros(start + from * hour), end: micros(start + to * hour), reason };
}

function coverage(
  gaps: readonly StoredGap[],
  roster: readonly RosterRow[],
  more: { labeler?: string; epoch?: number; silentMinutes?: number; everRead?: readonly string[] } = {},
) {
  return coverageOf({
    interval: { start, end },
    askedStart: micros(start - hour),
    labeler: more.labeler,
    now: end,
    epoch: { generationId: 'g', startedAt: micros(start - (more.epoch ?? 5) * hour) },
    frontier: {
      generationId: 'g',
      floor: start,
      end,
      observedThrough: micros(end - (more.silentMinutes ?? 0) * minute - 1),
      revision: 0,
    },
    gaps,
    roster,
    everRead: new Set(more.everRead ?? [one, two]),
  });
}

const wireOf = (interval: Interval) => ({ start: formatMicros(interval.start), end: formatMicros(interval.end) });

describe('coverage', () => {
  it("lists interruptions of the service once, and for each labeler only the labeler's own gaps", () => {
    expect(coverage([gap(null, 1, 2), gap(one, 3, 4, 'cursor_reset')], [known(one), known(two)])).toEqual({
      status: 'gapped',
      observed_through: '2026-11-21T11:59:59.999999Z',
      covered_through: '2026-11-21T11:59:59.999999Z',
      warmup: null,
      gaps: [{ start: '2026-11-20T13:00:00.000000Z', end: '2026-11-20T14:00:00.000000Z', reason: 'ingest_paused' }],
      labelers: [
        {
          labeler_did: one,
          state: 'established',
          gaps: [{ start: '2026-11-20T15:00:00.000000Z', end: '2026-11-20T16:00:00.000000Z', reason: 'cursor_reset' }],
        },
        { labeler_did: two, state: 'established', gaps: [] },
      ],
    });
  });

  it.each([
    ['no_recorded_gaps', coverage([], [known(one)])],
    ['gapped', coverage([gap(one, 1, 2)], [known(one)])],
    ['warming_up', coverage([gap(one, 1, 2)], [known(one)], { epoch: 0 })],
    ['unknown', coverage([], [known(one), known(two, 'unavailable')], { epoch: 0 })],
    ['unknown', coverage([], [])],
  ])('has the status of the first rule that applies (%s)', (status, got) => {
    expect(got.status).toBe(status);
  });

  it('reports requested time before the epoch as warm-up', () => {
    expect(coverage([], [known(one)], { epoch: 0 }).warmup).toEqual({
      start: '2026-11-20T11:00:00.000000Z',
      end: '2026-11-20T12:00:00.000000Z',
      reason: 'not_observed',
    });
  });

  it('lists only the labeler of the filter, even if it is unknown', () => {
    const both = [known(one), known(two, 'refused')];
    expect(coverage([], both, { labeler: one })).toMatchObject({
      status: 'no_recorded_gaps',
      labelers: [{ labeler_did: one, gaps: [] }],
    });
    const stranger = 'did:web:labels.example.com';
    expect(coverage([], both, { labeler: stranger })).toMatchObject({
      status: 'unknown',
      labelers: [{ labeler_did: stranger, state: 'not_known' }],
    });
  });

  it('has a gap over the whole interval if the labeler of the filter was never read', () => {
    const never = [known(one), known(two, 'established', false)];
    const gaps = [{ start: '2026-11-20T12:00:00.000000Z', end: '2026-11-21T12:00:00.000000Z', reason: 'not_observed' }];
    const labelers = ['did:web:labels.example.com', one, two].map(
      (labeler) => coverage([], never, { labeler, everRead: [] }).labelers,
    );
    expect(labelers).toEqual([
      [{ labeler_did: 'did:web:labels.example.com', state: 'not_known', gaps }],
      [{ labeler_did: one, state: 'established', gaps }],
      [{ labeler_did: two, state: 'not_enrolled', gaps }],
    ]);
    // A gap is also recorded for a denied labeler whose rows were purged, even if there were none.
    expect(coverage([gap(two, 1, 2, 'maintenance')], never, { labeler: two, everRead: [] }).labelers).toMatchObject([
      { gaps },
    ]);
  });

  it('has a gap over the whole interval if the labeler of the filter was evicted, also before its position is removed', () => {
    const gaps = [{ ...wireOf({ start, end }), reason: 'not_observed' }];
    expect(coverage([], [known(one)], { labeler: two }).labelers).toEqual([
      { labeler_did: two, state: 'not_known', gaps },
    ]);
  });

  it.each([
    ['a resume position', null, [{ source: one }], 0],
    ['the time of a response', start, [], 0],
    ['neither', null, [{ source: two }], 1],
  ])('counts a labeler in the filter as read if the store has %s', async (_evidence, lastAnswered, positions, gaps) => {
    const store = {
      epoch: () => ({ generationId: 'g', startedAt: start }),
      frontier: () => ({ generationId: 'g', floor: start, end, observedThrough: end, revision: 0 }),
      gaps: () => [],
      roster: () => [
        { ...known(one), lastAnswered },
        { ...known(two), lastAnswered: start },
      ],
      positions: () => positions,
    };
    const snapshot = { start, end, askedStart: start, filters: { labeler: one }, createdAt: end / 1000 } as Snapshot;
    const { labelers } = await readCoverage(store as never, snapshot);
    expect(labelers.map((labeler) => labeler.gaps.length)).toEqual([gaps]);
  });

  it('has a gap over the whole interval for each enrolled labeler that was never read, also without a filter', async () => {
    const store = {
      epoch: () => ({ generationId: 'g', startedAt: start }),
      frontier: () => ({ generationId: 'g', floor: start, end, observedThrough: end, revision: 0 }),
      gaps: () => [gap(two, 1, 2)],
      roster: () => [{ ...known(one), lastAnswered: start }, known(two, 'probing'), known(three)],
      positions: () => [{ source: three }],
    };
    const snapshot = { start, end, askedStart: start, filters: {}, createdAt: end / 1000 } as Snapshot;
    expect((await readCoverage(store as never, snapshot)).labelers).toEqual([
      { labeler_did: one, state: 'established', gaps: [] },
      { labeler_did: two, state: 'probing', gaps: [{ ...wireOf({ start, end }), reason: 'not_observed' }] },
      { labeler_did: three, state: 'established', gaps: [] },
    ]);
  });

  it('excludes a labeler that was never read and is not enrolled, even if a gap is recorded for it', () => {
    const roster = [known(one), known(two, 'established', false)];
    const gaps = [gap(two, 1, 2, 'maintenance')];
    expect(coverage(gaps, roster, { everRead: [one] })).toMatchObject({
      status: 'no_recorded_gaps',
      labelers: [{ labeler_did: one, state: 'established', gaps: [] }],
    });
  });

  it('ends at the last accepted page, and contains no gap if that page is less than 10 minutes old', () => {
    expect(coverage([], [known(one)], { silentMinutes: 9 })).toEqual({
      status: 'no_recorded_gaps',
      observed_through: '2026-11-21T11:50:59.999999Z',
      covered_through: '2026-11-21T11:50:59.999999Z',
      warmup: null,
      gaps: [],
      labelers: [{ labeler_did: one, state: 'established', gaps: [] }],
    });
  });

  it('has the status unknown after 10 minutes without a page, and contains a gap since the last page', () => {
    expect(coverage([], [known(one)], { silentMinutes: 360 })).toMatchObject({
      status: 'unknown',
      covered_through: '2026-11-21T05:59:59.999999Z',
      gaps: [
        { start: '2026-11-21T05:59:59.999999Z', end: '2026-11-21T12:00:00.000000Z', reason: 'source_unavailable' },
      ],
    });
  });

  it('has the status unknown after 10 minutes without a page also on a standby that has received nothing since', async () => {
    const store = {
      epoch: () => ({ generationId: 'g', startedAt: start }),
      frontier: () => ({
        ...{ generationId: 'g', floor: start, end, observedThrough: micros(end - minute), revision: 0 },
        replicatedThrough: end,
      }),
      gaps: () => [],
      roster: () => [known(one)],
      positions: () => [{ source: one }],
    };
    const coverageAt = (createdAt: number) =>
      readCoverage(store as never, { start, end, askedStart: start, filters: {}, createdAt } as Snapshot);
    expect(await coverageAt((end + 9 * minute) / 1000)).toMatchObject({ status: 'no_recorded_gaps', gaps: [] });
    expect(await coverageAt((end + 72 * hour) / 1000)).toMatchObject({
      status: 'unknown',
      gaps: [
        { start: '2026-11-21T11:59:00.000000Z', end: '2026-11-21T12:00:00.000000Z', reason: 'source_unavailable' },
      ],
    });
  });

  it.each([
    ['during a silence that has ended since', 30, 'unknown', end - 30 * minute],
    ['before the first page', null, 'unknown', start],
    ['9 minutes after the last page', 9, 'no_recorded_gaps', null],
  ])(
    'of a download describes what was observed when its page was created, %s',
    async (_, silentMinutes, status, since) => {
      const store = {
        epoch: () => ({ generationId: 'g', startedAt: start }),
        frontier: () => ({
          generationId: 'g',
          floor: start,
          end,
          observedThrough: micros(end + 10 * minute),
          revision: 0,
        }),
        gaps: () => [],
        roster: () => [known(one)],
        positions: () => [{ source: one }],
      };
      const observedThrough = silentMinutes === null ? null : micros(end - silentMinutes * minute);
      const times = { start, end, askedStart: start, createdAt: end / 1000, observedThrough };
      const read = await readCoverage(store as never, { ...times, filters: {} } as Snapshot);
      const gaps = since === null ? [] : [{ ...wireOf({ start: micros(since), end }), reason: 'source_unavailable' }];
      const through = observedThrough === null ? null : formatMicros(observedThrough);
      expect(read).toMatchObject({ status, gaps, observed_through: through, covered_through: through });
    },
  );

  it('splits the gap of a silence at a recorded interruption, which keeps its own reason', () => {
    const interrupted = gap(null, 19, 23.5);
    expect(coverage([interrupted], [known(one)], { silentMinutes: 360 }).gaps).toEqual([
      { start: '2026-11-21T05:59:59.999999Z', end: '2026-11-21T07:00:00.000000Z', reason: 'source_unavailable' },
      { start: '2026-11-21T07:00:00.000000Z', end: '2026-11-21T11:30:00.000000Z', reason: 'ingest_paused' },
      { start: '2026-11-21T11:30:00.000000Z', end: '2026-11-21T12:00:00.000000Z', reason: 'source_unavailable' },
    ]);
  });

  it.each([
    ['a minute after the last accepted page', 9, 8, 0],
    ['at the last accepted page', 1, 1, 0],
    ['after the last accepted page and ends before now', 9, 8, 7],
  ])('is unknown, with one gap, for an interval that begins %s', (_, observed, from, to) => {
    const interval = { start: micros(end - from * minute), end: micros(end - to * minute) };
    const observedThrough = micros(end - observed * minute);
    const inputs = {
      ...{ interval, askedStart: interval.start, labeler: undefined, now: end },
      epoch: { generationId: 'g', startedAt: micros(start - hour) },
      frontier: { generationId: 'g', floor: start, end, observedThrough, revision: 0 },
      ...{ gaps: [], roster: [known(one)], everRead: new Set([one]) },
    };
    const gaps = [{ ...wireOf(interval), reason: 'source_unavailable' }];
    expect(coverageOf(inputs)).toMatchObject({ status: 'unknown', gaps });
    // One page accepted after the start of the interval suffices, for up to ten minutes.
    const partly = { ...inputs, frontier: { ...inputs.frontier, observedThrough: micros(interval.start + 1) } };
    expect(coverageOf(partly)).toMatchObject({ status: 'no_recorded_gaps', gaps: [] });
  });

  it('measures the 10 minutes without a page until the export is created, even if the interval ends before', () => {
    const [lastPage, until] = [micros(end - 20 * minute), micros(end - 15 * minute)];
    const coverageAt = (now: number) =>
      coverageOf({
        ...{ interval: { start, end: until }, askedStart: start, labeler: undefined, now: micros(now) },
        epoch: { generationId: 'g', startedAt: micros(start - hour) },
        frontier: { generationId: 'g', floor: start, end, observedThrough: lastPage, revision: 0 },
        ...{ gaps: [], roster: [known(one)], everRead: new Set([one]) },
      });
    expect(coverageAt(lastPage + 10 * minute)).toMatchObject({ status: 'no_recorded_gaps', gaps: [] });
    const gaps = [{ ...wireOf({ start: lastPage, end: until }), reason: 'source_unavailable' }];
    expect(coverageAt(end)).toMatchObject({ status: 'unknown', gaps });
  });

  it('is not affected by a silence after its interval', () => {
    const inputs = {
      interval: { start, end: micros(end - 7 * hour) },
      askedStart: start,
      labeler: undefined,
      now: end,
      epoch: { generationId: 'g', startedAt: micros(start - hour) },
      frontier: { generationId: 'g', floor: start, end, observedThrough: micros(end - 6 * hour), revision: 0 },
      gaps: [],
      roster: [known(one)],
      everRead: new Set([one]),
    };
    expect(coverageOf(inputs)).toMatchObject({ status: 'no_recorded_gaps', gaps: [] });
  });

  it("lists a labeler that is no longer enrolled with a gap since the end of the labeler's complete data", () => {
    const left = { ...known(two, 'established', false), lastAnswered: micros(start + 3 * hour) };
    const gaps = [{ start: '2026-11-20T15:00:00.000000Z', end: '2026-11-21T12:00:00.000000Z' }];
    expect(coverage([], [known(one), left])).toMatchObject({
      status: 'unknown',
      labelers: [
        { labeler_did: one, gaps: [] },
        { labeler_did: two, state: 'not_enrolled', gaps },
      ],
    });
    const complete = { ...left, lastAnswered: end, completeThrough: micros(start + 3 * hour) };
    expect(coverage([], [complete]).labelers).toMatchObject([{ labeler_did: two, gaps }]);
  });

  it('merges the gap of a departed labeler with a recorded gap that has the same reason, so that no time is in two gaps with one reason', () => {
    const left = { ...known(two, 'established', false), lastAnswered: micros(start + 3 * hour) };
    const recorded = [gap(two, 1, 2, 'cursor_reset'), gap(two, 3, 20, 'source_unavailable')];
    expect(coverage(recorded, [left]).labelers).toEqual([
      {
        labeler_did: two,
        state: 'not_enrolled',
        gaps: [
          { start: '2026-11-20T13:00:00.000000Z', end: '2026-11-20T14:00:00.000000Z', reason: 'cursor_reset' },
          { start: '2026-11-20T15:00:00.000000Z', end: '2026-11-21T12:00:00.000000Z', reason: 'source_unavailable' },
        ],
      },
    ]);
  });

  it('excludes a labeler that is not enrolled, unless it has a gap in the interval', () => {
    const gone = known(two, 'established', false);
    expect(coverage([], [known(one), gone]).labelers).toHaveLength(1);
    expect(coverage([gap(two, 1, 2)], [known(one), gone])).toMatchObject({
      status: 'unknown',
      labelers: [{ labeler_did: one }, { labeler_did: two, state: 'not_enrolled' }],
    });
  });
});

describe('gaps beyond the limit', () => {
  const gaps = fc.array(
    fc
      .tuple(
        fc.integer({ min: 0, max: 500 }),
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom('maintenance', 'cursor_reset'),
      )
      .map(([from, length, reason]) => gap(one, from, from + length, reason as StoredGap['reason'])),
    { minLength: 1, maxLength: 40 },
  );

  it('are merged with the closest gaps, so that all missed time stays covered and the first start and last end stay the same', () => {
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 8 }), (all, limit) => {
        const got = atMost(all, limit);
        expect(got.length).toBeLessThanOrEqual(limit);
        for (const { start: from, end: to } of all) {
          expect(got.some((joined) => joined.start <= from && joined.end >= to)).toBe(true);
        }
        const edge = (of: readonly { start: number; end: number }[]) => [
          Math.min(...of.map((each) => each.start)),
          Math.max(...of.map((each) => each.end)),
        ];
        expect(edge(got)).toEqual(edge(all));
      }),
    );
  });

  it('keep their reason if all merged gaps have the same reason, and otherwise have the reason unknown', () => {
    const [first, ...rest] = atMost([gap(one, 0, 1), gap(one, 2, 3), gap(one, 9, 10, 'maintenance')], 2);
    expect(first).toMatchObject({ reason: 'ingest_paused', end: start + 3 * hour });
    expect(rest).toMatchObject([{ reason: 'maintenance' }]);
    expect(atMost([gap(one, 0, 1), gap(one, 2, 3, 'maintenance')], 1)).toMatchObject([{ reason: 'unknown' }]);
  });
});
