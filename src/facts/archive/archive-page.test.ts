import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { expect, test } from 'vitest';
import { errorTable } from '../../contract/errors.ts';
import { factsCommonHeaders } from '../app.ts';
import { archivePage } from './archive-page.tsx';
import { RecentSection, recentArchive } from './chart.tsx';
import { type ArchivedDay, chartDays, hourGaps, type Period } from './model.ts';

/** The page of the archive draws only what was observed, and each day links to its files. */

const dayMs = 86_400_000;
const newest = Date.parse('2026-11-20T00:00:00Z');
/** An instant of the newest day at which none of its hours is due. */
const now = newest + 3_600_000;
const nameAt = (at: number): string => new Date(at).toISOString().slice(0, 10);

const allHours = Array.from({ length: 24 }, (_, hour) => hour);
const last = (count: number, at = now): Period => ({ count, now: at, areLabelsShown: true });

function archived(day: string, changes: Partial<ArchivedDay> = {}): ArchivedDay {
  const sums = (count: number) => ({ count, observedSeconds: 86_400, wholeHours: allHours });
  return { day, isClosed: true, weather: sums(86_400 * 700), labels: sums(2_400), ...changes };
}

const year = Array.from({ length: 365 }, (_, at) => archived(nameAt(newest - (364 - at) * dayMs)));
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
const linesOf = (html: string, kind: string): string[] =>
  [...html.matchAll(new RegExp(`class="line-${kind}" d="([^"]*)"`, 'g'))].map(([, path = '']) => path);

test('the rates are those of the observed time, and a day that the archive omits has none', () => {
  const half = { count: 4_320, observedSeconds: 43_200, wholeHours: allHours.slice(0, 12) };
  const days = [archived('2026-11-18', { weather: half, labels: half }), archived('2026-11-20')];
  expect(chartDays(days, last(3))).toMatchObject([
    { day: '2026-11-18', eventsPerSecond: 0.1, labelsPerHour: 360, isWeatherPartial: true },
    { day: '2026-11-19', isArchived: false, eventsPerSecond: null, labelsPerHour: null },
    { day: '2026-11-20', eventsPerSecond: 700, labelsPerHour: 100, isWeatherPartial: false },
  ]);
});

test('a line breaks at a day that was not observed, and is drawn without a break otherwise', () => {
  const [weather = ''] = linesOf(htmlOf(year), 'weather');
  expect(weather.match(/M/g)).toHaveLength(1);
  const broken = year.with(-10, archived(year.at(-10)?.day ?? '', { weather: unobserved }));
  const [cut = '', cutYear = ''] = linesOf(htmlOf(broken), 'weather');
  expect([cut.match(/M/g)?.length, cutYear.match(/M/g)?.length]).toEqual([2, 2]);
  expect(linesOf(htmlOf(broken), 'labels')[0]?.match(/M/g)).toHaveLength(1);
  expect(htmlOf(broken)).toContain('weather not observed');
});

test('every archived day links to its record, and each day of the month to its tables', () => {
  const html = htmlOf(year);
  for (const { day } of year) expect(html).toContain(`href="./archive/days/${day}/day.json"`);
  for (const { day } of year.slice(-30)) expect(html).toContain(`href="./archive/days/${day}/labels-by-hour.csv"`);
  expect(html).not.toContain('<script');
});

test.each([1, 2, 3])('the page of a year has less than 100 kB if every day in %i is partial', (every) => {
  const [weather, labels] = [
    { count: 86_400 * 1_234, observedSeconds: 80_000, wholeHours: allHours.slice(1) },
    { count: 1_234_567, observedSeconds: 80_000, wholeHours: allHours.slice(1) },
  ];
  const partial = year.map((one, at) => (at % every === 0 ? archived(one.day, { weather, labels }) : one));
  expect(Buffer.byteLength(htmlOf(partial))).toBeLessThan(100_000);
});

test('consecutive partial days have one mark', () => {
  const half = { count: 1, observedSeconds: 43_200, wholeHours: [] };
  const days = year.map((one, at) => ([340, 350, 351].includes(at) ? archived(one.day, { weather: half }) : one));
  expect(linesOf(htmlOf(days), 'gaps').slice(0, 2)).toEqual(['M50 99h10M150 99h20', 'M3400 99h10M3500 99h20']);
});

test('the page of a year has less than 100 kB, and costs few milliseconds once for each state of the archive', () => {
  expect(Buffer.byteLength(htmlOf(year))).toBeLessThan(100_000);
  htmlOf(year);
  const runs = 20;
  const before = process.cpuUsage();
  for (let run = 0; run < runs; run += 1) htmlOf(year);
  const { user, system } = process.cpuUsage(before);
  // The limit is 10 ms. A busy machine and garbage collection need room.
  expect((user + system) / 1_000 / runs).toBeLessThan(30);
  const page = archivePage(factsCommonHeaders, { days: () => year, issues: () => [] });
  expect(page('identity', now, shownLabels)).toBe(page('identity', now, shownLabels));
});

const without = (...gaps: number[]) => ({
  ...{ count: 1, observedSeconds: 1, wholeHours: allHours.filter((hour) => !gaps.includes(hour)) },
});

test('the gaps of the two instruments are listed newest first, and joined over midnight', () => {
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

test('all hours of a day without a directory, a table or rows are gaps', () => {
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
  expect(htmlOf(year)).toContain('Every hour of these days was observed entirely.');
});

test('an hour is a gap from two hours after its end, if the archive does not have it', () => {
  const days = [archived('2026-11-19'), archived('2026-11-20', { weather: without(), labels: without(3) })];
  const at = newest + 6 * 3_600_000;
  expect(hourGaps(days, last(2, at - 1))).toEqual([]);
  expect(hourGaps(days, last(2, at))).toMatchObject([{ instrument: 'labels', start: '2026-11-20T03:00:00Z' }]);
});

test('the days end with the present day, and an archive that is no longer written does not look current', () => {
  const at = now + 60 * dayMs;
  const month = chartDays(year, last(30, at));
  expect(month.at(-1)).toMatchObject({ day: nameAt(at), isArchived: false, eventsPerSecond: null });
  expect(month.every(({ isArchived }) => !isArchived)).toBe(true);
  const html = htmlOf(year, at);
  expect(html).toContain('The newest day in the archive is 20 Nov 2026.');
  expect(html).toContain('weather unknown, labels unknown');
  expect(recentArchive(year, last(30, at))?.newest).toBe('2026-11-20');
});

test('the page is rendered again with the same days when an hour is over', () => {
  const page = archivePage(factsCommonHeaders, { days: () => year, issues: () => [] });
  const first = page('identity', now, shownLabels);
  expect(page('identity', now + 60_000, shownLabels)).toBe(first);
  expect(page('identity', now + 3_600_000, shownLabels)).not.toBe(first);
  expect(page('identity', now - 3_600_000, shownLabels)).not.toBe(first);
});

test('the page shows no labels while the label overview is refused, and says why', () => {
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

test('the section of the front page has neither labels nor their data while the label overview is refused', () => {
  const recent = recentArchive(year, { ...last(30), areLabelsShown: false });
  const withheld = errorTable.source_held.message;
  const html = renderToString(h(RecentSection, { recent, refusal: withheld }));
  expect(linesOf(html, 'labels')).toEqual([]);
  expect(JSON.stringify(recent)).not.toMatch(/"labelsPerHour":[^n]/);
  expect(html).toContain('holding this reading back');
  const later = renderToString(h(RecentSection, { recent, refusal: null }));
  expect([linesOf(later, 'labels'), later.includes('Reload this page')]).toEqual([[], true]);
  const all = recentArchive(year, last(30));
  expect(linesOf(renderToString(h(RecentSection, { recent: all, refusal: withheld })), 'labels')).toEqual([]);
  expect(linesOf(renderToString(h(RecentSection, { recent: all, refusal: null })), 'labels')).toHaveLength(1);
});

test('known issues are shown on the pages and next to the days concerned, in the words of the operator', () => {
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
  const front = (issues: (typeof issue | typeof lasting)[]): string =>
    renderToString(h(RecentSection, { recent: recentArchive(year, last(30), issues), refusal: null }));
  expect(front([issue, old])).toContain('<a href="./archive#issues">1 known issue</a>');
  expect(front([old])).not.toContain('known issue');
});

test('there is no page while there is no archive, and no chart on the front page', () => {
  expect(htmlOf(null)).toContain('asset_unavailable');
  expect([recentArchive(null, last(30)), recentArchive([], last(30))]).toEqual([null, null]);
  expect(recentArchive(year, last(30))?.days).toHaveLength(30);
});

test('the archive of a simulated network is marked, and is not indexed; a live one is neither', () => {
  const page = archivePage(factsCommonHeaders, { days: () => year, issues: () => [] });
  const html = (...origins: readonly 'simulated'[]) =>
    page('identity', now, shownLabels, origins).body?.toString('utf8');
  expect(html()).not.toMatch(/class="banner"|noindex|\[simulated\]/);
  expect(html('simulated')).toMatch(
    /noindex.*<title>\[simulated\] The archive.*class="banner"[^>]*>[^<]*simulated network/s,
  );
  expect(html()).not.toContain('class="banner"');
});
