import { beforeEach, expect, test } from 'vitest';
import { fixture } from '../../../harness/artifacts/fixtures.ts';
import { factsInMemory, fixtureNow } from '../../../harness/process/facts.ts';
import { errorTable } from '../../contract/errors.ts';
import type { ArchivedDay } from './model.ts';

/** The observatory page and the archive page change with the archive and with refusals of the label overview. */

const now = fixtureNow.recent;
const sums = { count: 86_400, observedSeconds: 86_400, wholeHours: Array.from({ length: 24 }, (_, hour) => hour) };
const dayOf = (day: string): ArchivedDay => ({
  day,
  isClosed: true,
  hasFirstTables: false,
  weather: sums,
  labels: sums,
});

let days: readonly ArchivedDay[];
const archive = { days: () => days, issues: () => [] };
beforeEach(() => {
  days = [dayOf('2026-11-18'), dayOf('2026-11-19')];
});

const bytesOf = (artifact: object): Buffer => Buffer.from(JSON.stringify(artifact));
const pageOf = (facts: ReturnType<typeof factsInMemory>, path: string, at = now): string =>
  facts.get(path, at).body?.toString('utf8') ?? '';

test('the front page is rendered again when the archive or the hour changes, even while all facts are missing', () => {
  const facts = factsInMemory(now, null, archive);
  expect(pageOf(facts, '/')).toContain('The newest day in the archive is 19 Nov 2026.');
  days = [...days, dayOf('2026-11-20')];
  expect(pageOf(facts, '/')).toContain('The newest day in the archive is 20 Nov 2026.');
  expect(pageOf(facts, '/', now + 86_400_000)).toContain('The chart covers 23 Oct 2026 to 21 Nov 2026.');
  expect(facts.get('/', now + 86_400_000)).toBe(facts.get('/', now + 86_400_001));
});

test('the charts of the archive and their files are the same at every moment of an hour', () => {
  // The 20th is not in the archive: its hole is drawn up to the start of the hour.
  const hour = Math.floor(now / 3_600_000) * 3_600_000;
  const shownAt = (at: number): string[] => {
    const facts = factsInMemory(now, null, archive);
    const [section = ''] = /<section aria-labelledby="archive">.*?<\/section>/s.exec(pageOf(facts, '/', at)) ?? [];
    const paths = ['/archive', '/months/2026-11', '/charts/month-events.csv', '/months/2026-11/events.csv'];
    return [section, ...paths.map((path) => pageOf(facts, path, at))];
  };
  const atStart = shownAt(hour);
  expect(atStart.map((text) => text.length > 1_000)).toEqual([true, true, true, true, true]);
  expect(shownAt(hour + 3_599_999)).toEqual(atStart);
  expect(shownAt(hour + 3_600_000)).not.toEqual(atStart);
});

test('while the archive cannot be read, the files of its months are refused like those of its charts, and only other names are not found', () => {
  const facts = factsInMemory(now, null, { days: () => null, issues: () => [] });
  facts.set('recent', bytesOf(fixture('recent')));
  for (const kind of ['events', 'labels']) {
    for (const form of ['csv', 'svg']) {
      const chart = facts.get(`/charts/month-${kind}.${form}`);
      expect([form, chart.status]).toEqual([form, form === 'csv' ? 503 : 200]);
      expect(facts.get(`/months/2026-11/${kind}.${form}`)).toEqual(chart);
    }
  }
  const others = ['2026-11/other.csv', '2026-11/events.txt', '2026-11/', '2026/events.csv', '2026-1/events.csv'];
  expect(others.map((name) => facts.get(`/months/${name}`).status)).toEqual([404, 404, 404, 404, 404]);
});

test('label rates are shown while the label overview is served, and neither shown nor sent while it is held', () => {
  const facts = factsInMemory(now, null, archive);
  for (const path of ['/', '/archive']) {
    facts.set('recent', bytesOf(fixture('recent')));
    expect(pageOf(facts, path)).toContain('class="line-labels"');
    facts.set('recent', bytesOf({ ...fixture('recent'), hold: true }));
    const held = pageOf(facts, path);
    expect(held).toContain('class="line-weather"');
    expect(held).toContain(`The chart shows no labels. ${errorTable.source_held.message}`);
    expect(held).not.toMatch(/class="line-labels"|labels per hour|labelsPerHour&quot;:\d/);
  }
});
