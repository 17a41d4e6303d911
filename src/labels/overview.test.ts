import { expect, test } from 'vitest';
import { micros } from '../store/time.ts';
import { caveatsOf, type OverviewInputs } from './overview.ts';

const inputs: OverviewInputs = {
  now: micros(0),
  windowDays: 30,
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
  denied: 0,
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
    '2 of 3 labelers that this instrument follows are being read',
    '1 of 2 labelers whose labels were observed in the window is being read; it gave 25 of its 100 events',
    '5 of 8 known labelers are not followed',
    'Some labelers keep only one row for each thing and value',
    '1 of 3 labelers that this instrument follows does not answer just now; its events come late',
    'No labels of any of the 3 labelers are accepted just now (disk_full)',
    '1 of 3 labelers that this instrument follows is paused until midnight UTC, because it gave more than 2000000 labels, or a gigabyte of them, in a day; ' +
      '2 that were paused within 7 days are not ranked',
    '4 of 7 labelers wait, because no more are read at a time',
    '7 further labelers were named, beyond the bound on how many are known',
    '2 rows of the window were refused for form, size or foreign author, of 102',
  ]);
});

test('each caveat counts in singular and plural', () => {
  const two = ['did:plc:a', 'did:plc:b'];
  const other = { ...inputs, notEnrolled: 1, delayed: 2, waiting: 1, dropped: 1, capped: two, paused: 'disk_full' };
  const refusals = [{ source: 'did:plc:a', reason: 'oversized', count: 1 }] as const;
  const sources = inputs.sources.map((source) =>
    source.did === 'did:plc:a' ? { ...source, state: 'probing' as const } : source,
  );
  const said = caveatsOf({ ...other, sources }, counts, refusals, 1);
  expect(said[2]).toBe(
    '1 of 4 known labelers is not followed: no document names its address, or that never answered. Each is asked again daily.',
  );
  expect(said.map((caveat) => caveat.replace(/[.:;,].*/, ''))).toEqual([
    '1 of 3 labelers that this instrument follows is being read',
    '0 of 2 labelers whose labels were observed in the window are being read',
    '1 of 4 known labelers is not followed',
    'Some labelers keep only one row for each thing and value',
    '2 of 3 labelers that this instrument follows do not answer just now',
    'No labels of any of the 3 labelers are accepted just now (disk_full)',
    '2 of 3 labelers that this instrument follows are paused until midnight UTC',
    '1 of 4 labelers waits',
    '1 further labeler was named',
    '1 row of the window was refused for form',
  ]);
});

test('no caveat names an account or says what is not so', () => {
  const caveats = caveatsOf(inputs, [], [], 0);
  expect(caveats).toHaveLength(4);
  expect(caveats.join()).not.toMatch(/did:|at:\/\//);
});

test('the number of denied labelers is a caveat, and only where there are some', () => {
  const denied = (count: number) =>
    caveatsOf({ ...inputs, denied: count }, counts, [], 0).filter((text) => /denied/.test(text));
  expect(denied(0)).toEqual([]);
  expect(denied(1)).toEqual(['1 labeler is denied by the operator of this instrument and not read.']);
  expect(denied(3)).toEqual(['3 labelers are denied by the operator of this instrument and not read.']);
});
