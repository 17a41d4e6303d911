import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labelerFixture } from '../../../harness/artifacts/labelers.ts';
import type { LabelerLine } from '../../artifact/labelers.ts';
import { isUnreadSpan, labelerConclusion, listConclusion, unreadDays } from './project-labeler.ts';

const window = { start: '2026-10-21T12:00:00.000Z', end: '2026-11-20T12:00:00.000Z' };
const readDay: LabelerLine['days'][number] = [3, 1, 1];
const unreadDay: LabelerLine['days'][number] = [null, null, 0];
const partDay: LabelerLine['days'][number] = [2, 0, 0.5];

function line(changes: Partial<LabelerLine>) {
  const days = Array.from({ length: 31 }, () => readDay);
  return { state: 'established' as const, state_since: '2026-10-06T09:30:00.000Z', days, gaps: [], ...changes };
}

function gap(start: string, end: string): LabelerLine['gaps'][number] {
  return { start, end, reason: 'source_unavailable' };
}

const lastDays = (...days: LabelerLine['days']): LabelerLine['days'] => [
  ...Array.from({ length: 31 - days.length }, () => readDay),
  ...days,
];

describe('a span', () => {
  it.each([
    ['of a week is unread if eight calendar days were unread', 'week', 8, unreadDay, true],
    ['of a week is not unread if only seven calendar days were unread', 'week', 7, unreadDay, false],
    ['of a week is not unread if a day was read in part', 'week', 8, partDay, false],
    ['of 24 hours is unread if two calendar days were unread', 'day', 2, unreadDay, true],
    ['of 24 hours is not unread if only one calendar day was unread', 'day', 1, unreadDay, false],
    ['of the whole window is unread if no day was read', 'window', 31, unreadDay, true],
    ['of the whole window is not unread if one day was read', 'window', 30, unreadDay, false],
  ] as const)('%s', (_, span, count, day, isUnread) => {
    const days = lastDays(...Array.from({ length: count }, () => day));
    expect(isUnreadSpan(line({ days }), window, span)).toBe(isUnread);
  });

  it.each([
    ['is unread if it begins within', 24 * 3600, true],
    ['is not unread if it begins before', 24 * 3600 - 1, false],
  ])('of 24 hours %s a gap that lasts until the end of the window', (_, seconds, isUnread) => {
    const start = new Date(Date.parse(window.end) - seconds * 1000).toISOString();
    expect(isUnreadSpan(line({ gaps: [gap(start, window.end)] }), window, 'day')).toBe(isUnread);
  });

  it.each([
    ['is unread if the labeler departed 24 hours before the end of the window', '2026-11-19T12:00:00.000Z', true],
    ['is not unread if the labeler departed 23 hours before the end of the window', '2026-11-19T13:00:00.000Z', false],
  ])('of 24 hours %s', (_, state_since, isUnread) => {
    expect(isUnreadSpan(line({ state: 'departed', state_since }), window, 'day')).toBe(isUnread);
  });
});

describe('the conclusion about a labeler', () => {
  it('names the first day that was read from its start after the last gap', () => {
    const gaps = [
      gap('2026-10-30T00:00:00Z', '2026-10-31T08:00:00Z'),
      gap('2026-11-01T05:00:00Z', '2026-11-02T18:00:00Z'),
    ];
    expect(labelerConclusion(line({ gaps }), window)).toBe('Read without a gap since 3 November.');
  });

  it('names the day that begins when the gap ends at midnight', () => {
    const gaps = [gap('2026-11-01T05:00:00Z', '2026-11-03T00:00:00Z')];
    expect(labelerConclusion(line({ gaps }), window)).toBe('Read without a gap since 3 November.');
  });

  it('names the first whole day of the window if there is no gap', () => {
    expect(labelerConclusion(line({}), window)).toBe('Read without a gap since 22 October.');
  });

  it('states how many of the last days were not read', () => {
    expect(labelerConclusion(line({ days: lastDays(unreadDay, unreadDay, readDay) }), window)).toBe(
      'Not read on 2 of the last 7 days; what it did then is not known.',
    );
  });

  it('counts partly read days separately from unread days', () => {
    expect(labelerConclusion(line({ days: lastDays(partDay, readDay) }), window)).toBe(
      'Read only in part on 1 of the last 7 days; what it did in the gaps is not known.',
    );
    expect(labelerConclusion(line({ days: lastDays(partDay, unreadDay) }), window)).toBe(
      'Not read on 1 and read only in part on 1 of the last 7 days; what it did then is not known.',
    );
  });

  it('ignores unread days before the last seven days', () => {
    const days = [
      unreadDay,
      ...Array.from({ length: 23 }, () => unreadDay),
      ...Array.from({ length: 7 }, () => readDay),
    ];
    expect(unreadDays(days)).toBe(0);
  });

  it('names the start of the first of several adjoining gaps that last until now, even if their reasons differ', () => {
    const gaps = [
      gap('2026-11-18T04:00:00Z', '2026-11-19T00:00:00Z'),
      { ...gap('2026-11-19T00:00:00Z', window.end), reason: 'ingest_paused' as const },
    ];
    expect(labelerConclusion(line({ gaps, days: lastDays(partDay, unreadDay, unreadDay) }), window)).toBe(
      'Not read since 18 November; what it has done since then is not known.',
    );
  });

  it('states that nothing is known if no day was read', () => {
    expect(labelerConclusion(line({ days: Array.from({ length: 31 }, () => unreadDay) }), window)).toBe(
      'Not read at any time in the window; what it did is not known.',
    );
  });

  it('names the day on which a labeler left the enrolment', () => {
    const left = line({ state: 'departed', state_since: '2025-11-05T10:00:00Z' });
    expect(labelerConclusion(left, window)).toBe(
      'Not followed since 5 November 2025; what it has done since then is not known.',
    );
  });

  it('states that nothing is known of a labeler that left the enrolment and was not read in the window', () => {
    const days = Array.from({ length: 31 }, () => unreadDay);
    expect(labelerConclusion(line({ state: 'denied', state_since: '2026-11-05T10:00:00Z', days }), window)).toBe(
      'Not followed since 5 November; what it did in the window is not known.',
    );
  });

  it('claims reading without a gap only if each of the last seven days was read completely', () => {
    const fixtures = labelerFixture({ count: 400, seed: 7, generatedAt: Date.parse(window.end) });
    fc.assert(
      fc.property(fc.constantFrom(...fixtures.labelers), (labeler) => {
        const said = labelerConclusion(labeler, fixtures.header.window);
        const whole = labeler.days.slice(-7).every(([, , share]) => share === 1);
        if (said.startsWith('Read without')) expect(whole).toBe(true);
        if (!whole) expect(said).toContain('not known');
      }),
      { numRuns: 300 },
    );
  });
});

describe('the conclusion about all labelers', () => {
  it.each([
    [0, 0, 'Almanac follows no labeler, so nothing is known about any.'],
    [2, 2, '2 of the 2 labelers that Almanac follows were read without a gap in the last 7 days.'],
    [
      11,
      0,
      'None of the 11 labelers that Almanac follows was read without a gap in the last 7 days: the activity of each is known only in part.',
    ],
    [
      3,
      1,
      '1 of the 3 labelers that Almanac follows was read without a gap in the last 7 days. The activity of the other 2 is known only in part.',
    ],
  ])('has a grammatical text for %i labelers of which %i were read completely', (enrolled, complete, text) => {
    expect(listConclusion({ enrolled, complete, omitted: 0 })).toBe(text);
  });

  it.each([
    [0, 0, 'Almanac follows none of the listed labelers, so nothing is known about their present activity.'],
    [
      5_000,
      0,
      'None of the 5,000 listed labelers that Almanac follows was read without a gap in the last 7 days: the activity of each is known only in part.',
    ],
    [
      5_000,
      4_999,
      '4,999 of the 5,000 listed labelers that Almanac follows were read without a gap in the last 7 days. The activity of the other one is known only in part.',
    ],
  ])(
    'describes only the listed labelers if others are omitted: %i, of which %i were read',
    (enrolled, complete, text) => {
      expect(listConclusion({ enrolled, complete, omitted: 2_000 })).toBe(text);
    },
  );
});
