import { expect, test } from 'vitest';
import {
  allHours,
  archived,
  dayMs,
  longestIssues,
  nameAt,
  newest,
  now,
  year,
  yearOf,
} from '../../../harness/archive/archived-year.ts';
import { pathPoints } from '../../../harness/pages/html.ts';
import { formatIssues, type KnownIssue, parseIssues } from '../../archive/days/known-issues.ts';
import { formatIndex } from '../../archive/days/records.ts';
import { errorTable } from '../../contract/errors.ts';
import { renderPart } from '../../web/document.tsx';
import { factsCommonHeaders } from '../app.ts';
import { archivePage, monthPage } from './archive-page.tsx';
import { RateChart, recentHtml } from './chart.tsx';
import { type ArchivedDay, type ArchivedIssue, chartDays, dayChart, hourGaps, type Period } from './model.ts';

/** The archive page draws only what was observed, and each day links to its files. */

const last = (count: number, at = now): Period => ({ count, now: at, areLabelsShown: true });
const unobserved = { count: null, observedSeconds: 0, wholeHours: [] };

const shownLabels = null;

const htmlOf = (days: readonly ArchivedDay[] | null, at = now): string => {
  const { status, body } = archivePage(factsCommonHeaders, { days: () => days, issues: () => [] })(
    'identity',
    at,
    shownLabels,
  );
  expect(status).toBe(days === null ? 503 : 200);
  return body?.toString('utf8') ?? '';
};
const sectionOf = (
  days: readonly ArchivedDay[],
  { at = now, refusal = null, issues = [] }: { at?: number; refusal?: string | null; issues?: ArchivedIssue[] } = {},
): string => recentHtml({ days: () => days, issues: () => issues }, at, refusal) ?? '';
const linesOf = (html: string, kind: string): string[] =>
  [...html.matchAll(new RegExp(`class="line-${kind}" d="([^"]*)"`, 'g'))].map(([, path = '']) => path);

test('rates are computed from the observed time only, and a day without a directory in the archive has no rates', () => {
  const half = { count: 4_320, observedSeconds: 43_200, wholeHours: allHours.slice(0, 12) };
  const days = [archived('2026-11-18', { weather: half, labels: half }), archived('2026-11-20')];
  expect(chartDays(days, last(3))).toMatchObject([
    { day: '2026-11-18', eventsPerSecond: 0.1, labelsPerHour: 360, isWeatherPartial: true },
    { day: '2026-11-19', isArchived: false, eventsPerSecond: null, labelsPerHour: null },
    { day: '2026-11-20', eventsPerSecond: 700, labelsPerHour: 100, isWeatherPartial: false },
  ]);
});

test('a day of which less than a second was observed has no rate of events', () => {
  const rateOf = (observedSeconds: number) => {
    const stray = archived('2026-11-20', { weather: { count: 3, observedSeconds, wholeHours: [] } });
    return chartDays([stray], last(1)).map(({ eventsPerSecond }) => eventsPerSecond);
  };
  expect([0.000003, 0.999999, 6].map(rateOf)).toEqual([[null], [null], [0.5]]);
});

test('a day with events of which less than a second was observed is not stated as unobserved', () => {
  const stray = { count: 3, observedSeconds: 0.000003, wholeHours: [] };
  const days = [archived('2026-11-19', { weather: unobserved }), archived('2026-11-20', { weather: stray })];
  const shown = chartDays(days, last(3));
  const { series } = dayChart(shown, 'events', { id: 'days', now });
  const day = (name: string) => Date.parse(name);
  expect(series.bins.map(({ reason }) => reason)).toEqual(['not in the archive', 'not observed', 'hardly observed']);
  expect(series.holes).toEqual([
    { start: day('2026-11-18'), end: day('2026-11-19'), reason: 'not in the archive' },
    { start: day('2026-11-19'), end: day('2026-11-20'), reason: 'not observed' },
    { start: day('2026-11-20'), end: now, reason: 'hardly observed' },
  ]);
  const html = htmlOf(days);
  expect(html.match(/weather not observed/g)).toHaveLength(1);
  expect(html.match(/weather hardly observed/g)).toHaveLength(1);
});

test('a day with labels but without an hour that has a rate is not stated as unobserved', () => {
  const labels = { count: 500, observedSeconds: 1_500, wholeHours: [], late: { count: 0, rate: null } };
  const days = [
    archived('2026-11-19', { labels: { ...labels, observedSeconds: 43_200, late: { count: 300, rate: null } } }),
    archived('2026-11-20', { labels }),
  ];
  const { series } = dayChart(chartDays(days, last(2)), 'labels', { id: 'days', now });
  expect(series.bins.map(({ value, reason }) => [value, reason])).toEqual([
    [null, 'without an hour with a rate'],
    [null, 'without an hour with a rate'],
  ]);
  expect(htmlOf(days)).toContain('<td>labels without an hour with a rate, 300 read late</td>');
  expect(htmlOf(days)).toContain('<td>labels without an hour with a rate</td>');
  const refused = dayChart(chartDays(days, { ...last(2), areLabelsShown: false }), 'labels', { id: 'days', now });
  expect(refused.series.bins.map(({ reason }) => reason)).toEqual(['not observed', 'not observed']);
});

test('labels that were read late are no part of the rate of a day, and are marked and stated apart', () => {
  const peak = { count: 1_800, observedSeconds: 68_391, wholeHours: allHours.slice(6) };
  const days = [
    archived('2026-11-18', { labels: { ...peak, late: { count: 303, rate: 61 / 3_600 } } }),
    archived('2026-11-19', { labels: { ...peak, late: { count: 0, rate: 61 / 3_600 } } }),
    archived('2026-11-20', { labels: peak }),
  ];
  const [late, none, unknown] = chartDays(days, last(3));
  expect(late).toMatchObject({ labelsPerHour: 61, lateLabels: 303 });
  expect(none).toMatchObject({ labelsPerHour: 61 });
  expect(none).not.toHaveProperty('lateLabels');
  expect(unknown).toMatchObject({ labelsPerHour: 94.749, lateLabels: null });
  const html = htmlOf(days, now);
  expect(html).toMatch(/class="plot-apart" stroke-width="4" d="M900,4h33.3"/);
  expect(html).toContain('<td>61, 303 read late, 79.16\u00a0% observed</td>');
  expect(html).toContain('days with labels that were read late, after an outage');
  expect(html).toContain('does not state late labels apart for one day');
});

test('a line of the chart is interrupted only at a day that was not observed', () => {
  const [weather = ''] = linesOf(htmlOf(year), 'weather');
  expect(weather.match(/M/g)).toHaveLength(1);
  const broken = year.with(-10, archived(year.at(-10)?.day ?? '', { weather: unobserved }));
  const [cut = '', cutYear = ''] = linesOf(htmlOf(broken), 'weather');
  expect([cut.match(/M/g)?.length, cutYear.match(/M/g)?.length]).toEqual([2, 2]);
  expect(linesOf(htmlOf(broken), 'labels')[0]?.match(/M/g)).toHaveLength(1);
  expect(htmlOf(broken)).toContain('weather not observed');
});

const monthOf = (days: readonly ArchivedDay[], month: string): string | null => {
  const page = monthPage(factsCommonHeaders, { days: () => days, issues: () => [] });
  return page('identity', month, { now, refusal: null, origins: [] })?.body?.toString('utf8') ?? null;
};

test('the page links to the files of each day of the last month, and to a page of every month, which links to the files of its days', () => {
  const html = htmlOf(year);
  for (const name of ['weather-gaps.csv', 'labels-gaps.csv']) expect(html).toContain(`<code>${name}</code>`);
  const files = (day: string) =>
    ['day.json', 'weather-totals.csv', 'labels-totals.csv'].map((file) => `days/${day}/${file}`);
  for (const { day } of year.slice(-30)) {
    for (const file of files(day)) expect(html).toContain(`href="./archive/${file}"`);
  }
  const months = [...new Set(year.map(({ day }) => day.slice(0, 7)))];
  for (const month of months) {
    expect(html).toContain(`<a href="./months/${month}">`);
    const own = monthOf(year, month) ?? '';
    const days = year.map(({ day }) => day).filter((day) => day.startsWith(month));
    for (const file of days.flatMap(files)) expect(own).toContain(`href="../archive/${file}"`);
    expect(own.match(/<tr><th scope="row">/g)).toHaveLength(days.length);
  }
  expect(months.length).toBe(13);
  expect(html).toContain('Every day of the last 12 months, by month, as charts');
  expect(monthOf([archived('2025-11-20'), ...year], '2025-11')).toBe(monthOf(year, '2025-11'));
  const others = ['2025-10', '2026-12', '2026-1', '2026', '2026-11-20', '', 'x'];
  expect(others.filter((month) => monthOf(year, month) !== null)).toEqual([]);
});

test('while the archive cannot be read, the page of a month is unavailable like that of the archive, and only a text of another form is not found', () => {
  const source = { days: () => null, issues: () => [] };
  const archive = archivePage(factsCommonHeaders, source)('identity', now, null);
  const page = monthPage(factsCommonHeaders, source);
  const replyTo = (month: string) => page('identity', month, { now, refusal: null, origins: [] });
  expect(archive.status).toBe(503);
  expect(replyTo('2026-11')).toEqual(archive);
  expect(['2026', '2026-1', 'x', ''].map(replyTo)).toEqual([null, null, null, null]);
});

test('the page describes the archive as a dataset, with the same content as the text for citations', () => {
  const html = htmlOf(year);
  const data: unknown = JSON.parse(/<script type="application\/ld\+json">(.*?)<\/script>/s.exec(html)?.[1] ?? '');
  const first = year[0]?.day;
  expect(data).toMatchObject({
    ...{ '@context': 'https://schema.org', '@type': 'Dataset', isAccessibleForFree: true },
    ...{ temporalCoverage: `${first}/2026-11-20`, license: 'https://creativecommons.org/publicdomain/zero/1.0/' },
  });
  const { name, description, measurementTechnique, license, distribution } = data as {
    readonly [key in 'name' | 'description' | 'measurementTechnique' | 'license']: string;
  } & { readonly distribution: readonly { readonly name: string; readonly contentUrl: string }[] };
  const cited = html.slice(html.indexOf('id="cite"'), html.indexOf('<script type="application'));
  for (const text of [name, description, measurementTechnique, license, '20 Nov 2026']) expect(cited).toContain(text);
  expect(distribution.length).toBeGreaterThan(0);
  for (const file of distribution) expect(cited).toContain(`<a href="${file.contentUrl}">${file.name}</a>`);
  expect(htmlOf([])).not.toContain('ld+json');
});

test('the page of a year is smaller than 70 kB', () => {
  expect(Buffer.byteLength(htmlOf(year))).toBeLessThan(70_000);
  expect(Buffer.byteLength(htmlOf(yearOf(365)))).toBeLessThan(70_000);
});

test('the page links to the tables of the first edition on a day that has no others', () => {
  const html = htmlOf([archived('2026-11-19', { hasFirstTables: true }), archived('2026-11-20')]);
  expect(html).toContain('href="./archive/days/2026-11-19/weather-by-hour.csv"');
  expect(html).not.toContain('days/2026-11-19/weather-totals.csv');
  expect(html).toContain('href="./archive/days/2026-11-20/weather-totals.csv"');
});

test.each([1, 2, 3])('the page of a year with a partial day every %i day(s) is smaller than 75 kB', (every) => {
  expect(Buffer.byteLength(htmlOf(yearOf(every)))).toBeLessThan(75_000);
});

test('the index of an archive with one year is smaller than 100 kB', () => {
  const days = year.map(({ day }) => ({ day, state: 'closed' as const, sha256: '0'.repeat(64) }));
  expect(formatIndex({ key: 'k'.repeat(400), days }).length).toBeLessThan(100_000);
});

test('the strip below a line shows the observed share of each day, and a partly observed day never as a whole one', () => {
  const half = { count: 1, observedSeconds: 43_200, wholeHours: [] };
  const almost = { count: 1, observedSeconds: 86_399.9, wholeHours: allHours.slice(1) };
  const days = year.map((one, at) => {
    const weather = [360, 361].includes(at) ? half : at === 362 ? almost : at === 363 ? unobserved : one.weather;
    return archived(one.day, { weather });
  });
  const [strip = ''] = [...htmlOf(days).matchAll(/class="plot-observed" d="([^"]*)"/g)].map(([, path]) => path);
  const x = (day: number): number => (1000 / 30) * day;
  const levels = pathPoints(strip ?? '').map(({ x: at, y }) => [Math.round(at), y]);
  expect(levels).toEqual(
    [
      [0, 200],
      [0, 0],
      [25, 0],
      [25, 100],
      [27, 100],
      [27, 60],
      [28, 60],
      [28, 200],
      [29, 200],
      [29, 0],
      // The newest day ends after one hour, at the present.
      [29 + 1 / 24, 0],
      [29 + 1 / 24, 200],
    ].map(([day = 0, y = 0]) => [Math.round(x(day)), y]),
  );
});

test('a line shows the value of each day over the observed days, and breaks at every day without a value', () => {
  const counts = [86_400, null, 172_800, 43_200, 0, null];
  const days = counts.map((count, at) =>
    archived(nameAt(newest - (5 - at) * dayMs), {
      weather: count === null ? unobserved : { count, observedSeconds: 86_400, wholeHours: allHours },
    }),
  );
  const parts = { base: '.', length: 'month', now, tableAt: '#days', areLabelsShown: true } as const;
  const chart = renderPart(RateChart({ ...parts, days: chartDays(days, last(6)) }));
  const [path = ''] = linesOf(chart, 'weather');
  const y = (rate: number): number => 200 - (rate / 2) * 184;
  const points = pathPoints(path);
  expect(points.filter(({ isStart }) => isStart).map(({ x }) => Math.round(x))).toEqual([0, 333]);
  expect(points.map(({ x, y: at }) => [Math.round(x), at])).toEqual([
    ...[
      [0, y(1)],
      [167, y(1)],
    ],
    ...[
      [333, y(2)],
      [500, y(2)],
      [500, y(0.5)],
      [667, y(0.5)],
      [667, y(0)],
      [833, y(0)],
    ],
  ]);
});

test('the page of a year is smaller than 100 kB and is rendered once per state of the archive', () => {
  expect(Buffer.byteLength(htmlOf(year))).toBeLessThan(100_000);
  const page = archivePage(factsCommonHeaders, { days: () => year, issues: () => [] });
  expect(page('identity', now, shownLabels)).toBe(page('identity', now, shownLabels));
});

const without = (...gaps: number[]) => ({
  ...{ count: 1, observedSeconds: 1, wholeHours: allHours.filter((hour) => !gaps.includes(hour)) },
});

test('the gaps of both instruments are listed newest first and joined across midnight', () => {
  const days = [
    archived('2026-11-19', { weather: without(22, 23) }),
    archived('2026-11-20', { weather: without(0, 5), labels: without(4) }),
  ];
  expect(hourGaps(days, last(2, newest + dayMs - 1))).toEqual([
    { instrument: 'weather', start: '2026-11-20T05:00:00Z', end: '2026-11-20T06:00:00Z' },
    { instrument: 'labels', start: '2026-11-20T04:00:00Z', end: '2026-11-20T05:00:00Z' },
    { instrument: 'weather', start: '2026-11-19T22:00:00Z', end: '2026-11-20T01:00:00Z' },
  ]);
});

test('all hours of a day are gaps if its directory, table or rows are missing', () => {
  const weather = unobserved;
  const labels = null;
  const days = [archived('2026-11-18', { weather, labels })];
  expect(chartDays(days, last(3))).toMatchObject([
    { day: '2026-11-18', isArchived: true, isWeatherPartial: true, isLabelsPartial: true },
    { day: '2026-11-19', isArchived: false, isWeatherPartial: true, isLabelsPartial: true },
    { day: '2026-11-20', isArchived: false, isWeatherPartial: false },
  ]);
  const lost = { start: '2026-11-18T00:00:00Z', end: '2026-11-19T23:00:00Z' };
  expect(hourGaps(days, last(3))).toEqual([
    { instrument: 'weather', ...lost },
    { instrument: 'labels', ...lost },
  ]);
  expect(htmlOf(days)).not.toContain('was observed entirely');
  expect(htmlOf(year)).toContain(
    'Every hour that is due in the archive was observed entirely by the weather instrument. Collection of labels ran in every hour; single labelers may not have been read.',
  );
  expect(htmlOf(year)).toContain('Collection ran on every day; single labelers may not have been read.');
});

test('an hour that the archive lacks becomes a gap two hours after its end', () => {
  const days = [archived('2026-11-19'), archived('2026-11-20', { weather: without(), labels: without(3) })];
  const at = newest + 6 * 3_600_000;
  expect(hourGaps(days, last(2, at - 1))).toEqual([]);
  expect(hourGaps(days, last(2, at))).toMatchObject([{ instrument: 'labels', start: '2026-11-20T03:00:00Z' }]);
});

test('an hour that the archive reports as observed in part is a gap as soon as it has ended', () => {
  const whole = archived('2026-11-19');
  const part = { count: 8_820_000, observedSeconds: 12_600, wholeHours: [0, 1, 2], partHours: [3] };
  const at = newest + 4 * 3_600_000;
  const days = [whole, archived('2026-11-20', { weather: part })];
  expect(hourGaps(days, last(2, at - 1))).toEqual([]);
  expect(hourGaps(days, last(2, at))).toEqual([
    { instrument: 'weather', start: '2026-11-20T03:00:00Z', end: '2026-11-20T04:00:00Z' },
  ]);
  expect(chartDays(days, last(1, at))).toMatchObject([{ isWeatherPartial: true, weatherObserved: 0.875 }]);
  expect(htmlOf(days, at + 1_800_000)).toContain('<td>700, 87.5');
});

test('the chart ends with the present day, so that an archive that is no longer written does not look current', () => {
  const at = now + 60 * dayMs;
  const month = chartDays(year, last(30, at));
  expect(month.at(-1)).toMatchObject({ day: nameAt(at), isArchived: false, eventsPerSecond: null });
  expect(month.every(({ isArchived }) => !isArchived)).toBe(true);
  const html = htmlOf(year, at);
  expect(html).toContain('The newest day in the archive is 20 Nov 2026.');
  expect(html).toContain('19 Jan 2027, events per second unknown, labels per hour unknown');
  expect(html).toContain('weather unknown');
  expect(sectionOf(year, { at })).toContain('The newest day in the archive is 20 Nov 2026.');
});

test('the page is rendered again every hour even if the days have not changed', () => {
  const page = archivePage(factsCommonHeaders, { days: () => year, issues: () => [] });
  const first = page('identity', now, shownLabels);
  expect(page('identity', now + 60_000, shownLabels)).toBe(first);
  expect(page('identity', now + 3_600_000, shownLabels)).not.toBe(first);
  expect(page('identity', now - 3_600_000, shownLabels)).not.toBe(first);
});

test('while the label overview is refused, the page shows the reason for the refusal instead of labels', () => {
  const page = archivePage(factsCommonHeaders, { days: () => year, issues: () => [] });
  const textOf = (labels: string | null): string => page('identity', now, labels).body?.toString('utf8') ?? '';
  expect(textOf(shownLabels)).toContain('labels per hour');
  const held = textOf(errorTable.source_held.message);
  expect([linesOf(held, 'weather').length, linesOf(held, 'labels')]).toEqual([2, []]);
  expect(held).not.toContain('labels per hour');
  expect(held).toContain(errorTable.source_held.message);
  expect(textOf(errorTable.source_stale.message)).toContain(errorTable.source_stale.message);
  expect(textOf(shownLabels)).toContain('labels per hour');
});

test('the archive section of the front page contains neither labels nor label data while the label overview is refused', () => {
  const html = sectionOf(year, { refusal: errorTable.source_held.message });
  expect(linesOf(html, 'labels')).toEqual([]);
  const days = chartDays(year, { ...last(30), areLabelsShown: false });
  expect(JSON.stringify(days)).not.toMatch(/"labelsPerHour":[^n]/);
  expect(html).toContain('holding this reading back');
  expect(linesOf(sectionOf(year), 'labels')).toHaveLength(1);
});

test('known issues are shown on the pages and next to the affected days, in the words of the operator', () => {
  const issue = {
    ...{ id: 'twice', source: 'labels', start: '2026-11-18T10:00:00Z', end: '2026-11-20T00:00:00Z' },
    summary: 'Removals were <b>counted</b> twice.',
  };
  const old = { ...issue, id: 'old', start: '2020-01-01T00:00:00Z', end: '2020-01-02T00:00:00Z' };
  const lasting = { ...issue, id: 'lasting', start: '2026-11-20T00:00:00Z', end: null };
  const page = archivePage(factsCommonHeaders, { days: () => year, issues: () => [issue, old, lasting] });
  const html = page('identity', now, shownLabels).body?.toString('utf8') ?? '';
  expect(html).toContain('Removals were &lt;b>counted&lt;/b> twice.');
  expect(html.match(/<li id="issue-[a-z]+"/g)).toEqual(['<li id="issue-lasting"', '<li id="issue-twice"']);
  const rows = html.split('<tr>').filter((row) => row.includes('#issue-'));
  expect(rows.map((row) => row.match(/#issue-[a-z]+/g))).toEqual([
    ['#issue-lasting'],
    ['#issue-twice'],
    ['#issue-twice'],
  ]);
  expect(htmlOf(year)).not.toContain('Known issues');
  const front = (issues: (typeof issue | typeof lasting)[]): string => sectionOf(year, { issues });
  expect(front([issue, old])).toContain('<a href="./archive#issues">1 known issue</a>');
  expect(front([old])).not.toContain('known issue');
});

test('the page of a year with the longest list of known issues is smaller than 100 kB', () => {
  // The year whose page needs the most bytes.
  const widest = yearOf(2);
  expect(parseIssues(formatIssues(longestIssues as KnownIssue[]))).toHaveLength(1_000);
  const page = archivePage(factsCommonHeaders, { days: () => widest, issues: () => longestIssues });
  expect(page('identity', now, shownLabels).body?.length).toBeLessThan(100_000);
});

test('the page lists the newest known issues, states the number of older issues with a link, and shows how many issues each day has', () => {
  const issues = Array.from({ length: 1_000 }, (_, at) => ({
    ...{ id: `i${at}`, source: 'labels', summary: `Issue ${at}.`, end: '2026-11-20T00:00:00Z' },
    start: new Date(Date.parse('2026-11-01T00:00:00Z') + at * 1_600_000).toISOString(),
  }));
  const page = (list: typeof issues): string =>
    archivePage(factsCommonHeaders, { days: () => year, issues: () => list })(
      'identity',
      now,
      shownLabels,
    ).body?.toString() ?? '';
  const html = page(issues);
  expect(html.match(/id="issue-i\d+"/g)).toEqual(Array.from({ length: 10 }, (_, at) => `id="issue-i${999 - at}"`));
  expect(html).toContain('and <a href="./archive/known-issues.json">990 more in the list</a>');
  const row = (day: string): string => html.split('<tr>').find((one) => one.includes(`>${day}<`)) ?? '';
  expect(row('2 Nov 2026')).toContain('<a href="#issues">108 known issues</a>');
  expect(row('20 Nov 2026')).not.toContain('known issue');
  // An issue that the page does not list is still shown next to its days.
  const last = { ...issues[0], id: 'first', end: '2026-11-01T01:00:00Z' } as (typeof issues)[number];
  const lasting = issues.slice(1, 12).map((one) => ({ ...one, start: '2026-11-03T00:00:00Z' }));
  expect(page([...lasting, last])).toMatch(/1 Nov 2026<\/th>.*<a href="#issues">known issue<\/a>.*<\/tr>/);
  const long = issues.slice(0, 3).map((one) => ({ ...one, summary: 'x'.repeat(1_000) }));
  expect(page(long).match(/<li id="issue/g)).toHaveLength(2);
});

test('the service has neither an archive page nor a chart on the front page if it has no archive', () => {
  expect(htmlOf(null)).toContain('asset_unavailable');
  expect(recentHtml({ days: () => null, issues: () => [] }, now, null)).toBeNull();
  expect(recentHtml({ days: () => [], issues: () => [] }, now, null)).toBeNull();
  expect(sectionOf(year)).toContain('data-bins="30"');
});

test('the archive of a simulated network is marked as simulated and excluded from search engines, unlike the archive of the live network', () => {
  const page = archivePage(factsCommonHeaders, { days: () => year, issues: () => [] });
  const html = (...origins: readonly 'simulated'[]) =>
    page('identity', now, shownLabels, origins).body?.toString('utf8');
  expect(html()).not.toMatch(/class="banner"|noindex|\[simulated\]/);
  expect(html('simulated')).toMatch(
    /noindex.*<title>\[simulated\] The archive.*class="banner"[^>]*>[^<]*simulated network/s,
  );
  expect(html()).not.toContain('class="banner"');
});
