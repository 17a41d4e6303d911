import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { simulateArchive } from '../../../harness/archive/simulated-archive.ts';
import { simulatedHours } from '../../../harness/archive/simulated-hours.ts';
import { folderInTest } from '../../../harness/process/folder.ts';
import { until } from '../../../harness/process/until.ts';
import { findIdentityIn } from '../../main/archived-identity.ts';
import { hourMs } from '../days/calendar.ts';
import { formatIssues, issuesFile, type KnownIssue } from '../days/known-issues.ts';
import { formatIndex, formatTombstones, tombstoneFile } from '../days/records.ts';
import { archiveSummary, labelsSums, weatherSums } from './archive-summary.ts';

/** The summary of a day adds up the rows of its tables and never reports an unobserved value as 0. */

const weatherHeader = 'hour,host,protocol,published,collection,events,observed_seconds\r\n';
const sha256 = 'a'.repeat(64);
const labelsHeader = 'hour,applications,removals,repeats,observed_seconds,labeler_seconds\r\n';

test('the weather sums count all events of the published series, and exclude events of other series', () => {
  const rows = [
    '2026-11-20T00:00:00Z,a.example,jetstream.legacy,true,total,100,3600',
    '2026-11-20T00:00:00Z,a.example,jetstream.legacy,true,like.create,90,3600',
    '2026-11-20T00:00:00Z,b.example,jetstream.legacy,false,total,700,3600',
    '2026-11-20T01:00:00Z,a.example,jetstream.legacy,true,total,50,1800',
    '2026-11-20T02:00:00Z,a.example,jetstream.legacy,true,total,,0',
    '2026-11-20T03:00:00Z,a.example,jetstream.legacy,true,total,,',
  ];
  const csv = `${weatherHeader}${rows.join('\r\n')}\r\n`;
  expect(weatherSums(csv)).toEqual({ count: 150, observedSeconds: 5400, wholeHours: [0], partHours: [1] });
});

test('two published series of a day are not added up', () => {
  const rows = [
    '2026-11-20T00:00:00Z,a.example,jetstream.legacy,true,total,100,600',
    '2026-11-20T01:00:00Z,b.example,jetstream.legacy,true,total,700,3600',
  ];
  expect(weatherSums(`${weatherHeader}${rows.join('\r\n')}\r\n`)).toMatchObject({ count: 700, observedSeconds: 3600 });
});

test('the sums of the totals are those of the table of the first edition, in which an hour without a row is empty', () => {
  const rows = [
    '2026-11-20,2026-11-20T00:00:00Z,100,3600,a.example,jetstream.legacy',
    '2026-11-20,2026-11-20T01:00:00Z,50,1800,a.example,jetstream.legacy',
  ];
  const weather = `day,hour,events,observed_seconds,host,protocol\n${rows.join('\n')}\n`;
  expect(weatherSums(weather)).toEqual({ count: 150, observedSeconds: 5400, wholeHours: [0], partHours: [1] });
  const labels =
    'day,hour,applications,removals,observed_seconds,labeler_seconds,repeats\n2026-11-20,2026-11-20T00:00:00Z,5,2,3600,7200,1\n';
  expect(labelsSums(labels)).toEqual({ count: 7, observedSeconds: 3600, wholeHours: [0] });
});

test('the label sums count applications and removals, and are null if nothing was observed', () => {
  const observed = `${labelsHeader}2026-11-20T00:00:00Z,5,2,1,3600,7200\r\n2026-11-20T01:00:00Z,1,,0,600,600\r\n`;
  expect(labelsSums(observed)).toEqual({ count: 7, observedSeconds: 3600, wholeHours: [0] });
  expect(labelsSums(`${labelsHeader}2026-11-20T00:00:00Z,,,,0,0\r\n`)).toEqual({
    ...{ count: null, observedSeconds: 0, wholeHours: [] },
  });
});

test('an hour without a count adds no observed time and does not count as a whole hour', () => {
  const labels = ['2026-11-20T00:00:00Z,60,12,0,3600,7200', '2026-11-20T01:00:00Z,,,,3600,7200'];
  expect(labelsSums(`${labelsHeader}${labels.join('\r\n')}\r\n`)).toEqual({
    ...{ count: 72, observedSeconds: 3600, wholeHours: [0] },
  });
  const weather = `${weatherHeader}2026-11-20T00:00:00Z,a.example,jetstream.legacy,true,total,,3600\r\n`;
  expect(weatherSums(weather)).toEqual({ count: null, observedSeconds: 0, wholeHours: [] });
});

test('an hour that lacks more than its last minutes, which may not be closed yet, is one that was observed in part', () => {
  const rows = ['2026-11-20T00:00:00Z,60,12,0,3299,7200', '2026-11-20T01:00:00Z,5,2,0,3300,7200'];
  expect(labelsSums(`${labelsHeader}${rows.join('\r\n')}\r\n`)).toEqual({
    ...{ count: 79, observedSeconds: 6599, wholeHours: [], partHours: [0] },
  });
});

test('an hour of which no labeler was read for half was observed in part, although the instrument ran', () => {
  const [first, second] = ['2026-11-20T00:00:00Z', '2026-11-20T01:00:00Z'];
  const totals = `${labelsHeader}${first},60,12,0,3600,7200\n${second},5,2,0,3600,20\n`;
  const late = `hour,filled_in_applications,filled_in_removals\n${first},0,0\n${second},0,0\n`;
  expect(labelsSums(totals, late, `hour,labels_per_hour\n${first},72\n`)).toEqual({
    ...{ count: 79, observedSeconds: 5400, wholeHours: [0], partHours: [1], late: { count: 0, rate: 0.02 } },
  });
});

test('a table that has only a header has no whole hours', () => {
  const none = { count: null, observedSeconds: 0, wholeHours: [] };
  expect([weatherSums(weatherHeader), labelsSums(labelsHeader)]).toEqual([none, none]);
});

test('a table that lacks a required column or has quoted cells has no sums', () => {
  expect(labelsSums('hour,removals\r\n')).toBeNull();
  expect(labelsSums(`${labelsHeader}"2026-11-20T00:00:00Z",1,1,1,1,1\r\n`)).toBeNull();
});

test('an archive has no summary while its directory is empty, and has the sums of its tables once it contains days', async () => {
  const simulated = simulateArchive({ hours: (now) => simulatedHours(now) });
  await simulated.run(30);
  const root = folderInTest();
  const write = (): void => {
    for (const [path, bytes] of simulated.content) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), bytes);
      utimesSync(join(root, path), 0, 0);
    }
  };
  const failed = (error: unknown): never => {
    throw error;
  };
  const summary = archiveSummary({ root, pollMs: 1, findIdentityIn, failed });
  onTestFinished(() => summary.stop());
  await summary.start();
  expect(summary.days()).toBeNull();
  write();
  await summary.stop();
  const second = archiveSummary({ root, pollMs: hourMs, findIdentityIn, failed });
  onTestFinished(() => second.stop());
  await second.start();
  const days = second.days();
  expect(days?.map(({ day, isClosed }) => [day, isClosed])).toEqual([
    ['2026-11-20', false],
    ['2026-11-21', false],
  ]);
  const table = simulated.content.get('days/2026-11-20/labels-totals.csv')?.toString('utf8') ?? '';
  expect(days?.[0]?.labels).toEqual(labelsSums(table));
  expect(days?.[0]?.labels?.count).toBeGreaterThan(0);
  expect(days?.[0]?.weather?.count).toBeGreaterThan(0);
});

test('the known issues of an archive are read together with its days, but are ignored if the list is invalid or contains an identity', async () => {
  const root = folderInTest();
  const issue: KnownIssue = {
    ...{ id: 'twice', reported_at: '2026-11-21T00:00:00Z', source: 'labels', summary: 'Counted twice.' },
    ...{ start: '2026-11-20T10:00:00Z', end: null },
  };
  writeFileSync(join(root, 'index.json'), formatIndex({ key: 'a', days: [] }));
  const issuesOf = async (list: Buffer) => {
    writeFileSync(join(root, issuesFile), list);
    const summary = archiveSummary({ root, pollMs: hourMs, findIdentityIn, failed: () => undefined });
    await summary.start();
    await summary.stop();
    return summary.issues();
  };
  expect(await issuesOf(formatIssues([issue]))).toEqual([issue]);
  expect(await issuesOf(Buffer.from('{}'))).toEqual([]);
  const named = { ...issue, summary: 'Caused by did:plc:ewvi7nxzyoun6zhxrhs64oiz.' };
  expect(await issuesOf(formatIssues([named]))).toEqual([]);
});

test('a table that is withdrawn has no sums from the next check on, whether or not its file still exists', async () => {
  const root = folderInTest();
  const day = '2026-11-20';
  const file = (name: string) => join(root, 'days', day, name);
  mkdirSync(file('.'), { recursive: true });
  writeFileSync(join(root, 'index.json'), formatIndex({ key: 'a', days: [{ day, state: 'closed', sha256 }] }));
  const weather = `${weatherHeader}${day}T00:00:00Z,a.example,jetstream.legacy,true,total,100,3600\r\n`;
  writeFileSync(file('weather-totals.csv'), weather);
  writeFileSync(file('labels-totals.csv'), `${labelsHeader}${day}T00:00:00Z,5,2,1,3600,7200\r\n`);
  const summary = archiveSummary({ root, pollMs: 1, findIdentityIn, failed: () => undefined });
  onTestFinished(() => summary.stop());
  await summary.start();
  const counts = () => summary.days()?.map((one) => [one.weather?.count ?? null, one.labels?.count ?? null]);
  expect(counts()).toEqual([[100, 7]]);
  const tombstone = {
    name: 'labels-totals.csv',
    bytes: 1,
    sha256,
    withdrawn_at: `${day}T12:00:00.000Z`,
    reason: 'wrong',
  };
  writeFileSync(file(tombstoneFile), formatTombstones(day, [tombstone]));
  await until('the label sums are withdrawn', () => counts()?.[0]?.[1] === null);
  expect(counts()).toEqual([[100, null]]);
  writeFileSync(file(tombstoneFile), 'damaged');
  await until('no sums are shown while it is not known which are withdrawn', () => counts()?.[0]?.[0] === null);
});

test('a table that is copied or restored after the record of its closed day is shown from the next check on', async () => {
  const root = folderInTest();
  const day = '2026-11-20';
  const file = (name: string) => join(root, 'days', day, name);
  writeFileSync(join(root, 'index.json'), formatIndex({ key: 'a', days: [{ day, state: 'closed', sha256 }] }));
  const summary = archiveSummary({ root, pollMs: 1, findIdentityIn, failed: () => undefined });
  onTestFinished(() => summary.stop());
  await summary.start();
  const shown = () =>
    summary.days()?.map(({ weather, labels }) => [weather?.count ?? null, labels?.count ?? null, labels?.late]);
  expect(shown()).toEqual([[null, null, undefined]]);
  const missing = summary.days()?.[0];
  mkdirSync(file('.'), { recursive: true });
  const weather = `${weatherHeader}${day}T00:00:00Z,a.example,jetstream.legacy,true,total,100,3600\r\n`;
  writeFileSync(file('weather-totals.csv'), 'damaged');
  writeFileSync(file('labels-totals.csv'), 'damaged');
  await until('the damaged tables are known', () => summary.days()?.[0] !== missing);
  writeFileSync(file('weather-totals.csv'), weather);
  await until('the weather sums are shown', () => shown()?.[0]?.[0] === 100);
  writeFileSync(file('labels-totals.csv'), `${labelsHeader}${day}T00:00:00Z,5,2,1,3600,7200\r\n`);
  await until('the label sums are shown', () => shown()?.[0]?.[1] === 7);
  writeFileSync(file('labels-late.csv'), `hour,filled_in_applications,filled_in_removals\n${day}T00:00:00Z,1,0\n`);
  writeFileSync(file('labels-rates.csv'), `hour,labels_per_hour\n${day}T00:00:00Z,6\n`);
  await until('the late labels are shown', () => shown()?.[0]?.[2] !== undefined);
  expect(shown()).toEqual([[100, 7, { count: 1, rate: 6 / 3_600 }]]);
  // A table may have been read while it was copied.
  writeFileSync(
    file('weather-totals.csv'),
    `${weather}${day}T01:00:00Z,a.example,jetstream.legacy,true,total,50,3600\r\n`,
  );
  await until('the whole table is shown', () => shown()?.[0]?.[0] === 150);
});
