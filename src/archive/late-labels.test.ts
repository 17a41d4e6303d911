import { expect, test } from 'vitest';
import { simulatedHours, simulatedLabelers } from '../../harness/archive/simulated-hours.ts';
import { at, tabledArchive } from '../../harness/archive/tabled-archive.ts';
import type { LabelsHours } from '../artifact/hours/labels-hours.ts';
import type { HoursReadings } from './hours/hours-reading.ts';
import { labelsSums } from './summary/day-summary.ts';

/** Labels that were read late are part of the counts of a day, and are stated apart from its rates. */

const day = '2026-11-20';
/** End of an outage of five hours, at whose end the missed labels of the first labeler were read. */
const caughtUp = at(0, 9);
const late = { applications: 300, removals: 4, observed_seconds: 120 };
const [did] = simulatedLabelers;

/** Adds the statements about late labels to the hours files from a time on. */
function stating(since: number): (now: number) => HoursReadings {
  return (now) => {
    const { weather, labels } = simulatedHours(now);
    if (labels.kind !== 'readable' || now < since) return { weather, labels };
    return { weather, labels: { kind: 'readable', artifact: withLate(labels.artifact) } };
  };
}

function withLate(file: LabelsHours): LabelsHours {
  const index = file.hours.findIndex(({ start }) => Date.parse(start) === caughtUp);
  return {
    ...file,
    hours: file.hours.map((hour, place) => ({
      ...hour,
      ...(place === index && { applications: (hour.applications ?? 0) + 300, removals: (hour.removals ?? 0) + 4 }),
      filled_in: {
        ...(place === index ? late : { applications: 0, removals: 0, observed_seconds: 0 }),
        labeler_seconds: place === index ? 120 : 0,
      },
      labels_per_hour: hour.applications === null ? null : 61,
    })),
    labelers: file.labelers.map((labeler) => ({
      ...labeler,
      ...(labeler.labeler_did === did && {
        applications: labeler.applications.map((count, place) => (place === index ? (count ?? 0) + 300 : count)),
        removals: labeler.removals.map((count, place) => (place === index ? (count ?? 0) + 4 : count)),
      }),
      filled_in: labeler.labeler_did === did && index >= 0 ? [{ at: index, ...late }] : [],
    })),
  };
}

const lateNames = ['filled_in_applications', 'filled_in_removals', 'filled_in_seconds'];

test('the tables of a closed day state late labels in columns of their own, and the archive verifies', async () => {
  const archive = await tabledArchive(24 * 4 + 1, { hours: stating(0) });
  const [header = [], ...rows] = archive.csv(day, 'labels-by-hour');
  expect(header.slice(-4)).toEqual([...lateNames, 'labels_per_hour']);
  expect(rows[9]?.slice(-4)).toEqual(['300', '4', '120', '61']);
  expect(rows[8]?.slice(-4)).toEqual(['0', '0', '0', '61']);
  const [names = [], ...labelers] = archive.csv(day, 'labels-by-labeler');
  expect(names.slice(-3)).toEqual(lateNames);
  expect(labelers.map((row) => row.slice(-3))).toEqual([
    ['300', '4', '120'],
    ['0', '0', '0'],
  ]);
  const [, , , , , , , , , parquet] = await archive.parquet(day, 'labels-by-hour');
  expect(parquet).toMatchObject({ filled_in_applications: 300n, labels_per_hour: 61 });
  expect(archive.record(day)).toMatchObject({ state: 'closed' });
  expect((await archive.verify()).findings).toEqual([]);
});

test('the tables of a day whose instrument did not state late labels apart keep their columns', async () => {
  const archive = await tabledArchive(24 * 4 + 1, { hours: stating(Number.POSITIVE_INFINITY) });
  expect(archive.csv(day, 'labels-by-hour')[0]?.at(-1)).toBe('sources_unavailable');
  expect(archive.csv(day, 'labels-by-labeler')[0]?.at(-1)).toBe('observed_seconds');
  expect(archive.bytes(`days/${day}/labels-hours.json`).toString()).not.toContain('filled_in');
  expect(labelsSums(archive.bytes(`days/${day}/labels-by-hour.csv`).toString())).not.toHaveProperty('late');
});

test('a later file moves the late labels of a day, and its sums keep the statements about the other hours', async () => {
  const archive = await tabledArchive(30, { hours: stating(at(0, 20)) });
  expect(archive.csv(day, 'labels-by-hour')[10]?.slice(-4)).toEqual(['300', '4', '120', '61']);
  expect(archive.csv(day, 'labels-by-labeler')[1]?.slice(-3)).toEqual(['300', '4', '120']);
});

test('the sums of a day divide no late labels by its observed time', async () => {
  const archive = await tabledArchive(30, { hours: stating(0) });
  const sums = labelsSums(archive.bytes(`days/${day}/labels-by-hour.csv`).toString());
  expect(sums?.late?.count).toBe(304);
  expect((sums?.late?.rate ?? 0) * 3_600).toBeCloseTo(61, 6);
  expect(sums?.count).toBeGreaterThan(304);
});
