import { expect, test } from 'vitest';
import { labelsHoursFixture, weatherHoursFixture } from '../../../harness/artifacts/hours.ts';
import { decodeHours } from './hours.ts';
import { recogniseLabelsHours } from './labels-hours.ts';
import { recogniseWeatherHours } from './weather-hours.ts';

/** An hours file never states a count for an hour that was not observed, and it marks incomplete hours. */

const generatedAt = Date.parse('2026-11-20T10:23:40Z');
const did = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';
const labels = () => labelsHoursFixture({ generatedAt, unobserved: 70, labelers: [did] });
const weather = () => weatherHoursFixture({ generatedAt, unobserved: 70 });

/** Returns a copy of the file in which the value at the JSON pointer is replaced. */
function changed(file: object, pointer: string, value: unknown): object {
  const copy: unknown = structuredClone(file);
  const path = pointer.split('/').slice(1);
  const last = path.pop() ?? '';
  const parent = path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], copy);
  (parent as Record<string, unknown>)[last] = value;
  return copy as object;
}

test('each hours file is readable only with its own schema, and the last hour of the label hours is not complete', () => {
  for (const [file, recognise] of [
    [labels(), recogniseLabelsHours],
    [weather(), recogniseWeatherHours],
  ] as const) {
    const reading = decodeHours<object>(Buffer.from(JSON.stringify(file)), recognise);
    expect(reading).toMatchObject({ kind: 'readable', artifact: file });
  }
  expect(labels().hours.at(-1)).toMatchObject({ complete: false, observed_seconds: 22 * 60 });
  expect(labels().hours.at(-2)).toMatchObject({ complete: true, applications: null });
  expect(recogniseLabelsHours(weather()).kind).toBe('unknown_schema');
  expect(recogniseWeatherHours(labels()).kind).toBe('unknown_schema');
});

test.each([
  ['/hours/3/complete', false, '/hours/3/complete', 'does not match `through`'],
  ['/hours/71/complete', true, '/hours/71/complete', 'does not match `through`'],
  ['/hours/4/start', '2026-11-20T09:00:00.000Z', '/hours/4/start', 'does not follow the previous hour'],
  ['/hours/0/start', '2026-11-17T11:00:01.000Z', '/hours/0/start', 'is not a whole hour'],
  ['/through', '2026-11-20T10:22:01.000Z', '/through', 'is not a whole minute'],
  ['/hours/0/observed_seconds', 3601, '/hours/0/observed_seconds', 'is longer than the closed part of the hour'],
  ['/hours/71/observed_seconds', 1321, '/hours/71/observed_seconds', 'is longer than the closed part of the hour'],
  ['/hours/70/applications', 0, '/hours/70/applications', 'is 0 although the hour was not observed'],
  ['/hours/69/repeats', null, '/hours/69/repeats', 'is null although the hour was observed'],
  ['/labelers/0/removals/70', 0, '/labelers/0/removals/70', 'is 0 although the hour was not observed'],
  ['/labelers/0/applications/1', null, '/labelers/0/applications/1', 'is null although the hour was observed'],
  ['/labelers/0/applications', [1], '/labelers/0/applications', 'does not have one entry per hour'],
  ['/labelers/0/removals', Array(73).fill(1), '/labelers/0/removals', 'has more than 72 items'],
  ['/labelers/0/removals/4', '1', '/labelers/0/removals/4', 'must be integer'],
  ['/labelers', Array(5_001).fill(''), '/labelers', 'has more than 5000 items'],
  ['/labelers/0/labeler_did', 'at://did:plc:a', '/labelers/0/labeler_did', 'is not a did:plc or did:web'],
  ['/gaps/0/end', '2026-11-20T09:00:00.000Z', '/gaps/0', 'does not end after it starts'],
])('a label hours file with an invalid value at %s is malformed', (pointer, value, at, why) => {
  expect(recogniseLabelsHours(changed(labels(), pointer, value))).toMatchObject({
    kind: 'malformed',
    pointer: at,
    why,
  });
});

const part = { applications: 1, removals: 1, observed_seconds: 60 };
test.each([
  ['/hours/5/filled_in', { ...part, labeler_seconds: 3_601 }, 'labeler_seconds', 'is larger than'],
  ['/hours/5/filled_in', { ...part, removals: 9, labeler_seconds: 60 }, 'removals', 'is larger than'],
  ['/labelers/0/filled_in', [{ at: 5, ...part, observed_seconds: 3_601 }], '0/observed_seconds', 'is larger than'],
  ['/labelers/0/filled_in', [{ at: 5, ...part, applications: 6 }], '0/applications', 'is larger than'],
  ['/labelers/0/filled_in', [{ at: 70, ...part, applications: 0 }], '0/removals', 'is larger than'],
  ['/labelers/0/filled_in', [{ at: 72, ...part }], '0/at', 'is not the next hour of the file'],
  [
    '/labelers/0/filled_in',
    [
      { at: 5, ...part },
      { at: 5, ...part },
    ],
    '1/at',
    'is not the next hour of the file',
  ],
  ['/hours/5/labels_per_hour', -1, '', 'must be >= 0'],
])('a label hours file with invalid numbers of late labels (%s, %j) is malformed', (pointer, value, at, why) => {
  const recognised = recogniseLabelsHours(changed(labels(), pointer, value));
  expect(recognised).toMatchObject({ kind: 'malformed', pointer: at === '' ? pointer : `${pointer}/${at}` });
  expect(recognised).toHaveProperty('why', expect.stringContaining(why));
});

test('a label hours file may state late labels apart, and a file of an earlier version without them is readable', () => {
  const stated = [
    changed(labels(), '/hours/5/filled_in', { ...part, labeler_seconds: 60 }),
    changed(labels(), '/labelers/0/filled_in', [{ at: 5, ...part }]),
    changed(labels(), '/hours/5/labels_per_hour', null),
    labels(),
  ];
  expect(stated.map((file) => recogniseLabelsHours(file).kind)).toEqual(Array(4).fill('recognised'));
});

test('a label hours file that lists a labeler twice is malformed', () => {
  const file = labels();
  const twice = { ...file, labelers: [...file.labelers, ...file.labelers] };
  expect(recogniseLabelsHours(twice)).toMatchObject({ kind: 'malformed', pointer: '/labelers/1/labeler_did' });
});

test.each([
  ['/series/0/hours/70/events', 0, 'is 0 although the hour was not observed'],
  ['/series/0/collections/like.create/events/70', 0, 'is 0 although the hour was not observed'],
  ['/series/0/collections/like.create/events/3', null, 'is null although the hour was observed'],
  ['/series/0/collections/like.create/observed_seconds/3', 3601, 'is longer than the closed part of the hour'],
])('a weather hours file with an invalid value at %s is malformed', (pointer, value, why) => {
  expect(recogniseWeatherHours(changed(weather(), pointer, value))).toMatchObject({ kind: 'malformed', pointer, why });
});

test('a weather hours file with a gap of an unknown collection is malformed', () => {
  const file = changed(weather(), '/series/0/gaps/0/collection', 'secret.collection');
  expect(recogniseWeatherHours(file)).toMatchObject({ kind: 'malformed', pointer: '/series/0/gaps/0/collection' });
});

test('an hours file with too many elements is refused before it is parsed', () => {
  const bytes = Buffer.from(`[${'0,'.repeat(1_310_720)}0]`);
  const why = 'the artifact has more values, fields or digits than allowed';
  expect(decodeHours(bytes, recogniseLabelsHours)).toMatchObject({ kind: 'malformed', why });
});
