import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maxPositionLength } from '../../store/port.ts';
import { day, hour, micros, minute, second } from '../../store/time.ts';
import { FilledIn, FilledInReader } from './filled-in.ts';

const filledInName = 'filled-in';

/** Tests of the times in which a source was read late. No rate divides the labels that were accepted in these times. */

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const start = micros(Date.parse('2026-11-10T00:00:00Z') * 1000);
const minutes = (from: number, until: number) => ({ start: (start + from) / minute, end: (start + until) / minute });
const after = (time: number) => micros(start + time);

/** Accepts a page that is not live, and returns the spans that are then stored. */
async function accepted(filledIn: FilledIn, since: number, now: number) {
  const change = filledIn.covering(did, after(since));
  const changes = change.changesAt(after(now));
  change.committed();
  const positions = changes.map((one) => ({ ...one, value: one.value ?? '', acceptedAt: after(now) }));
  return (await new FilledInReader().read(positions)).get(did);
}

test('a page of missed labels is covered from the last complete time to the minute after the page', async () => {
  expect(await accepted(new FilledIn(), 10 * second, 5 * hour)).toEqual([minutes(minute, 5 * hour + 2 * minute)]);
});

test('a delay of at most 90 seconds stays part of the rate', async () => {
  expect(await accepted(new FilledIn(), 0, 90 * second)).toBeUndefined();
  expect(await accepted(new FilledIn(), 0, 91 * second)).toEqual([minutes(0, 3 * minute)]);
});

test('a catch-up begins after the last live rows, so that it leaves out none of them', async () => {
  const filledIn = new FilledIn();
  filledIn.live(did, after(30 * minute));
  expect(await accepted(filledIn, 20 * minute, hour)).toEqual([minutes(30 * minute, hour + 2 * minute)]);
});

test('the pages of one catch-up extend one span, and a page in a covered minute changes nothing', async () => {
  const filledIn = new FilledIn();
  await accepted(filledIn, 0, hour);
  expect(await accepted(filledIn, 0, hour + 59 * second)).toBeUndefined();
  expect(await accepted(filledIn, 0, hour + minute)).toEqual([minutes(0, hour + 3 * minute)]);
});

test('the catch-ups of labelers that left the roster are forgotten, whether they were loaded or not', async () => {
  const filledIn = new FilledIn();
  await accepted(filledIn, 0, hour);
  filledIn.live(did, after(2 * hour));
  filledIn.load('did:plc:loaded', filledInName, '1.1');
  filledIn.live('did:plc:live', after(hour));
  expect(filledIn.size).toBe(3);
  filledIn.forgetUnknown((source) => source === did);
  expect(filledIn.size).toBe(1);
  expect(await accepted(filledIn, hour, 3 * hour)).toEqual([
    minutes(0, hour + 2 * minute),
    minutes(2 * hour, 3 * hour + 2 * minute),
  ]);
});

test('a page whose commit failed is covered again', async () => {
  const filledIn = new FilledIn();
  const [first, second_] = [1, 2].map(() => filledIn.covering(did, start).changesAt(after(hour)));
  expect(first).toHaveLength(1);
  expect(second_).toEqual(first);
});

test('a restart loads the spans from the positions, and then extends them', async () => {
  const before = new FilledIn();
  const [change] = before.covering(did, start).changesAt(after(hour));
  const restarted = new FilledIn();
  expect(restarted.load(did, 'https://labeler.example', '[null,null,7,null]')).toBe(false);
  expect(restarted.load(did, filledInName, change?.value ?? '')).toBe(true);
  expect(await accepted(restarted, 2 * hour, 3 * hour)).toEqual([
    minutes(0, hour + 2 * minute),
    minutes(2 * hour, 3 * hour + 2 * minute),
  ]);
});

test('spans of more than 31 days ago are forgotten, because no published window includes them', async () => {
  const filledIn = new FilledIn();
  await accepted(filledIn, 0, hour);
  expect(await accepted(filledIn, 30 * day, 30 * day + hour)).toHaveLength(2);
  expect(await accepted(filledIn, 32 * day, 32 * day + hour)).toEqual([
    minutes(30 * day, 30 * day + hour + 2 * minute),
    minutes(32 * day, 32 * day + hour + 2 * minute),
  ]);
});

test('if there are too many spans, those of the last four days stay exact for as long as older ones can be joined', async () => {
  const filledIn = new FilledIn();
  let spans: Awaited<ReturnType<typeof accepted>> = [];
  for (let at = 0; at < 20 * day; at += 2 * hour) spans = await accepted(filledIn, at, at + hour);
  const recent = (spans ?? []).filter((one) => one.start >= (start + 16 * day) / minute);
  expect(recent).toHaveLength(48);
  expect(recent.every((one) => one.end - one.start === 62)).toBe(true);
  expect((spans ?? []).length).toBeLessThan(240);
});

test('any number of catch-ups fits a position, and no time of a catch-up is ever omitted', async () => {
  const gaps = fc.array(fc.record({ pause: fc.integer({ min: 2, max: 30 }), length: fc.integer({ min: 2, max: 9 }) }), {
    minLength: 1,
    maxLength: 250,
  });
  await fc.assert(
    fc.asyncProperty(gaps, async (all) => {
      const filledIn = new FilledIn();
      let at = 0;
      let value = '';
      const covered: [number, number][] = [];
      for (const { pause, length } of all) {
        const since = at + pause * minute;
        at = since + length * minute;
        const change = filledIn.covering(did, after(since));
        const [changed] = change.changesAt(after(at));
        change.committed();
        value = changed?.value ?? value;
        covered.push([since, at]);
      }
      expect(value.length + did.length + filledInName.length).toBeLessThan(maxPositionLength);
      const found =
        (await new FilledInReader().read([{ source: did, endpoint: filledInName, value, acceptedAt: start }])).get(
          did,
        ) ?? [];
      const oldest = at - 31 * day;
      for (const [since, until] of covered.filter((one) => one[1] > oldest)) {
        const [from, end] = [(start + since) / minute, (start + until) / minute];
        expect(found.some((span) => span.start <= from && span.end > end)).toBe(true);
      }
    }),
    { numRuns: 30 },
  );
});
