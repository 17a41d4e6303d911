import { expect, test } from 'vitest';
import { type SimulatedFaults, simulatedHours, simulatedLabelers } from '../../harness/archive/simulated-hours.ts';
import { at, type TabledArchive, tabledArchive } from '../../harness/archive/tabled-archive.ts';
import type { LabelsHours } from '../artifact/hours/labels-hours.ts';
import { hoursOf } from './days/calendar.ts';
import type { HoursReadings } from './hours/hour-lists.ts';
import { labelsSums } from './summary/archive-summary.ts';

/** Labels that were read late are part of the counts of a day, and are stated apart from its rates. */

const day = '2026-11-20';
/** End of an outage of five hours, at whose end the missed labels of the first labeler were read. */
const caughtUp = at(0, 9);
const late = { applications: 300, removals: 4, observed_seconds: 120 };
const [did] = simulatedLabelers;

/** Adds the statements about late labels to the hours files from a time on. */
function stating(since: number, faults: SimulatedFaults = {}): (now: number) => HoursReadings {
  return (now) => {
    const { weather, labels } = simulatedHours(now, faults);
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

/** Returns the sums of the day from its tables. */
const sumsIn = (archive: TabledArchive) => {
  const [totals, late, rates] = ['totals', 'late', 'rates'].map((name) =>
    archive.bytes(`days/${day}/labels-${name}.csv`).toString(),
  );
  return labelsSums(totals ?? '', late, rates);
};

test('the tables of a closed day state late labels in tables of their own, and the archive verifies', async () => {
  const archive = await tabledArchive(24 * 4 + 1, { hours: stating(0) });
  const [, ...late] = archive.csv(day, 'labels-late');
  expect(late).toHaveLength(24);
  expect(late[9]).toEqual([day, `${day}T09:00:00Z`, '300', '4', '120']);
  expect(late[8]).toEqual([day, `${day}T08:00:00Z`, '0', '0', '0']);
  expect(
    archive
      .csv(day, 'labels-rates')
      .slice(1)
      .map((row) => row[2]),
  ).toEqual(Array(24).fill('61'));
  expect(archive.csv(day, 'labels-late-labelers').slice(1)).toEqual([[day, did, '300', '4', '120']]);
  const parquet = await archive.parquet(day, 'labels-late');
  expect(parquet[9]).toMatchObject({ filled_in_applications: 300n, filled_in_seconds: 120 });
  expect(archive.record(day)).toMatchObject({ state: 'closed' });
  expect((await archive.verify()).findings).toEqual([]);
});

test('an hour that was not observed has no row in the table of late labels, although the hours file states zeros for it', async () => {
  const faults = { labels: [{ start: at(0, 5), end: at(0, 7) }] };
  const archive = await tabledArchive(24 * 4 + 1, { hours: stating(0, faults) });
  const observed = hoursOf(day).filter((_, place) => place < 5 || place >= 7);
  for (const table of ['labels-totals', 'labels-late'])
    expect(
      archive
        .csv(day, table)
        .slice(1)
        .map((row) => row[1]),
    ).toEqual(observed);
  expect(await archive.parquet(day, 'labels-late')).toHaveLength(observed.length);
  expect(sumsIn(archive)?.late?.count).toBe(304);
  expect((await archive.verify()).findings).toEqual([]);
});

test('a day whose instrument did not state late labels apart has no rows in the tables of late labels and rates', async () => {
  const archive = await tabledArchive(24 * 4 + 1, { hours: stating(Number.POSITIVE_INFINITY) });
  for (const name of ['labels-late', 'labels-late-labelers', 'labels-rates'])
    expect(archive.csv(day, name)).toHaveLength(1);
  expect(archive.bytes(`days/${day}/labels-hours.json`).toString()).not.toContain('filled_in');
  expect(sumsIn(archive)).not.toHaveProperty('late');
});

test('a later file moves the late labels of a day, and its sums keep the statements about the other hours', async () => {
  const archive = await tabledArchive(30, { hours: stating(at(0, 20)) });
  expect(archive.csv(day, 'labels-late')[10]?.slice(2)).toEqual(['300', '4', '120']);
  expect(archive.csv(day, 'labels-late-labelers')[1]?.slice(2)).toEqual(['300', '4', '120']);
});

test('the sums of a day divide no late labels by its observed time', async () => {
  const archive = await tabledArchive(30, { hours: stating(0) });
  const sums = sumsIn(archive);
  expect(sums?.late?.count).toBe(304);
  expect((sums?.late?.rate ?? 0) * 3_600).toBeCloseTo(61, 6);
  expect(sums?.count).toBeGreaterThan(304);
});
