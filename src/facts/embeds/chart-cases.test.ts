import { describe, expect, it } from 'vitest';
import { type ChartCaseName, chartCaseFiles, chartCases } from '../../../harness/artifacts/chart-cases.ts';
import { fixture } from '../../../harness/artifacts/fixtures.ts';
import { pathPoints, plotHeight, scaleOf } from '../../../harness/pages/html.ts';
import { factsInMemory, fixtureNow } from '../../../harness/process/facts.ts';
import { memorySource } from '../../../harness/process/memory-source.ts';
import { recogniseLabelsHours } from '../../artifact/hours/labels-hours.ts';
import { recogniseWeatherHours } from '../../artifact/hours/weather-hours.ts';
import { countText, percentText, rateText } from '../../web/format.ts';
import type { ArchivedDay } from '../archive/model.ts';
import { labelReasons, weatherReasons } from '../hours/shown-hours.ts';

/**
 * Every case is compared point by point with its hours files: what is drawn, what the table and the files state, and
 * that nothing is drawn where nothing was observed. The vertical scale is found from the picture's own axis.
 */

const now = fixtureNow.recent;
const recent = fixture('recent') as { acquisition: { generation_id: string } };
const names = Object.keys(chartCases) as ChartCaseName[];
const hourMs = 3_600_000;

/** Returns the days of an archive that were made from the hours files. */
function archivedDays({ weather, labels }: ReturnType<typeof chartCaseFiles>): ArchivedDay[] {
  const sums = (hours: readonly { start: string; observed_seconds: number; count: number | null }[]) => ({
    count: hours.every(({ count }) => count === null) ? null : hours.reduce((sum, { count }) => sum + (count ?? 0), 0),
    observedSeconds: hours.reduce((sum, hour) => sum + hour.observed_seconds, 0),
    wholeHours: hours.flatMap((hour) => (hour.observed_seconds < 3600 ? [] : [new Date(hour.start).getUTCHours()])),
  });
  const events = (weather.series[0]?.hours ?? []).map((hour) => ({ ...hour, count: hour.events }));
  const rows = labels.hours.map((hour) => ({
    ...hour,
    count: hour.applications === null ? null : hour.applications + (hour.removals ?? 0),
  }));
  return [...new Set(rows.map(({ start }) => start.slice(0, 10)))].map((day) => ({
    ...{ day, isClosed: true, hasFirstTables: false },
    weather: sums(events.filter(({ start }) => start.startsWith(day))),
    labels: sums(rows.filter(({ start }) => start.startsWith(day))),
  }));
}

function served(name: ChartCaseName, overview: object = recent, conditions: object | null = fixture('weather')) {
  const generationId = recent.acquisition.generation_id;
  const files = chartCaseFiles(name, { generatedAt: now - 30_000, generationId });
  const days = archivedDays(files);
  const sources = {
    weather: memorySource(recogniseWeatherHours, now),
    labels: memorySource(recogniseLabelsHours, now),
  };
  sources.weather.set(Buffer.from(JSON.stringify(files.weather)));
  sources.labels.set(Buffer.from(JSON.stringify(files.labels)));
  const facts = factsInMemory(now, null, { days: () => days, issues: () => [] }, sources);
  facts.set('recent', Buffer.from(JSON.stringify(overview)));
  facts.set('weather', conditions && Buffer.from(JSON.stringify(conditions)));
  return { ...files, days, text: (path: string) => facts.get(path).body?.toString('utf8') ?? '' };
}

const sectionOf = (html: string, id: string): string =>
  html.match(new RegExp(`<section aria-labelledby="${id}">.*?</section>`, 's'))?.[0] ?? '';
const pathOf = (html: string, paint: string): string =>
  html.match(new RegExp(`class="${paint}"[^>]* d="([^"]*)"`))?.[1] ?? '';
const rowsOf = (html: string): string[][] =>
  [...html.matchAll(/<tr><th>(.*?)<\/tr>/gs)]
    .map(([, row = '']) => row.split(/<\/t[hd]>(?:<td>)?/).slice(0, -1))
    .toReversed();
const csvOf = (file: string): string[][] =>
  file
    .split('\n')
    .slice(1, -1)
    .map((line) => line.split(','));

/** Returns the intervals of a hole's hatching in units of the plot. */
const holesOf = (html: string): { from: number; to: number; reason: string }[] =>
  [
    ...html.matchAll(
      /<g class="plot-hole"><title>(.*?)<\/title><rect class="chart-unseen-paper" x="([\d.]+)%" width="([\d.]+)%"/g,
    ),
  ].map(([, reason = '', x, width]) => ({
    from: Number(x) * 10,
    to: (Number(x) + Number(width)) * 10,
    reason,
  }));

describe.each(names)('the charts of the case %s', (name) => {
  const facts = served(name);
  const page = facts.text('/hours/72');

  it('draw every rate of the hours file at its hour and value, and no segment across a hole', () => {
    const html = sectionOf(page, 'hours-weather');
    expect(sectionOf(facts.text('/'), 'hours-weather')).toContain(`d="${pathOf(html, 'line-weather')}"`);
    const series = facts.weather.series[0];
    if (!series) throw new Error('the file has no series');
    const toValue = scaleOf(html);
    const points = pathPoints(pathOf(html, 'line-weather'));
    const first = Date.parse(series.hours[0]?.start ?? '');
    const place = (at: string): number => (1000 * (Date.parse(at) - first)) / (72 * hourMs);
    const segments = points.flatMap((point, at) => {
      const before = points[at - 1];
      return before && !point.isStart && before.y === point.y ? [{ from: before.x, to: point.x, y: point.y }] : [];
    });
    // The axis is drawn in tenths of a unit.
    const unit = toValue(0) / plotHeight;
    for (const [at, hour] of series.hours.entries()) {
      const [from, to] = [(1000 * at) / 72, (1000 * (at + 1)) / 72];
      const own = segments.filter((segment) => segment.from >= from - 0.1 && segment.from < to - 0.1);
      if (hour.events === null) {
        expect(own, `hour ${at}`).toEqual([]);
        continue;
      }
      const rate = hour.events / hour.observed_seconds;
      expect(own.length, `hour ${at}`).toBeGreaterThan(0);
      for (const { y } of own) expect(Math.abs(toValue(y) - rate), `hour ${at}`).toBeLessThan(unit * 0.2 + 0.01);
      const drawn = own.reduce((sum, segment) => sum + Math.min(segment.to, to + 0.1) - segment.from, 0);
      expect(Math.abs(drawn - (hour.observed_seconds / 3600) * (to - from)), `hour ${at}`).toBeLessThan(0.4);
    }
    for (const gap of series.gaps) {
      const [from, to] = [place(gap.start), place(gap.end)];
      for (const segment of segments) expect(segment.to <= from + 0.1 || segment.from >= to - 0.1).toBe(true);
      const words = name === 'fresh' ? 'before the observation began' : weatherReasons[gap.reason];
      expect(
        holesOf(html).some((hole) => hole.reason === words && hole.from <= from + 0.2 && hole.to >= to - 0.2),
      ).toBe(true);
    }
    expect(holesOf(html)).toHaveLength(series.gaps.length);
  });

  it('draw every count of labels at its hour and value', () => {
    const html = sectionOf(page, 'hours-labels');
    const toValue = scaleOf(html);
    const barsOf = (paint: string): { x: number; value: number }[] => {
      const found = ['', ' plot-part'].flatMap((part) =>
        [...pathOf(html, `${paint}${part}`).matchAll(/M([\d.]+),([\d.]+)v(-?[\d.]+)/g)].map(([, x, y, length]) => ({
          x: Number(x),
          value: Math.abs(toValue(Number(y) + Number(length))),
        })),
      );
      return found.toSorted((a, b) => a.x - b.x);
    };
    const unit = (toValue(0) - toValue(plotHeight)) / plotHeight;
    for (const [paint, field] of [
      ['plot-up', 'applications'],
      ['plot-down', 'removals'],
    ] as const) {
      const counted = facts.labels.hours.flatMap((hour, at) => {
        const count = hour[field];
        return count === null || count === 0 ? [] : [{ at, count }];
      });
      const bars = barsOf(paint);
      expect(bars).toHaveLength(counted.length);
      for (const [index, { at, count }] of counted.entries()) {
        const bar = bars[index];
        expect(Math.abs((bar?.x ?? 0) - (1000 * (at + 0.5)) / 72)).toBeLessThan(0.1);
        // A bar of a small count is at least two units high.
        expect(Math.abs((bar?.value ?? 0) - Math.max(count, unit * 2))).toBeLessThan(unit * 0.3 + 1);
      }
    }
    const words = holesOf(html).map(({ reason }) => reason);
    expect(words).toEqual(facts.labels.gaps.map(({ reason }) => labelReasons[reason]));
  });

  it('state the same in their tables and CSV files', () => {
    const series = facts.weather.series[0];
    const [weather, labels] = ['hours-weather', 'hours-labels'].map((id) => rowsOf(sectionOf(page, id)));
    const files = { weather: csvOf(facts.text('/charts/events.csv')), labels: csvOf(facts.text('/charts/labels.csv')) };
    for (const [at, hour] of (series?.hours ?? []).entries()) {
      const rate = hour.events === null ? null : hour.events / hour.observed_seconds;
      expect(weather?.[at]?.[1]).toBe(rate === null ? '–' : rateText(rate));
      const [start, , value] = files.weather[at] ?? [];
      expect([start, value]).toEqual([new Date(hour.start).toISOString(), rate === null ? '' : String(rate)]);
      const share = Number(files.weather[at]?.at(-3));
      const passed = Math.min(3600, (Date.parse(series?.through ?? '') - Date.parse(hour.start)) / 1000);
      expect(share).toBeCloseTo(hour.observed_seconds / passed, 9);
      expect(files.weather[at]?.at(-2) === '').toBe(share >= 1);
      expect((weather?.[at]?.at(-1) ?? '').startsWith(share <= 0 ? 'nothing: ' : '')).toBe(true);
    }
    for (const [at, hour] of facts.labels.hours.entries()) {
      const counts = [hour.applications, hour.removals];
      expect(labels?.[at]?.slice(1, 3)).toEqual(counts.map((count) => (count === null ? '–' : countText(count))));
      expect(files.labels[at]?.slice(2, 4)).toEqual(counts.map((count) => (count === null ? '' : String(count))));
    }
    expect([weather?.length, labels?.length, files.weather.length]).toEqual([72, 72, 72]);
  });
});

describe.each(names)('the archive of the case %s', (name) => {
  const facts = served(name);
  const page = sectionOf(facts.text('/archive'), 'month');
  const [, events = '', labels = ''] = page.split('<svg class="plot"');
  const rows = rowsOf(page.replaceAll('<th scope="row">', '<th>')).slice(-facts.days.length);

  it.each([
    ['weather', events, 'month-events', 1, 1],
    ['labels', labels, 'month-labels', 3600, 2],
  ] as const)('draws, lists and exports the same rate of %s for each day', (kind, html, file, factor, column) => {
    const toValue = scaleOf(html);
    const points = pathPoints(pathOf(html, `line-${kind}`));
    const csv = csvOf(facts.text(`/charts/${file}.csv`)).slice(-facts.days.length);
    for (const [at, day] of facts.days.entries()) {
      const sums = day[kind];
      const from = (1000 * (30 - facts.days.length + at)) / 30;
      const own = points.filter(
        (point, i) => !point.isStart && point.x > from + 0.2 && point.x < from + 33.5 && points[i - 1]?.y === point.y,
      );
      const rate = sums?.count ? (factor * sums.count) / sums.observedSeconds : null;
      const shown = rate === null ? null : Number(rate.toPrecision(5));
      expect(csv[at]?.[2], day.day).toBe(shown === null ? '' : String(shown));
      expect(rows[at]?.[column]?.split(', ')[0]).toBe(shown === null ? `${kind} not observed` : rateText(shown));
      expect(own.length > 0).toBe(shown !== null);
      const unit = Math.abs(toValue(0) - toValue(plotHeight)) / plotHeight;
      for (const { y } of own) expect(Math.abs(toValue(y) - (shown ?? 0))).toBeLessThan(unit * 0.2);
      // The present day is observed up to now, and its last hour is not archived yet.
      if (shown === null || at === facts.days.length - 1) continue;
      const share = (sums?.observedSeconds ?? 0) / 86_400;
      const text = `${percentText(Number(share.toFixed(4)))} observed`;
      expect(rows[at]?.[column]?.split(', ')[1] ?? '').toBe(share < 1 ? text : '');
      expect(Number(csv[at]?.at(-3))).toBeCloseTo(share, 4);
    }
  });
});

it('a refused fact draws nothing, and the page, the image and the file state that', () => {
  const facts = served('storm', { ...recent, hold: true });
  for (const path of ['/', '/hours/24', '/hours/72']) {
    const html = sectionOf(facts.text(path), 'hours-labels');
    expect(html).toContain('No chart is drawn.');
    expect(html).not.toMatch(/<svg|<td>|\d,\d/);
    expect(sectionOf(facts.text(path), 'hours-weather')).toContain('class="line-weather"');
  }
  expect(facts.text('/charts/labels.svg')).toContain('No chart is drawn');
  expect(facts.text('/charts/labels.csv')).toContain('source_held');
  expect(facts.text('/archive')).not.toContain('class="line-labels"');

  const absent = served('storm', recent, null);
  for (const path of ['/', '/hours/24', '/hours/72']) {
    expect(sectionOf(absent.text(path), 'hours-weather')).not.toMatch(/<svg|<td>|\d,\d/);
    expect(sectionOf(absent.text(path), 'hours-labels')).toContain('class="plot-up"');
  }
  expect(absent.text('/charts/events.csv')).toContain('source_unavailable');
});

it('the chart of the archive never names an origin that is not known', () => {
  const originsOf = (facts: ReturnType<typeof served>) => {
    const [month = ''] = facts.days.at(-1)?.day.match(/^\d{4}-\d\d/) ?? [];
    const files = ['/charts/month-events.csv', `/months/${month}/events.csv`].map((path) => csvOf(facts.text(path)));
    return [...new Set(files.flat().map((line) => line.at(-1)))];
  };
  expect(originsOf(served('storm'))).toEqual(['live']);
  expect(originsOf(served('storm', { ...recent, origin: 'simulated' }, null))).toEqual(['simulated']);
  expect(originsOf(served('storm', {}, null))).toEqual(['']);
});

it('a glance tells when the network was busiest and when it was not observed', () => {
  const storm = sectionOf(served('storm').text('/'), 'hours-weather');
  expect(storm).toMatch(/>busiest: \d+ Nov \d\d:00<\/text>/);
  expect(pathOf(storm, 'plot-above')).toMatch(/^M694\.4,-4h83\.\d$/);
  const hole = sectionOf(served('hole').text('/'), 'hours-weather');
  expect(hole).toMatch(/>busiest<tspan class="plot-wide"> observed<\/tspan>: \d+ Nov \d\d:00<\/text>/);
  expect(served('hole').text('/charts/events.svg')).toMatch(/>busiest observed: \d+ Nov \d\d:00<\/text>/);
  expect(hole).toContain('<tspan class="plot-wide">not observed: </tspan>19 Nov 04:00 – 06:00 →</text>');
  expect(served('hole').text('/charts/events.svg')).toContain('>not observed: 19 Nov 04:00 – 06:00 →</text>');
  expect(hole).toMatch(/Not observed: 19 Nov 04:00 to 19 Nov 06:00 \(nothing arrived from the host\)\./);
});
