import { expect, it } from 'vitest';
import { readingsOf } from './read-values.ts';

const csv = (...lines: string[]) => lines.map((line) => `${line}\n`).join('');

it('a reading states the time, the value, the usual range and the observed share with its reason', () => {
  const file = csv(
    'start,end,events_per_second,usual_low,usual_high,observed_share,reason,origin',
    '2026-11-27T14:00:00.000Z,2026-11-27T15:00:00.000Z,59.512,50,70.25,0.5,nothing arrived from the host,live',
    '2026-11-27T15:00:00.000Z,2026-11-27T16:00:00.000Z,,,,0,"nothing, at all ""here""",live',
    '2026-11-27T16:00:00.000Z,2026-11-27T17:00:00.000Z,1234.5678,,,1,,live',
    '2026-11-27T17:00:00.000Z,2026-11-27T18:00:00.000Z,0.25,,,0.99999,,live',
    '2026-11-27T18:00:00.000Z,2026-11-27T19:00:00.000Z,,,,,,live',
  );
  expect(readingsOf([file])).toEqual([
    '27 Nov 14:00 UTC: events per second 59.51, usually 50 to 70.25, 50 % observed: nothing arrived from the host',
    '27 Nov 15:00 UTC: events per second unknown, not observed: nothing, at all "here"',
    '27 Nov 16:00 UTC: events per second 1,234.6, entirely observed',
    '27 Nov 17:00 UTC: events per second 0.25, 99.9 % observed',
    '27 Nov 18:00 UTC: events per second unknown, not over yet',
  ]);
});

it('a reading never states a small rate as zero', () => {
  const line = (rate: string) => `2026-11-27T14:00:00.000Z,2026-11-27T15:00:00.000Z,${rate},1,,live`;
  const file = csv(
    'start,end,events_per_second,observed_share,reason,origin',
    ...['0.0002777777777777778', '0.000011574', '0.0015', '0', '0.0123'].map(line),
  );
  expect(readingsOf([file]).map((text) => text.match(/per second ([^,]*)/)?.[1])).toEqual([
    ...['0.00028', '0.00001', '0.0015', '0', '0.0123'],
  ]);
});

it('a reading of two charts states the values of both, and late labels only where there are some', () => {
  const period = '2026-11-27T00:00:00.000Z,2026-11-28T00:00:00.000Z';
  const events = csv('start,end,events_per_second,observed_share,reason,origin', `${period},700,1,,live`);
  const labels = (late: string) =>
    csv(
      'start,end,labels_per_hour,labels_read_late,observed_share,reason,origin',
      `${period},61,${late},0.4,some hours not observed,live`,
    );
  expect(readingsOf([events, labels('303')])).toEqual([
    '27 Nov: events per second 700, entirely observed; labels per hour 61, labels read late 303, 40 % observed: some hours not observed',
  ]);
  expect(readingsOf([labels('')])).toEqual(['27 Nov: labels per hour 61, 40 % observed: some hours not observed']);
  const whole = labels('').replace('0.4,some hours not observed', '1,');
  expect(readingsOf([whole])).toEqual(['27 Nov: labels per hour 61, collection ran']);
});
