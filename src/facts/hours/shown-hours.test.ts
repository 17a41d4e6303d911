import { describe, expect, it, test } from 'vitest';
import { labelsHoursFixture, weatherHoursFixture } from '../../../harness/artifacts/hours.ts';
import type { LabelsHours } from '../../artifact/hours/labels-hours.ts';
import { instantText } from '../../web/format.ts';
import { signsOf, summaryOf } from './chart-figure.tsx';
import { labelsChart, weatherChart } from './shown-hours.ts';

/** A chart of the last hours draws and states as observed only what was observed. */

const hourMs = 3_600_000;
const generatedAt = Date.parse('2026-11-20T12:00:30Z');

/** In hour `at`, there are `at` applications and one removal. */
const labelsFile = (): LabelsHours =>
  labelsHoursFixture({ generatedAt, labelers: ['did:plc:ewvi7nxzyoun6zhxrhs64oiz'] });

describe('an outage in which the instrument ran but no labeler was read', () => {
  const late = { applications: 0, removals: 0, observed_seconds: 0 };
  /** Hours 50 and 51 were read late entirely; hour 49 was read live only in its first five minutes. */
  const outage = (file: LabelsHours) => ({
    ...file,
    hours: file.hours.map((hour, at) => {
      const labeler_seconds = at === 49 ? 3_300 : 3_600;
      if (at === 49) return { ...hour, filled_in: { ...late, labeler_seconds } };
      if (at !== 50 && at !== 51) return hour;
      return { ...hour, ...{ applications: 0, removals: 0 }, filled_in: { ...late, labeler_seconds } };
    }),
  });
  const reason = 'read later, after an outage';

  it('is a hole after it was filled in, and its count of zero is not drawn', () => {
    const { series } = labelsChart(outage(labelsFile()));
    const start = series.bins[50]?.start ?? 0;
    expect(series.holes).toEqual([{ start, end: start + 2 * hourMs, reason }]);
    expect(
      series.bins.slice(49, 53).map(({ value, below, observed, reason: why }) => [value, below, observed, why]),
    ).toEqual([
      [49, 1, 1 - 3_300 / 3_600, reason],
      [null, null, 0, reason],
      [null, null, 0, reason],
      [52, 1, 1, null],
    ]);
  });

  it('is not the last hour that the answer is about', () => {
    const file = outage(labelsFile());
    const hours = file.hours.slice(0, 52);
    const { answer } = labelsChart({ ...file, hours, through: file.hours[52]?.start ?? '' });
    expect(answer).toContain(instantText(file.hours[48]?.start ?? ''));
    expect(answer).toContain('48 applications and 1 removals');
  });

  it('is a hole if its counts are unknown, and the answer is about the hour before it', () => {
    const file = labelsFile();
    const nothing = { applications: null, removals: null, repeats: null, labeler_seconds: 0 };
    const hours = file.hours.map((hour, at) => (at === 50 ? { ...hour, ...nothing } : hour)).slice(0, 51);
    const { series, answer } = labelsChart({ ...file, hours, through: file.hours[51]?.start ?? '' });
    const start = series.bins[50]?.start ?? 0;
    expect(series.holes).toEqual([{ start, end: start + hourMs, reason: 'no labeler was read' }]);
    expect(series.bins[50]).toMatchObject({ value: null, below: null, observed: 0, reason: 'no labeler was read' });
    expect(answer).toContain(instantText(file.hours[49]?.start ?? ''));
  });
});

test('one of many labelers that was read late leaves an hour observed', () => {
  const file = labelsFile();
  const late = { applications: 7, removals: 1, observed_seconds: 0, labeler_seconds: 1_800 };
  const hours = file.hours.map((hour, at) => (at === 50 ? { ...hour, filled_in: late } : hour));
  expect(labelsChart({ ...file, hours }).series.bins[50]).toMatchObject({ value: 43, observed: 1, reason: null });
});

test('a shorter outage of all labelers that was filled in leaves an hour observed in part', () => {
  const file = labelsFile();
  const lateOf = (observed_seconds: number) => ({ applications: 2, removals: 0, observed_seconds });
  const hours = file.hours.map((hour, at) =>
    at === 50 ? { ...hour, filled_in: { ...lateOf(1_500), labeler_seconds: 1_500 } } : hour,
  );
  const labelers = file.labelers.map((labeler) => ({ ...labeler, filled_in: [{ at: 50, ...lateOf(1_500) }] }));
  expect(labelers.length).toBeGreaterThan(0);
  expect(labelsChart({ ...file, hours, labelers }).series.bins[50]).toMatchObject({
    ...{ observed: 2_100 / 3_600, reason: 'read later, after an outage' },
  });
});

test('a chart of all labelers states that collection ran, not that every hour was observed entirely', () => {
  const chart = labelsChart(labelsFile());
  expect(summaryOf(chart)).not.toMatch(/observed entirely/);
  expect(summaryOf(chart)).toMatch(/ Collection ran in every hour; single labelers may not have been read\.$/);
  expect(chart.answer).toMatch(/^In the last full hour of collection, 20 Nov 2026, 10:00 UTC, /);
  expect(signsOf(chart).at(-1)).toEqual(['seen', 'strip below: label collection']);
});

describe('the answer about the usual range', () => {
  /**
   * Returns the answer for hours with the usual range 30 to 40, with changes of single hours. If `silent`, likes were
   * silent in the last day.
   */
  const answerOf = (changes: Record<number, object>, { silent = false } = {}) => {
    const [series] = weatherHoursFixture({ generatedAt }).series;
    if (!series) throw new Error('the fixture has no series');
    const usual = { low: 30, high: 40, days: 9 };
    const hours = series.hours.map((hour, at) => ({ ...hour, usual, ...changes[at] }));
    const silence = {
      ...{ start: hours[48]?.start ?? '', end: series.through },
      ...{ reason: 'silent' as const, collection: 'like.create' as const },
    };
    return weatherChart({ ...series, hours, gaps: [...series.gaps, ...(silent ? [silence] : [])] }).answer;
  };

  it('states no start if the whole chart is outside it', () => {
    expect(answerOf({})).toMatch(/: less than usual for that hour \(30 to 40\), for at least the hours shown\.$/);
  });

  it('states the start, or that it may be earlier if the hour before is unknown', () => {
    const usual = { low: 0, high: 99, days: 9 };
    expect(answerOf({ 60: { usual } })).toMatch(/, since 20 Nov 2026, 01:00 UTC\.$/);
    expect(answerOf({ 60: { usual: null } })).toMatch(/, since 20 Nov 2026, 01:00 UTC or earlier\.$/);
  });

  it('compares no hour that has no usual range, and states whether kinds were silent in it', () => {
    const none = { usual: null };
    const last = { 70: none, 71: none };
    const all = Object.fromEntries(Array.from({ length: 72 }, (_, at) => [at, none]));
    expect(answerOf(last)).toMatch(/ per second arrived\. That hour cannot be compared with earlier days\.$/);
    const silent =
      / arrived\. That hour cannot be compared with earlier days; some kinds of events were silent in it\.$/;
    expect(answerOf(last, { silent: true })).toMatch(silent);
    expect(answerOf(all, { silent: true })).toMatch(silent);
    expect(answerOf(all)).toMatch(/ arrived\. There is too little history to say whether that is usual\.$/);
  });
});
