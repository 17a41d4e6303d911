import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { scaleLinear } from 'd3-scale';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { writeClosedArchive } from '../../harness/archive/closed-archive.ts';
import type { SimulatedGap } from '../../harness/archive/simulated-hours.ts';
import { fixture } from '../../harness/artifacts/fixtures.ts';
import { pathPoints } from '../../harness/pages/html.ts';
import { factsInMemory, fixtureNow } from '../../harness/process/facts.ts';
import { dice } from '../../sim/random.ts';
import { type ArchiveSummary, archiveSummary } from '../../src/archive/summary/archive-summary.ts';
import { directoryReader } from '../../src/archive/verify/archive-reader.ts';
import { verifyArchive } from '../../src/archive/verify/verify.ts';
import { chartDays } from '../../src/facts/archive/model.ts';
import { findIdentityIn } from '../../src/main/archived-identity.ts';
import { headroom, plotHeight, plotWidth } from '../../src/web/chart/layout.ts';

/** Compares the charts of an archive with the values that DuckDB computes from the archive's Parquet files. */

const now = fixtureNow.recent;
const [hourMs, dayMs] = [3_600_000, 86_400_000];
const year = 365;
const root = mkdtempSync(join(tmpdir(), 'almanac-chart-'));

/** Generates random gaps within the last year: some short, some lasting for days. */
function randomGaps(seed: number): SimulatedGap[] {
  const chance = dice(seed);
  return Array.from({ length: 200 }, () => {
    const start = now - chance.below(year * 24 * 60) * 60_000;
    return { start, end: start + (1 + chance.below(chance.pick([60, 3_600, 200_000]))) * 1_000 };
  });
}

/** Daily rates of one kind, as DuckDB computes them. */
type Rates = ReadonlyMap<string, number>;

let summary: ArchiveSummary;
let connection: DuckDBConnection;
let weather: Rates;
let labels: Rates;

beforeAll(async () => {
  writeClosedArchive({
    before: now,
    days: year - 1,
    faults: { weather: randomGaps(1), labels: randomGaps(2) },
    write(path, bytes) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), bytes);
    },
  });
  summary = archiveSummary({
    ...{ root, pollMs: 60_000, findIdentityIn },
    failed(error) {
      throw error;
    },
  });
  connection = await (await DuckDBInstance.create(':memory:')).connect();
  await summary.start();
  // Wait for the first read, which can take longer than the program waits at startup.
  await vi.waitFor(() => expect(summary.days()?.length).toBe(year - 1), 60_000);
  weather = await rates('weather-totals', 'sum(events) / sum(observed_seconds)');
  labels = await rates('labels-totals', '3600 * sum(applications + removals) / sum(observed_seconds)');
});

afterAll(async () => {
  await summary.stop();
  connection.closeSync();
  rmSync(root, { recursive: true });
});

async function rates(table: string, rate: string): Promise<Rates> {
  const sql = `SELECT CAST(day AS VARCHAR), CAST(${rate} AS DOUBLE) FROM '${root}/days/*/${table}.parquet' GROUP BY day`;
  const rows = (await connection.runAndReadAll(sql)).getRowsJson();
  return new Map(rows.map(([day, value]) => [String(day), Number(value)]));
}

const lastDays = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => new Date(now - (count - 1 - at) * dayMs).toISOString().slice(0, 10));

/**
 * Compares the values of a chart with expected values, which are rounded to five digits as in charts. The comparison
 * has a tolerance, because DuckDB may add the parts in another order.
 */
function expectSame(found: readonly (number | null)[], expected: readonly (number | undefined)[]): void {
  expect(found.map((value) => value === null)).toEqual(expected.map((value) => value === undefined));
  for (const [place, value] of found.entries())
    if (value !== null) expect(value).toBeCloseTo(Number((expected[place] ?? Number.NaN).toPrecision(5)), 6);
}

/** Returns the values of a drawn line by day, derived from the height of its steps. */
function drawnValues(html: string, kind: string, picture: number, scale: DrawnScale): Map<number, number> {
  const path = [...html.matchAll(new RegExp(`class="line-${kind}" d="([^"]*)"`, 'g'))][picture]?.[1] ?? '';
  const points = pathPoints(path);
  const values = new Map<number, number>();
  for (const [place, { x, y, isStart }] of points.entries()) {
    const from = points[place - 1];
    if (isStart || from === undefined || from.y !== y) continue;
    for (let day = 0; day < scale.days; day += 1) {
      const middle = ((day + 0.5) / scale.days) * plotWidth;
      if (from.x < middle && middle < x) values.set(day, scale.invert(y));
    }
  }
  return values;
}

/** The axes of a chart: the number of days, and the value at a height. */
interface DrawnScale {
  readonly days: number;
  invert(y: number): number;
}

/** Compares a drawn line with the rates of the last `count` days. */
function expectDrawn(html: string, kind: string, rate: Rates, count: number, picture: number): void {
  const days = lastDays(count);
  const max = Math.max(...days.map((day) => rate.get(day) ?? 0));
  const axis = scaleLinear([0, max], [plotHeight, headroom]).nice(4);
  const drawn = drawnValues(html, kind, picture, { days: count, invert: (y) => axis.invert(y) });
  const expected = days.flatMap((day, at) => (rate.has(day) ? [[at, rate.get(day) ?? 0] as const] : []));
  expect([...drawn.keys()]).toEqual(expected.map(([at]) => at));
  // Allow for rounding: a height has one decimal place, and none in a chart of more than a hundred days.
  const unit = axis.invert(0) - axis.invert(count > 100 ? 0.51 : 0.051);
  for (const [at, value] of expected) expect(Math.abs((drawn.get(at) ?? 0) - value)).toBeLessThan(unit);
}

function pages() {
  const facts = factsInMemory(now, null, summary);
  facts.set('recent', Buffer.from(JSON.stringify(fixture('recent'))));
  const textOf = (path: string): string => facts.get(path, now).body?.toString('utf8') ?? '';
  return { archive: textOf('/archive'), front: textOf('/') };
}

describe.each([
  [30, 0],
  [365, 1],
])('the chart of %i days', (count, picture) => {
  it('has the rates that DuckDB computes, with a break at days without a rate', () => {
    const days = lastDays(count);
    const shown = chartDays(summary.days() ?? [], { count, now, areLabelsShown: true });
    expect(shown.map(({ day }) => day)).toEqual(days);
    expectSame(
      shown.map(({ eventsPerSecond }) => eventsPerSecond),
      days.map((day) => weather.get(day)),
    );
    expectSame(
      shown.map(({ labelsPerHour }) => labelsPerHour),
      days.map((day) => labels.get(day)),
    );
  });

  it('is drawn on the archive page with the rates that DuckDB computes', () => {
    for (const [kind, rate] of [['weather', weather] as const, ['labels', labels] as const])
      expectDrawn(pages().archive, kind, rate, count, picture);
  });
});

it('the front page shows the values that DuckDB computes for its 30 days', () => {
  for (const [kind, rate] of [['weather', weather] as const, ['labels', labels] as const])
    expectDrawn(pages().front, kind, rate, 30, 0);
});

it('the one-year archive has gaps and passes verification', async () => {
  expect(weather.size).toBeLessThan(year - 1);
  expect(weather.size).toBeGreaterThan(250);
  const wait = () => Promise.resolve();
  const { findings } = await verifyArchive({
    reader: directoryReader(root),
    key: null,
    kept: null,
    now: now + 3 * dayMs + hourMs,
    wait,
  });
  expect(findings).toEqual([]);
}, 300_000);
