import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fixture } from '../../harness/artifacts/fixtures.ts';
import { labelsHoursFixture, weatherHoursFixture } from '../../harness/artifacts/hours.ts';
import { factsInMemory, fixtureNow } from '../../harness/process/facts.ts';
import { memorySource } from '../../harness/process/memory-source.ts';
import { recogniseLabelsHours } from '../../src/artifact/hours/labels-hours.ts';
import { recogniseWeatherHours } from '../../src/artifact/hours/weather-hours.ts';
import { factsDocuments } from '../../src/facts/documents.ts';
import { packageRoot } from '../../src/main/command.ts';

/**
 * Maximum total size of the files of each page in bytes: without compression, and compressed with Brotli. Each limit is
 * the total size before translations, archive charts and anchors were added to these files.
 */
const limits = [
  ['the observatory page', ['/assets/almanac.css', '/assets/observatory.css', '/assets/observatory.js'], 18_000, 6_000],
  [
    'the pages about labelers',
    ['/assets/almanac.css', '/assets/observatory.css', '/assets/labelers.css'],
    13_445,
    4_060,
  ],
  ['the API reference', ['/docs', '/assets/almanac.css', '/assets/docs.css', '/assets/docs.js'], 1_922_280, 379_563],
  ['the compatibility policy', ['/policy', '/assets/almanac.css'], 10_950, 3_766],
  ['the page for operators of labelers', ['/for-labelers', '/assets/almanac.css'], 8_902, 3_093],
] as const;

const { answer } = factsDocuments(join(packageRoot(), 'assets'), [], '', { userAgent: 'Almanac', contact: null });
const lengthOf = (path: string, coding: 'identity' | 'br'): number => answer(path, coding)?.reply.body?.length ?? 0;

const now = fixtureNow.recent;
const generatedAt = now - 30_000;
const allHours = Array.from({ length: 24 }, (_, hour) => hour);

/** Serves the facts of a large network: 72 hours with usual ranges and a hole, and a year of days with gaps. */
function largeNetwork() {
  const recent = fixture('recent') as { acquisition: { generation_id: string } };
  const weather = weatherHoursFixture({ generatedAt, unobserved: 40 });
  const series = weather.series.map((one) => ({
    ...one,
    hours: one.hours.map((hour, at) => ({
      ...{ ...hour, events: hour.events === null ? null : hour.events * 100 + at * 7_777 },
      usual: { low: 1_234.5 + at * 7.7, high: 2_345.6 + at * 9.9, days: 28 },
    })),
  }));
  const labels = labelsHoursFixture({ generatedAt, labelers: ['did:plc:ewvi7nxzyoun6zhxrhs64oiz'], unobserved: 40 });
  const sources = {
    weather: memorySource(recogniseWeatherHours, now),
    labels: memorySource(recogniseLabelsHours, now),
  };
  sources.weather.set(Buffer.from(JSON.stringify({ ...weather, series, origin: 'live' })));
  const { generation_id } = recent.acquisition;
  sources.labels.set(Buffer.from(JSON.stringify({ ...labels, generation_id, origin: 'live' })));
  const days = Array.from({ length: 365 }, (_, at) => {
    const sums = (count: number) => ({
      count: Math.round(count * (1 + Math.sin(at) / 3)),
      observedSeconds: 80_000,
      wholeHours: at % 3 === 0 ? allHours.slice(1) : allHours,
    });
    const day = new Date(now - (364 - at) * 86_400_000).toISOString().slice(0, 10);
    const weatherSums = at % 20 === 7 ? null : sums(86_400 * 1_234);
    return { day, isClosed: true, hasFirstTables: false, weather: weatherSums, labels: sums(1_234_567) };
  });
  const facts = factsInMemory(now, null, { days: () => days, issues: () => [] }, sources);
  facts.set('recent', Buffer.from(JSON.stringify(recent)));
  facts.set('weather', Buffer.from(JSON.stringify(fixture('weather'))));
  return facts;
}

it.each([
  ['/', 60_000],
  ['/hours/72', 60_000],
  ['/archive', 70_000],
  ['/months/2026-10', 60_000],
] as const)('the page %s of a large network with its scripts and styles has at most %i bytes', (path, most) => {
  const html = largeNetwork().get(path).body?.toString('utf8') ?? '';
  const files = [...html.matchAll(/<(?:link rel="stylesheet" href|script src)="\.{1,2}([^"]+)"/g)].map(
    ([, at = '']) => at,
  );
  expect(files).toHaveLength(3);
  expect(html).toContain('class="plot-hole"');
  const sum = files.reduce((bytes, file) => bytes + lengthOf(file, 'identity'), Buffer.byteLength(html));
  expect(sum).toBeLessThanOrEqual(most);
});

it.each(limits)('the files of %s stay within their limits', async (_page, paths, plain, compressed) => {
  const sum = (coding: 'identity' | 'br'): number => paths.reduce((bytes, path) => bytes + lengthOf(path, coding), 0);
  for (const path of paths) expect(lengthOf(path, 'br'), path).toBeGreaterThan(0);
  expect(sum('identity')).toBeLessThanOrEqual(plain);
  // Poll, because a thread later replaces the compressed form of a file with a smaller form.
  await expect.poll(() => sum('br')).toBeLessThanOrEqual(compressed);
});
