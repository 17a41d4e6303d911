import { expect, test } from 'vitest';
import { micros } from '../store/time.ts';
import { caveatsOf, type OverviewInputs } from './overview.ts';

const inputs: OverviewInputs = {
  now: micros(0),
  windowDays: 30,
  held: false,
  origin: 'live',
  sources: [
    { did: 'did:plc:a', origin: 'seeded', state: 'established' },
    { did: 'did:plc:b', origin: 'seeded', state: 'established' },
    { did: 'did:plc:c', origin: 'discovered', state: 'unavailable' },
  ],
  notEnrolled: 5,
  delayed: 0,
  dropped: 0,
  waiting: 0,
  paused: null,
  capped: [],
  dailyRows: 2_000_000,
};
const counts = [
  { labeler: 'did:plc:c', applied: 70, removed: 5 },
  { labeler: 'did:plc:a', applied: 20, removed: 5 },
];

test('each caveat names what it is a share of', () => {
  const troubled = { ...inputs, delayed: 1, paused: 'disk_full', dropped: 7, waiting: 4, capped: ['did:plc:b'] };
  const refusals = [
    { source: 'did:plc:a', reason: 'malformed', count: 2 },
    { source: 'did:plc:a', reason: 'late', count: 9 },
  ] as const;
  const caveats = caveatsOf(troubled, counts, refusals, 2);
  expect(caveats.map((caveat) => caveat.replace(/[.:].*/, ''))).toEqual([
    '2 of 3 enrolled sources are being read',
    '1 of 2 labelers that emitted in the window are being read; they gave 25 of its 100 events',
    '5 of 8 known labelers are not enrolled',
    'Labelers that keep one row for each subject and value show what is there at a reading',
    '1 of 3 enrolled sources do not answer just now; their events come late',
    'Acceptance is paused for all 3 sources (disk_full)',
    '1 of 3 enrolled sources are paused until midnight UTC, because they gave more than 2000000 labels, or a gigabyte of them, in a day; ' +
      '2 that were paused within 7 days are not ranked',
    '4 of 7 labelers wait, because no more are read at a time',
    '7 further labelers were named, beyond the bound on how many are known',
    '2 rows of the window were refused for their form, size or foreign author, of 102',
  ]);
});

test('no caveat names an account or says what is not so', () => {
  const caveats = caveatsOf(inputs, [], [], 0);
  expect(caveats).toHaveLength(4);
  expect(caveats.join()).not.toMatch(/did:|at:\/\//);
});
