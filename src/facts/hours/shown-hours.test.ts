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

describe('an hour in which every labeler has a gap that was not filled in', () => {
  const incomplete = 'no labeler was read completely';
  const other = 'did:web:labels.example.com';

  /**
   * Returns the file up to the end of hour 50. The labelers were read in hour 50 for the given number of seconds each,
   * which sum up to that of the hour.
   */
  const read = (file: LabelsHours, seconds: readonly number[], counts: readonly [number, number]): LabelsHours => {
    const sum = seconds.reduce((total, one) => total + one, 0);
    const [applications, removals] = counts.map((count) => (sum === 0 && count === 0 ? null : count));
    const own = { applications: applications ?? null, removals: removals ?? null, repeats: sum === 0 ? null : 0 };
    return {
      ...file,
      through: file.hours[51]?.start ?? '',
      hours: file.hours.slice(0, 51).with(50, { ...file.hours[50], ...own, labeler_seconds: sum } as never),
      labelers: file.labelers.map((labeler, at) => ({
        ...labeler,
        applications: labeler.applications.slice(0, 51).with(50, (seconds[at] ?? 0) > 0 ? 0 : null),
        removals: labeler.removals.slice(0, 51).with(50, (seconds[at] ?? 0) > 0 ? 0 : null),
        observed_seconds: labeler.observed_seconds.slice(0, 51).with(50, seconds[at] ?? 0),
      })),
    };
  };
  const both = () => labelsHoursFixture({ generatedAt, labelers: ['did:plc:ewvi7nxzyoun6zhxrhs64oiz', other] });
  const binOf = (file: LabelsHours) => labelsChart(file).series.bins[50];

  it('was observed as long as the labeler that was read for the longest time', () => {
    const file = read(both(), [20, 15], [0, 0]);
    const { series, answer } = labelsChart(file);
    expect(series.bins[50]).toMatchObject({ value: 0, below: 0, observed: 20 / 3_600, reason: incomplete });
    expect(series.holes).toEqual([]);
    expect(answer).toContain(instantText(file.hours[49]?.start ?? ''));
    expect(answer).toContain('98 applications and 2 removals');
    expect(summaryOf(labelsChart(file))).toContain('0 hours not observed, 1 hour observed in part;');
  });

  it('was observed entirely if one labeler was read throughout, whether others were added or lost within it', () => {
    expect(binOf(read(both(), [3_600, 20], [7, 1]))).toMatchObject({ value: 7, observed: 1, reason: null });
    expect(binOf(read(both(), [3_600, 0], [7, 1]))).toMatchObject({ value: 7, observed: 1, reason: null });
  });

  it('was observed in part if its only labeler was added within it', () => {
    expect(binOf(read(labelsFile(), [2_400], [7, 1]))).toMatchObject({ observed: 2 / 3, value: 7, reason: incomplete });
  });

  it('is a hole if no labeler was read in any second; labels that were accepted in it stay, a count of zero does not', () => {
    const file = read(labelsFile(), [0], [5, 0]);
    const { series } = labelsChart(file);
    const start = series.bins[50]?.start ?? 0;
    expect(series.holes).toEqual([{ start, end: start + hourMs, reason: incomplete }]);
    expect(series.bins[50]).toMatchObject({ value: 5, below: null, observed: 0, reason: incomplete });
    expect(binOf(read(labelsFile(), [0], [0, 3]))).toMatchObject({ value: null, below: 3, reason: incomplete });
  });

  it('has the observed time of the instrument in a file without a list of labelers', () => {
    const file = { ...read(labelsFile(), [20], [0, 0]), labelers: [] };
    expect(binOf(file)).toMatchObject({ value: 0, observed: 1, reason: null });
  });

  it('of which only a part has passed was observed entirely so far, or in part', () => {
    const file = labelsFile();
    const last = file.hours.length - 1;
    const seconds = file.hours[last]?.observed_seconds ?? 0;
    expect(file.hours[last]).toMatchObject({ complete: false, labeler_seconds: seconds });
    expect(labelsChart(file).series.bins[last]).toMatchObject({ observed: 1, reason: null });
    const labelers = file.labelers.map((labeler) => ({
      ...labeler,
      observed_seconds: labeler.observed_seconds.with(last, seconds / 4),
    }));
    expect(labelsChart({ ...file, labelers }).series.bins[last]).toMatchObject({ observed: 1 / 4, reason: incomplete });
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

test('an hour of which less than a second was observed has no rate, and is not the busiest one', () => {
  const [series] = weatherHoursFixture({ generatedAt }).series;
  if (!series) throw new Error('the fixture has no series');
  const ratesWith = (observed_seconds: number) => {
    const hours = series.hours.map((hour, at) => (at === 50 ? { ...hour, events: 10, observed_seconds } : hour));
    const likes = series.collections['like.create'];
    if (!likes) throw new Error('the fixture has no likes');
    const collections = {
      ...series.collections,
      'like.create': {
        events: likes.events.with(50, 10),
        observed_seconds: likes.observed_seconds.with(50, observed_seconds),
      },
    };
    const file = { ...series, hours, collections };
    return [weatherChart(file), weatherChart(file, 'like.create')].map((chart) => chart.series.bins[50]?.value);
  };
  expect([0.000001, 0.999999, 1].map(ratesWith)).toEqual([
    [null, null],
    [null, null],
    [10, 10],
  ]);
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
