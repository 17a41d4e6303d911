import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { monthTable, simulateMonth } from '../../../harness/roster/roster-month.ts';
import { isUnreachable } from '../../../src/labels/roster/known-labeler.ts';
import { stateTimes } from '../../../src/labels/state/reading-state.ts';
import { day, hour, micros, minute } from '../../../src/store/time.ts';

// Simulates 700 labelers over 30 days: a twentieth of them flap, some die and some return. The simulation uses no
// sockets and a simulated clock.
const month = await simulateMonth();
const { start, labelers, publications } = month;
const end = micros(start + 30 * day);
const last = publications.at(-1)?.overview;

/** Returns a labeler's outage of more than 7 days, or null if there was none. */
function longOutage({ life }: (typeof labelers)[number]) {
  const long = life.outages.find(({ from, until }) => until - from > stateTimes.unreachableAfter);
  return long ? { from: start + long.from, until: start + long.until } : null;
}

test('a labeler leaves the enrolment 7 days after it stopped responding, and not earlier', () => {
  const gone = labelers.filter(({ known }) => isUnreachable(known, end));
  const expected = labelers.filter((one) => {
    const outage = longOutage(one);
    // Allow a margin of an hour, because attempts to reach a labeler are up to 15 minutes apart.
    return outage !== null && outage.until > end && end - outage.from > stateTimes.unreachableAfter + hour;
  });
  expect(expected.length).toBeGreaterThan(5);
  expect(gone).toEqual(expected);
  expect(last?.coverage.sources.enrolled).toBe(labelers.length - gone.length);
  expect(last?.caveats[2]).toMatch(`${gone.length} responded once and have been unreachable for 7 days`);
});

test('a labeler that flaps never leaves the enrolment', () => {
  const flapping = labelers.filter(({ life }) => life.kind === 'flapping');
  expect(flapping).toHaveLength(35);
  expect(flapping.flatMap(({ lateAttempts }) => lateAttempts)).toEqual([]);
});

test('a labeler that left the enrolment is contacted once a day, and its return is logged', () => {
  for (const { lateAttempts } of labelers) {
    const waits = lateAttempts.slice(1).map((at, i) => at - (lateAttempts[i] ?? 0));
    expect(new Set(waits)).toEqual(new Set(waits.length > 0 ? [day] : []));
  }
  const returned = labelers.filter((one) => longOutage(one) !== null && one.life.kind === 'absent');
  expect(returned).toHaveLength(4);
  const gone = labelers.filter(({ known }) => isUnreachable(known, end));
  expect([...month.logged.values()]).toEqual([gone.length + returned.length, returned.length]);
});

test('a labeler that left the enrolment, or was unreachable for days, has a gap until it is read again', () => {
  for (const one of labelers) {
    const outage = longOutage(one);
    if (outage === null || outage.from > end - hour) continue;
    const [gap, ...others] = one.gaps.filter(({ end: until, start: from }) => until - from > day);
    if (outage.until > end && end - outage.from < day) continue;
    expect(others).toEqual([]);
    expect(gap?.start).toBeLessThanOrEqual(outage.from);
    // Labels of the last 48 hours before the labeler was read again were still accepted. The gap of an outage grows
    // with every attempt to reach the labeler, and with every check of the labelers that left the enrolment.
    const until = outage.until > end ? end : (one.lateAttempts.at(-1) ?? 0) - 2 * day;
    const tolerance = outage.until > end && !isUnreachable(one.known, end) ? 16 * minute : 0;
    expect(until - (gap?.end ?? 0)).toBeGreaterThanOrEqual(0);
    expect(until - (gap?.end ?? 0)).toBeLessThanOrEqual(tolerance);
  }
});

test('the table of docs/labels.md lists exactly the states that the coverage reports', () => {
  const cells = (table: string) =>
    table.split('\n').map((line) => line.split('|').map((cell) => cell.trim().replace(/^-+$/, '---')));
  const page = readFileSync(new URL('../../../docs/labels.md', import.meta.url), 'utf8');
  const from = page.indexOf('| day ');
  expect(cells(page.slice(from, page.indexOf('\n\n', from)))).toEqual(cells(monthTable(month)));
  expect(new Set(publications.map(({ overview }) => overview.coverage.status))).toEqual(new Set(['unknown']));
});
