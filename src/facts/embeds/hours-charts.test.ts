import { describe, expect, it, test } from 'vitest';
import { fixture } from '../../../harness/artifacts/fixtures.ts';
import { labelsHoursFixture, weatherHoursFixture } from '../../../harness/artifacts/hours.ts';
import { pathPoints } from '../../../harness/pages/html.ts';
import { factsInMemory, fixtureNow } from '../../../harness/process/facts.ts';
import { memorySource } from '../../../harness/process/memory-source.ts';
import { headerOf } from '../../../harness/process/metrics.ts';
import { type LabelsHours, recogniseLabelsHours } from '../../artifact/hours/labels-hours.ts';
import { recogniseWeatherHours, type WeatherHours } from '../../artifact/hours/weather-hours.ts';
import { errorTable } from '../../contract/errors.ts';
import { gapReasons, weatherGapReasons } from '../../contract/vocabulary.ts';
import { rateText } from '../../web/format.ts';
import { chartNames } from '../formats/formats.ts';
import { labelReasons, labelsChart, unlistedReason, weatherChart, weatherReasons } from '../hours/shown-hours.ts';
import { notNow } from '../shown-facts.ts';

/** The charts of the last 72 hours show what the hours files contain, and nothing where nothing was observed. */

const now = fixtureNow.recent;
const generatedAt = now - 30_000;
const recent = fixture('recent') as { acquisition: { generation_id: string } };
const live = { origin: 'live' as const };
const did = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';
const hourMs = 3_600_000;

const weatherFile = (unobserved?: number): WeatherHours => ({
  ...weatherHoursFixture({ generatedAt, ...(unobserved === undefined ? {} : { unobserved }) }),
  ...live,
});
const labelsFile = (unobserved?: number): LabelsHours => ({
  ...labelsHoursFixture({ generatedAt, labelers: [did], ...(unobserved === undefined ? {} : { unobserved }) }),
  ...{ ...live, generation_id: recent.acquisition.generation_id },
});

/** Returns the only series of a file, with changes. */
function seriesOf(file: WeatherHours, changes: Partial<WeatherHours['series'][number]> = {}) {
  const [series] = file.series;
  if (!series) throw new Error('the fixture has no series');
  return { ...series, ...changes };
}

interface Served {
  readonly weather?: object | null;
  readonly labels?: object | null;
  readonly overview?: object;
}

/** Serves the facts of the fixtures with the given hours files; null stands for a file that does not exist. */
function served({ weather = weatherFile(), labels = labelsFile(), overview = recent }: Served = {}) {
  const sources = {
    weather: memorySource(recogniseWeatherHours, now),
    labels: memorySource(recogniseLabelsHours, now),
  };
  const bytes = (file: object | null) => (file === null ? null : Buffer.from(JSON.stringify(file)));
  sources.weather.set(bytes(weather));
  sources.labels.set(bytes(labels));
  const facts = factsInMemory(now, null, undefined, sources);
  facts.set('recent', Buffer.from(JSON.stringify(overview)));
  facts.set('weather', Buffer.from(JSON.stringify(fixture('weather'))));
  return { ...facts, text: (path: string) => facts.get(path).body?.toString('utf8') ?? '' };
}

const sectionOf = (html: string, id: string): string =>
  html.match(new RegExp(`<section aria-labelledby="${id}">.*?</section>`, 's'))?.[0] ?? '';
const pathOf = (html: string, name: string): string =>
  html.match(new RegExp(`class="${name}"[^>]* d="([^"]*)"`))?.[1] ?? '';
/** Returns the cells of the rows of a table, oldest first. */
const rowsOf = (html: string): string[][] =>
  [...html.matchAll(/<tr><th>(.*?)<\/tr>/gs)]
    .map(([, row = '']) => row.split(/<\/t[hd]>(?:<td>)?/).slice(0, -1))
    .toReversed();

describe('a hole of the weather', () => {
  it.each(weatherGapReasons)(
    'with the reason %s interrupts the line, is hatched, and states the reason on the picture and in the table',
    (reason) => {
      const collection = 'like.create';
      const file = weatherFile(40);
      const series = seriesOf(file);
      const start = Date.parse(series.hours[40]?.start ?? '');
      const gap = { start: new Date(start).toISOString(), end: new Date(start + hourMs).toISOString(), reason };
      const isOwn = reason !== 'not_observed';
      const gaps = [{ ...gap, collection: isOwn ? (collection as 'like.create') : null }];
      const html = served({ weather: { ...file, series: [{ ...series, gaps }] } });
      const svg = html.text(isOwn ? `/charts/${collection}.svg` : '/charts/events.svg');
      expect(svg).toContain(`<g class="plot-hole"><title>${weatherReasons[reason]}</title>`);
      const points = pathPoints(pathOf(svg, 'line-weather'));
      const [from, to] = [(40 / 72) * 1000, (41 / 72) * 1000];
      expect(points.filter(({ isStart }) => isStart)).toHaveLength(2);
      for (const [at, { x, isStart }] of points.entries()) {
        const before = points[at - 1];
        if (before && !isStart) expect(x <= from + 0.1 || before.x >= to - 0.1).toBe(true);
      }
      const csv = html.text(isOwn ? `/charts/${collection}.csv` : '/charts/events.csv').split('\n');
      expect(csv[41]).toMatch(
        new RegExp(`^${new Date(start).toISOString()},[^,]*,,.*0,${weatherReasons[reason]},live$`),
      );
      if (!isOwn) {
        expect(rowsOf(sectionOf(html.text('/hours/72'), 'hours-weather'))[40]?.slice(1)).toEqual([
          '–',
          `nothing: ${weatherReasons[reason]}`,
        ]);
      }
    },
  );

  it('before the first observation of the store has that reason, and an hour without a listed gap has a hole without a known reason', () => {
    const series = seriesOf(weatherFile(0));
    const [first] = series.gaps;
    const before = weatherChart({ ...series, observed_since: first?.end ?? null });
    expect(before.series.holes.map(({ reason }) => reason)).toEqual(['before the observation began']);
    expect(weatherChart({ ...series, gaps: [] }).series.holes).toMatchObject([{ reason: unlistedReason }]);
  });

  it('within an hour leaves the observed parts of the hour, with its observed share', () => {
    const series = seriesOf(weatherFile());
    const start = Date.parse(series.hours[40]?.start ?? '');
    const gaps = [
      {
        start: new Date(start + hourMs / 2).toISOString(),
        end: new Date(start + (3 * hourMs) / 4).toISOString(),
        ...{ reason: 'not_observed' as const, collection: null },
      },
    ];
    const hours = series.hours.with(40, { ...seriesOf(weatherFile()).hours[40], observed_seconds: 2_700 } as never);
    const { bins } = weatherChart({ ...series, gaps, hours }).series;
    expect(bins[40]).toMatchObject({ observed: 0.75, reason: weatherReasons.not_observed, value: 40_000 / 2_700 });
    expect([bins[39]?.reason, bins[41]?.reason]).toEqual([null, null]);
  });
});

describe('a hole of the labels', () => {
  it.each(gapReasons)(
    'with the reason %s is hatched without a bar, and states the reason on the picture and in the table',
    (reason) => {
      const file = labelsFile(40);
      const gaps = file.gaps.map((gap) => ({ ...gap, reason }));
      const html = sectionOf(served({ labels: { ...file, gaps } }).text('/hours/72'), 'hours-labels');
      expect(html).toContain(`<title>${labelReasons[reason]}</title>`);
      const centre = Math.round((40.5 / 72) * 10_000) / 10;
      for (const name of ['plot-up', 'plot-down']) {
        expect(pathOf(html, name)).toContain(`M${Math.round((39.5 / 72) * 10_000) / 10},`);
        expect(pathOf(html, name)).not.toContain(`M${centre},`);
      }
      expect(rowsOf(html)[40]?.slice(1)).toEqual(['–', '–', `nothing: ${labelReasons[reason]}`]);
    },
  );
});

test('the line, the table and the CSV file agree with the hours file, hour by hour', () => {
  const file = weatherFile(40);
  const series = seriesOf(file);
  const facts = served({ weather: file });
  const html = sectionOf(facts.text('/hours/72'), 'hours-weather');
  const rows = rowsOf(html);
  const csv = facts.text('/charts/events.csv').trimEnd().split('\n').slice(1);
  const points = pathPoints(pathOf(html, 'line-weather'));
  const [, highest = 0, top = 0] =
    [...html.matchAll(/<text x="-6" y="([\d.]+)%" dy="4">([\d,.]+)/g)]
      .at(-1)
      ?.map((text) => Number(text.replace(',', ''))) ?? [];
  const zero = 200;
  for (const [at, { start, events, observed_seconds: seconds }] of series.hours.entries()) {
    const rate = events === null ? null : events / seconds;
    expect(rows[at]?.[1]).toBe(rate === null ? '–' : rateText(rate));
    expect(csv[at]?.split(',').slice(0, 3)).toEqual([
      start,
      new Date(Date.parse(start) + hourMs).toISOString(),
      rate === null ? '' : String(rate),
    ]);
    const drawn = points.find(({ x }) => Math.abs(x - ((at + 0.02) / 72) * 1000) < 0.4);
    if (rate === null) continue;
    const y = zero - (rate / top) * (zero - (highest / 80) * 200);
    const level = points.filter(
      ({ x, y: height }) => Math.abs(x - (at / 72) * 1000) < 0.2 && Math.abs(height - y) < 0.2,
    );
    expect(level.length, `hour ${at} ${drawn?.y} ${y}`).toBeGreaterThan(0);
  }
  expect(rows).toHaveLength(72);
  expect(csv).toHaveLength(72);
});

test('the usual range is drawn and compared with the last whole hour', () => {
  const series = seriesOf(weatherFile());
  const usual = (low: number, high: number) =>
    weatherChart({ ...series, hours: series.hours.map((hour) => ({ ...hour, usual: { low, high, days: 9 } })) });
  expect(usual(0, 100).answer).toMatch(/: as usual for that hour \(0 to 100\)\.$/);
  // The last whole hour has 70,000 events: 19.44 per second. The rate rises from hour to hour, and exceeds 18 in hour 65.
  expect(usual(10, 18).answer).toMatch(
    / 19\.44 events of all kinds per second arrived: more than usual for that hour \(10 to 18\), since 20 Nov 2026, 05:00 UTC\.$/,
  );
  expect(usual(30, 40).answer).toContain('less than usual for that hour');
  expect(weatherChart(series).answer).toContain('too little history');
  const html = served({
    weather: {
      ...weatherFile(),
      series: [{ ...series, hours: series.hours.map((hour) => ({ ...hour, usual: { low: 1, high: 2, days: 7 } })) }],
    },
  });
  expect(pathOf(html.text('/'), 'plot-usual')).toMatch(/^M0,/);
  expect(html.text('/charts/events.csv')).toMatch(
    /^start,end,events_per_second,usual_low,usual_high,observed_share,reason,origin\n[^\n]*,1,2,1,,live\n/,
  );
});

describe('no chart is drawn and the page states why', () => {
  const stale = new Date(generatedAt - hourMs).toISOString();
  it.each([
    [
      'the files do not exist',
      { weather: null, labels: null },
      'This service has no file with the counts of each hour.',
    ],
    [
      'the files are malformed',
      { weather: { schema: 'weather.hours.v1' }, labels: { schema: 'labels.hours.v1' } },
      'cannot be read.',
    ],
    [
      'the files are older than the facts',
      { weather: { ...weatherFile(), generated_at: stale }, labels: { ...labelsFile(), generated_at: stale } },
      'was not written at the time of the facts.',
    ],
    [
      'the files are of another network',
      { weather: { ...weatherFile(), origin: 'simulated' }, labels: { ...labelsFile(), origin: 'simulated' } },
      'is of another network than the facts.',
    ],
  ] as const)('if %s', (_case, files, why) => {
    const facts = served(files);
    for (const id of ['hours-weather', 'hours-labels']) {
      const section = sectionOf(facts.text('/'), id);
      expect(section).toContain(`data-undrawn="${id}"`);
      expect(section).toContain(why);
      expect(section).not.toMatch(/<svg|<table/);
    }
    expect(facts.get('/charts/events.csv').status).toBe(503);
    const image = facts.get('/embed/hours.svg');
    expect([image.status, headerOf(image, 'Cache-Control')]).toEqual([200, 'no-store']);
    expect(image.body?.toString('utf8')).toContain('No chart is drawn');
  });

  it.each([
    ['the overview is held', { overview: { ...recent, hold: true } }, errorTable.source_held.message],
    ['the hours file is held', { labels: { ...labelsFile(), hold: true } }, errorTable.source_held.message],
    [
      'the hours file is of another epoch',
      { labels: { ...labelsFile(), generation_id: '00000000-0000-4000-8000-000000000009' } },
      'another epoch',
    ],
  ] as const)('about labels if %s, and the weather is drawn', (_case, changes, why) => {
    const html = served(changes).text('/');
    expect(sectionOf(html, 'hours-labels')).toContain(why);
    expect(sectionOf(html, 'hours-labels')).not.toContain('<svg');
    expect(sectionOf(html, 'hours-weather')).toContain('class="line-weather"');
    expect(served(changes).get('/charts/labels.csv').status).toBe(503);
  });
});

test('no chart of the weather is drawn if its fact no longer describes the present', () => {
  const facts = served();
  const at = now + 3 * 86_400_000;
  const text = (path: string) => facts.get(path, at).body?.toString('utf8') ?? '';
  for (const path of ['/', '/hours/24', '/hours/72']) {
    const section = sectionOf(text(path), 'hours-weather');
    expect(section).toContain('data-undrawn="hours-weather"');
    expect(section).toContain(notNow.old);
    expect(section).not.toMatch(/<svg|<table/);
  }
  expect(facts.get('/charts/events.csv', at).status).toBe(503);
  expect(text('/embed/hours.svg')).toContain('No chart is drawn');
});

test('a file of a chart names the origin in each line and in the heading of its image', () => {
  const origin = 'simulated';
  const hours = { weather: { ...weatherFile(), origin }, labels: { ...labelsFile(), origin } };
  const facts = served({ ...hours, overview: { ...recent, origin } });
  facts.set('weather', Buffer.from(JSON.stringify({ ...fixture('weather'), origin })));
  for (const name of ['events', 'labels'] as const) {
    const [head, ...lines] = facts.text(`/charts/${name}.csv`).trimEnd().split('\n');
    expect(head).toMatch(/,origin$/);
    expect(lines.map((line) => line.split(',').at(-1))).toEqual(Array(72).fill('simulated'));
    expect(facts.text(`/charts/${name}.svg`)).toContain('SIMULATED');
  }
});

test('a chart of each file is rendered once per hours file, and every path of a chart responds', () => {
  const facts = served();
  const names = chartNames.filter((name) => !/month|year/.test(name));
  const files = names.flatMap((name) => [`/charts/${name}.svg`, `/charts/${name}.csv`]);
  for (const path of ['/embed/hours.svg', ...files]) {
    const reply = facts.get(path);
    expect([path, reply.status]).toEqual([path, 200]);
    expect(facts.get(path)).toBe(reply);
  }
  expect(facts.get('/')).toBe(facts.get('/'));
});

test('the newest 24 hours are the last part of the chart of 72 hours, on the page and in the files', () => {
  const facts = served({ weather: weatherFile(60), labels: labelsFile(20) });
  for (const [name, id, isHole] of [
    ['events', 'hours-weather', true],
    ['labels', 'hours-labels', false],
  ] as const) {
    const rows = (path: string) => rowsOf(sectionOf(facts.text(path), id));
    expect(rows('/hours/24')).toEqual(rows('/hours/72').slice(-24));
    const lines = (file: string) => facts.text(`/charts/${file}.csv`).split('\n').slice(1);
    expect(lines(`${name}-24h`)).toEqual(lines(name).slice(-25));
    expect(facts.text('/hours/24')).toContain(`href="../charts/${name}-24h.svg"`);
    expect(sectionOf(facts.text('/hours/24'), id).includes('class="plot-hole"')).toBe(isHole);
    expect(sectionOf(facts.text('/'), id)).toContain(`href="./hours/72#${id}"`);
  }
});

test('hours outside their usual range are marked on the picture, counted in its text and named in the table', () => {
  const series = seriesOf(weatherFile());
  // The rate of hour n is n / 3.6 per second.
  const usual = { low: 2, high: 18, days: 9 };
  const weather = {
    ...weatherFile(),
    series: [{ ...series, hours: series.hours.map((hour) => ({ ...hour, usual })) }],
  };
  const html = sectionOf(served({ weather }).text('/hours/72'), 'hours-weather');
  expect(pathOf(html, 'plot-above')).toBe(`M${(650 / 0.72).toFixed(1)},-4h83.3`);
  expect(pathOf(html, 'plot-below')).toBe('M0,-4h111.1');
  expect(html).toContain('6 hours busier than usual, 8 hours quieter.');
  expect(rowsOf(html).map(([, , text = '']) => text.replace('2 to 18', ''))).toEqual([
    ...Array<string>(8).fill(', quieter'),
    ...Array<string>(57).fill(''),
    ...Array<string>(6).fill(', busier'),
    // The last hour has not ended.
    '',
  ]);
  expect(html).toContain('>busiest: 20 Nov 11:00</text>');
});

test('the charts of labels draw applications above and removals below zero, on one scale', () => {
  const { series, columns } = labelsChart(labelsFile());
  expect(columns).toEqual({ value: 'Applied', below: 'Removed' });
  expect(series.bins[10]).toMatchObject({ value: 10, below: 1, observed: 1, reason: null });
});

test('the answer, the picture, the table and the files of labels agree on an hour in which no labeler was read completely', () => {
  const file = labelsFile();
  const counts = { applications: 0, removals: 0 };
  const hours = file.hours.map((hour, at) => (at === 70 ? { ...hour, ...counts, labeler_seconds: 20 } : hour));
  const labelers = file.labelers.map((labeler) => ({
    ...labeler,
    applications: labeler.applications.with(70, 0),
    removals: labeler.removals.with(70, 0),
    observed_seconds: labeler.observed_seconds.with(70, 20),
  }));
  const facts = served({ labels: { ...file, hours, labelers } });
  for (const path of ['/', '/hours/72']) {
    const html = sectionOf(facts.text(path), 'hours-labels');
    expect(html).toContain('20 Nov 2026, 09:00 UTC, 69 applications and 1 removals were observed.');
    expect(html).toContain('0 hours not observed, 1 hour observed in part; the line or the bars break there.');
    expect(html).not.toContain('Collection ran in every hour');
  }
  const reason = 'no labeler was read completely';
  expect(rowsOf(sectionOf(facts.text('/hours/72'), 'hours-labels'))[70]?.slice(1)).toEqual([
    '0',
    '0',
    `0.55\u00a0%: ${reason}`,
  ]);
  const line = facts.text('/charts/labels.csv').split('\n')[71]?.split(',');
  expect(line?.slice(2)).toEqual(['0', '0', String(20 / 3_600), reason, 'live']);
  expect(facts.text('/charts/labels.svg')).toContain('0 hours not observed, 1 hour observed in part;');
});

test('labels that were read late are drawn apart from the bars of the hour in which they arrived', () => {
  const file = labelsFile();
  const late = { applications: 7, removals: 1, observed_seconds: 60, labeler_seconds: 60 };
  const hours = file.hours.map((hour, at) => (at === 50 ? { ...hour, filled_in: late } : hour));
  const { series, columns } = labelsChart({ ...file, hours });
  expect(columns.apart).toBe('Read late');
  expect(series.bins[50]).toMatchObject({ value: 43, below: 0, apart: 8 });
});

test('an image of a chart needs nothing that viewers other than browsers lack', () => {
  const svg = served({ weather: weatherFile(40) }).text('/embed/hours.svg');
  // Nested pictures, percentages, patterns, several classes, and rules after a media query.
  expect(svg.match(/<svg/g)).toHaveLength(1);
  expect(svg).not.toMatch(/="[^"]*%"|<pattern|url\(|class="[^" ]+ |vector-effect|paint-order/);
  expect(svg).toMatch(/@media \(prefers-color-scheme:dark\)\{(?:\.[\w-]+\{[^}]*\})+\}<\/style>/);
  expect(svg).not.toMatch(/\.none\{/);
});
