import { beforeAll, expect, test } from 'vitest';
import { simulateArchive } from '../../harness/archive/simulated-archive.ts';
import { simulatedHours } from '../../harness/archive/simulated-hours.ts';
import { fixture } from '../../harness/artifacts/fixtures.ts';
import { type RatedHour, type RatedHours, ratedHours } from '../../harness/labels/rated-hours.ts';
import type { SimulatedOutage } from '../../harness/labels/simulated-outages.ts';
import { pathPoints, scaleOf } from '../../harness/pages/html.ts';
import { factsInMemory } from '../../harness/process/facts.ts';
import { memorySource } from '../../harness/process/memory-source.ts';
import { labelsSums } from '../../src/archive/summary/archive-summary.ts';
import { type LabelsHours, recogniseLabelsHours } from '../../src/artifact/hours/labels-hours.ts';
import { recogniseWeatherHours } from '../../src/artifact/hours/weather-hours.ts';
import { factsCommonHeaders } from '../../src/facts/app.ts';
import { archivePage } from '../../src/facts/archive/archive-page.tsx';
import type { ArchivedDay } from '../../src/facts/archive/model.ts';
import { hour, minute } from '../../src/store/time.ts';

/**
 * Proof that labels that were read late do not appear in rates. The instrument reads three simulated labelers for 30
 * days through 40 outages by its own rules, on a simulated clock.
 */

const dids = ['a', 'b', 'c'].map((name) => `did:plc:${name.repeat(24)}`);
const startedAt = Date.parse('2026-10-01T00:00:00Z') * 1000;
const days = 30;
/** Number of labels that a labeler emits per hour; it changes from hour to hour. */
const perHour = (labeler: number, hourNumber: number) => (labeler + 2) * 40 + 12 * ((hourNumber * 7 + labeler) % 5);

/** A generator with a fixed seed, because the outages must be the same in each run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Returns 40 outages of one minute to eight hours; each fourth one is followed by a crash while labels are filled in. */
function outages(): SimulatedOutage[] {
  const random = generator(7);
  const kinds: SimulatedOutage['kind'][] = ['instrument', 'network', 0, 1, 2];
  const made: SimulatedOutage[] = [];
  for (let at = 0; made.length < 40; at += 1) {
    const start = startedAt + (at + 0.2 + 0.3 * random()) * ((days * 24 * hour) / 32);
    const end = start + minute * 480 ** random();
    made.push({ kind: kinds[at % kinds.length] ?? 'instrument', start, end });
    if (at % 4 === 0) made.push({ kind: 'instrument', start: end + 2 * minute, end: end + 5 * minute });
  }
  return made;
}

const errorOf = (rate: number, truth: number): number => Math.abs(rate - truth) / truth;
const ratedSeconds = (one: RatedHour): number => one.observedSeconds - one.lateSeconds;

let observed: RatedHours;

beforeAll(async () => {
  observed = await ratedHours({ dids, startedAt, days, perHour, outages: outages() });
});

/** Returns the true sum of the rates of the labelers of which at least half of an hour belongs to a rate. */
function truthOf(number: number): number {
  return dids.reduce((sum, did, labeler) => {
    const one = observed.byLabeler.get(did)?.get(number);
    return one && ratedSeconds(one) >= 1_800 ? sum + perHour(labeler, number) : sum;
  }, 0);
}

test('all rates stay within 5 % of the truth in every hour of which at least half was observed, over 30 days with 40 outages', () => {
  const { byLabeler, sums } = observed;
  let worst = 0;
  let compared = 0;
  let peaks = 0;
  for (const [labeler, did] of dids.entries()) {
    for (const one of byLabeler.get(did)?.values() ?? []) {
      const truth = perHour(labeler, one.hour);
      if (one.observedSeconds >= 1_800 && errorOf((one.labels / one.observedSeconds) * 3_600, truth) > 0.05) peaks += 1;
      if (ratedSeconds(one) < 1_800) continue;
      compared += 1;
      worst = Math.max(worst, errorOf(((one.labels - one.lateLabels) / ratedSeconds(one)) * 3_600, truth));
    }
  }
  let worstSum = 0;
  let drawn = 0;
  for (const [number, rate] of sums) {
    const truth = truthOf(number);
    expect(rate === null).toBe(truth === 0);
    if (rate === null) continue;
    drawn += 1;
    worstSum = Math.max(worstSum, errorOf(rate, truth));
  }
  expect(worst).toBeLessThan(0.05);
  expect(worstSum).toBeLessThan(0.05);
  expect(compared).toBeGreaterThan(0.9 * 3 * 24 * days);
  expect(drawn).toBeGreaterThan(0.9 * 24 * days);
  // Dividing all accepted labels by the observed time gives wrong rates in many of these hours.
  expect(peaks).toBeGreaterThan(40);
});

/** Returns the charts of a page whose descriptions begin with a text. */
const chartsOf = (html: string, begin: string): string[] =>
  html.split('<svg class="plot" role="img" aria-label="').filter((part) => part.startsWith(begin));

test('the bars of the front page draw no late label, so that none is higher than the truth by more than 5 %', () => {
  const recent = fixture('recent') as { acquisition: object; coverage: object };
  let [bars, whole, worst, highest] = [0, 0, 0, 0];
  for (const file of observed.files) {
    const now = Date.parse(file.generated_at) + 30_000;
    const sources = {
      weather: memorySource(recogniseWeatherHours, now),
      labels: memorySource(recogniseLabelsHours, now),
    };
    sources.labels.set(Buffer.from(JSON.stringify(file)));
    const facts = factsInMemory(now, null, undefined, sources);
    const overview = {
      ...{ ...recent, generated_at: file.generated_at, origin: 'simulated' },
      acquisition: { ...recent.acquisition, generation_id: file.generation_id },
      coverage: { ...recent.coverage, observed_through: file.generated_at },
    };
    facts.set('recent', Buffer.from(JSON.stringify(overview)));
    const [chart = ''] = chartsOf(facts.get('/').body?.toString('utf8') ?? '', 'Labels applied');
    const toValue = scaleOf(chart);
    const drawn = [...chart.matchAll(/class="plot-up[^"]*"[^>]* d="([^"]*)"/g)].flatMap(([, d = '']) => [
      ...d.matchAll(/M([\d.]+),([\d.]+)v(-?[\d.]+)/g),
    ]);
    for (const [, x, y, length] of drawn) {
      const one = file.hours[Math.floor((Number(x) / 1000) * file.hours.length)];
      const number = (Date.parse(one?.start ?? '') * 1_000) / hour;
      if (one?.complete !== true) continue;
      const truth = dids.reduce((sum, _, labeler) => sum + perHour(labeler, number), 0);
      const value = toValue(Number(y) + Number(length));
      bars += 1;
      highest = Math.max(highest, value / truth);
      const isWhole = one.labeler_seconds === dids.length * 3_600 && one.filled_in?.labeler_seconds === 0;
      if (isWhole) worst = Math.max(worst, errorOf(value, truth));
      whole += isWhole ? 1 : 0;
    }
  }
  expect(highest).toBeLessThan(1.05);
  expect(worst).toBeLessThan(0.05);
  expect(bars).toBeGreaterThan(0.9 * 72 * 2 * days - 500);
  expect(whole).toBeGreaterThan(0.6 * bars);
});

/** Archives the hours files at the times of their publication, and returns the sums of the days as its page reads them. */
async function archivedDays(files: readonly LabelsHours[]): Promise<ArchivedDay[]> {
  let newest = files[0];
  const archive = simulateArchive({
    hours: (now) =>
      newest ? { weather: simulatedHours(now).weather, labels: { kind: 'readable', artifact: newest } } : null,
  });
  for (const file of files) {
    newest = file;
    await archive.tickAt(Date.parse(file.generated_at) + 60_000);
  }
  const names = Array.from({ length: days }, (_, at) => new Date(startedAt / 1_000 + at * 86_400_000));
  return names.map((date): ArchivedDay => {
    const day = date.toISOString().slice(0, 10);
    const [totals = '', late = '', rates = ''] = ['totals', 'late', 'rates'].map(
      (name) => archive.content.get(`days/${day}/labels-${name}.csv`)?.toString('utf8') ?? '',
    );
    return { day, isClosed: true, hasFirstTables: false, weather: null, labels: labelsSums(totals, late, rates) };
  });
}

test('the line of the archive stays within 5 % of the truth on each day', async () => {
  const archived = await archivedDays(observed.files);
  const now = startedAt / 1_000 + days * 86_400_000 - 1;
  const page = archivePage(factsCommonHeaders, { days: () => archived, issues: () => [] })('identity', now, null);
  const [chart = ''] = chartsOf(page.body?.toString('utf8') ?? '', 'Labels applied and removed per hour');
  const toValue = scaleOf(chart);
  const points = pathPoints(chart.match(/class="line-labels" d="([^"]*)"/)?.[1] ?? '');
  const drawn = new Map<number, number>();
  for (const [at, { y, isStart }] of points.entries()) {
    const before = points[at - 1];
    if (before && !isStart && before.y === y) drawn.set(Math.round((before.x / 1000) * days), toValue(y));
  }
  let worst = 0;
  for (const [day, value] of drawn) {
    const first = startedAt / hour + day * 24;
    const truths = Array.from({ length: 24 }, (_, at) => truthOf(first + at)).filter((truth) => truth > 0);
    worst = Math.max(worst, errorOf(value, truths.reduce((sum, truth) => sum + truth, 0) / truths.length));
  }
  expect(drawn.size).toBeGreaterThanOrEqual(days - 2);
  expect(worst).toBeLessThan(0.05);
});
