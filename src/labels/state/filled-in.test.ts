import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maxPositionLength } from '../../store/port.ts';
import { day, hour, micros, minute, second } from '../../store/time.ts';
import { FilledIn, filledInBySource, filledInName } from './filled-in.ts';

/** Tests of the times in which a source was read late. No rate divides the labels that were accepted in these times. */

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const start = micros(Date.parse('2026-11-10T00:00:00Z') * 1000);
const minutes = (from: number, until: number) => ({ start: (start + from) / minute, end: (start + until) / minute });
const after = (time: number) => micros(start + time);

/** Accepts a page that is not live, and returns the spans that are then stored. */
function accepted(filledIn: FilledIn, since: number, now: number) {
  const change = filledIn.covering(did, after(since), after(now));
  change.committed();
  const positions = change.changes.map((one) => ({ ...one, value: one.value ?? '', acceptedAt: after(now) }));
  return filledInBySource(positions).get(did);
}

test('a page of missed labels is covered from the last complete time to the minute after the page', () => {
  expect(accepted(new FilledIn(), 10 * second, 5 * hour)).toEqual([minutes(minute, 5 * hour + 2 * minute)]);
});

test('a delay of at most 90 seconds stays part of the rate', () => {
  expect(accepted(new FilledIn(), 0, 90 * second)).toBeUndefined();
  expect(accepted(new FilledIn(), 0, 91 * second)).toEqual([minutes(0, 3 * minute)]);
});

test('a catch-up begins after the last live rows, so that it leaves out none of them', () => {
  const filledIn = new FilledIn();
  filledIn.live(did, after(30 * minute));
  expect(accepted(filledIn, 20 * minute, hour)).toEqual([minutes(30 * minute, hour + 2 * minute)]);
});

test('the pages of one catch-up extend one span, and a page in a covered minute changes nothing', () => {
  const filledIn = new FilledIn();
  accepted(filledIn, 0, hour);
  expect(accepted(filledIn, 0, hour + 59 * second)).toBeUndefined();
  expect(accepted(filledIn, 0, hour + minute)).toEqual([minutes(0, hour + 3 * minute)]);
});

test('a page whose commit failed is covered again', () => {
  const filledIn = new FilledIn();
  const [first, second_] = [1, 2].map(() => filledIn.covering(did, start, after(hour)).changes);
  expect(first).toHaveLength(1);
  expect(second_).toEqual(first);
});

test('a restart loads the spans from the positions, and then extends them', () => {
  const before = new FilledIn();
  const [change] = before.covering(did, start, after(hour)).changes;
  const restarted = new FilledIn();
  expect(restarted.load(did, 'https://labeler.example', '[null,null,7,null]')).toBe(false);
  expect(restarted.load(did, filledInName, change?.value ?? '')).toBe(true);
  expect(accepted(restarted, 2 * hour, 3 * hour)).toEqual([
    minutes(0, hour + 2 * minute),
    minutes(2 * hour, 3 * hour + 2 * minute),
  ]);
});

test('spans of earlier than four days are forgotten, because no hours file includes them', () => {
  const filledIn = new FilledIn();
  accepted(filledIn, 0, hour);
  expect(accepted(filledIn, 5 * day, 5 * day + hour)).toEqual([minutes(5 * day, 5 * day + hour + 2 * minute)]);
});

test('any number of catch-ups fits a position, and no time of a catch-up is ever omitted', () => {
  const gaps = fc.array(fc.record({ pause: fc.integer({ min: 2, max: 30 }), length: fc.integer({ min: 2, max: 9 }) }), {
    minLength: 1,
    maxLength: 250,
  });
  fc.assert(
    fc.property(gaps, (all) => {
      const filledIn = new FilledIn();
      let at = 0;
      let value = '';
      const covered: [number, number][] = [];
      for (const { pause, length } of all) {
        const since = at + pause * minute;
        at = since + length * minute;
        const change = filledIn.covering(did, after(since), after(at));
        change.committed();
        value = change.changes[0]?.value ?? value;
        covered.push([since, at]);
      }
      expect(value.length + did.length + filledInName.length).toBeLessThan(maxPositionLength);
      const found =
        filledInBySource([{ source: did, endpoint: filledInName, value, acceptedAt: start }]).get(did) ?? [];
      const oldest = at - 4 * day;
      for (const [since, until] of covered.filter((one) => one[1] > oldest)) {
        const [from, end] = [(start + since) / minute, (start + until) / minute];
        expect(found.some((span) => span.start <= from && span.end > end)).toBe(true);
      }
    }),
    { numRuns: 30 },
  );
});
