import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { roleAt, shapeOf, stateOf } from '../../harness/truth/cast.ts';
import { skippedMatch, skippedProblems } from '../../harness/truth/compare.ts';
import { isConfirmed, labelersProblems } from '../../harness/truth/labelers/compare.ts';
import { type Course, courseFrom } from '../../harness/truth/labelers/course.ts';
import { definitionProblems } from '../../harness/truth/labelers/definitions.ts';
import { expectedLabelers } from '../../harness/truth/labelers/expected.ts';
import { madeSet } from '../../harness/truth/labelers/made-set.ts';
import { type LabelersSet, parseLabelersSet } from '../../harness/truth/labelers/read-set.ts';
import { countProblems } from '../../harness/truth/labelers/values.ts';
import { manualClock } from '../../sim/clock.ts';
import { createSim, type Sim } from '../../sim/index.ts';
import { hour, micros, minute } from '../../src/store/time.ts';

const labelers = 80;
const start = Date.UTC(2026, 6, 4, 10);
const clock = manualClock(start);
const now = micros((start + 3_600_000) * 1000);
let sim: Sim;
let course: Course;
let set: LabelersSet;
let expected: ReturnType<typeof expectedLabelers>;

/** Creates a network whose readable labelers have served everything, and the artifact that the oracle expects. */
beforeAll(async () => {
  sim = createSim({
    ...{ seed: 3, labelers, labelRate: 5, population: 'troubled', shapeLabeler: shapeOf(labelers) },
    ...{ rate: 1, historyHours: 0, clock: clock.now },
  });
  await sim.start();
  clock.advance(60_000);
  for (const labeler of sim.labelers.list) {
    if (labeler.profile.index % 3 === 0) labeler.faults.emit(40);
    if (labeler.profile.index % 9 === 0) labeler.faults.labels('unsigned', { count: 3 });
  }
  clock.advance(3_600_000 - 60_000);
  for (const labeler of sim.labelers.list) {
    const role = roleAt(labeler.profile.index, labelers);
    if (stateOf(labeler, role, 'after 20 minutes') !== 'established') continue;
    labeler.served.add({ from: 1, to: labeler.edge + 1 });
  }
  const startedUs = micros(start * 1000);
  course = {
    ...courseFrom(startedUs, false),
    begun: { start: startedUs, end: micros(startedUs + minute) },
    settledUs: [now],
  };
  course.outage = { start: micros(now - hour / 2), end: micros(now - hour / 2 + minute) };
  expected = expectedLabelers({ sim, course, moment: 'after 20 minutes', now, confirms: isConfirmed });
  set = madeSet({ sim, course, expected, now });
});

afterAll(() => sim.stop());

const problemsOf = (changed: LabelersSet): string[] => [
  ...labelersProblems(changed, expected, course),
  ...definitionProblems(changed, sim, expected),
];

/** Returns the pointers of all numbers, strings and booleans in a document. */
function leaves(value: unknown, pointer = ''): string[] {
  if (typeof value !== 'object' || value === null) return [pointer];
  return Object.entries(value).flatMap(([key, entry]) => leaves(entry, `${pointer}/${key}`));
}

/** Returns a copy of a document in which one value is different. */
function changed(document: object, pointer: string): object {
  const copy = structuredClone(document) as Record<string, unknown>;
  const path = pointer.slice(1).split('/');
  const last = path.pop() ?? '';
  const parent = path.reduce((value, key) => value[key] as Record<string, unknown>, copy);
  const value = parent[last];
  if (typeof value === 'number')
    parent[last] =
      Number.isInteger(value) && !/^days\/\d+\/2$/.test([...path, last].join('/'))
        ? value + 1
        : value === 0
          ? 0.5
          : value / 2;
  else if (typeof value === 'boolean') parent[last] = !value;
  else if (value === null) parent[last] = 7;
  else parent[last] = `other-${String(value)}`;
  return copy;
}

/** Values of a document that the simulation's record determines only within bounds. */
const bounded =
  /^\/(delay_ms|gaps\/\d+\/(start|end)|state_since|first_answered|last_answered|last_row|replaces_rows|values\/\d+\/first_defined)/;

describe('the oracle of the labelers artifact', () => {
  test('accepts the artifact that it expects', () => {
    expect(set.labelers.length).toBeGreaterThan(60);
    expect(problemsOf(set)).toEqual([]);
  });

  test('rejects every change to a number or word that it determines exactly, in a sample of the lines', () => {
    const unnoticed: string[] = [];
    // If a labeler has no queries, the record determines its first response, and therefore its gaps, only roughly.
    const exact = set.labelers.filter(({ did }) => !expected.get(did)?.name.endsWith('no_query'));
    const chosen = exact.filter((_, index) => index % 16 === 0);
    for (const line of chosen) {
      for (const pointer of leaves(line)) {
        if (bounded.test(pointer)) continue;
        const other = changed(line, pointer) as typeof line;
        const labelers = set.labelers.map((one) => (one === line ? other : one));
        if (problemsOf({ ...set, labelers }).length === 0)
          unnoticed.push(`${expected.get(line.did)?.name ?? line.did}${pointer}`);
      }
    }
    expect(unnoticed).toEqual([]);
  });

  test('rejects every change of a value or text in the definitions of a labeler', () => {
    const [line] = set.definitions.filter(({ values }) => values.length > 1);
    if (line === undefined) throw new Error('no labeler has definitions');
    for (const pointer of leaves(line).filter((path) =>
      /\/(value|severity|blurs|default_setting|adult_only|locales.*)$/.test(path),
    )) {
      const other = changed(line, pointer) as typeof line;
      const definitions = set.definitions.map((one) => (one === line ? other : one));
      expect(problemsOf({ ...set, definitions }), pointer).not.toEqual([]);
    }
  });

  test('rejects zero counts for a day on which the labeler was not read', () => {
    const labelers = set.labelers.map((line, index) =>
      index === 3 ? { ...line, days: line.days.map((one, at): typeof one => (at === 0 ? [0, 0, 0] : one)) } : line,
    );
    expect(problemsOf({ ...set, labelers })).toEqual([
      expect.stringMatching(/: the counts of 2026-06-04: expected \[null,null\], got \[0,0\]$/),
    ]);
  });

  test('rejects a labeler without a line, and a line without a labeler', () => {
    const [first, ...others] = set.labelers;
    if (first === undefined) throw new Error('there is no labeler');
    const header = { ...set.header, labelers: others.length };
    expect(problemsOf({ ...set, header, labelers: others }).join('\n')).toContain('the labeler has no line');
    const stranger = { ...first, did: 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa' };
    expect(problemsOf({ ...set, labelers: [stranger, ...set.labelers] }).join('\n')).toContain('was never enrolled');
  });

  test('rejects sums that differ from the overview', () => {
    for (const name of [
      'events_24h',
      'events_7d',
      'events_window',
      'labelers_active_7d',
      'labelers_active_window',
    ] as const) {
      const counts = { ...set.overview.counts, [name]: (set.overview.counts[name] ?? 0) + 1 };
      expect(problemsOf({ ...set, overview: { ...set.overview, counts } }), name).toHaveLength(1);
    }
  });

  test('rejects a ranking that lacks a labeler, repeats one or has another order', () => {
    const { top_labelers_7d: top } = set.overview;
    expect(top).toHaveLength(10);
    const [first, second, ...others] = top;
    if (first === undefined || second === undefined) throw new Error('fewer than two labelers are ranked');
    const rankings = [[], top.slice(0, -1), [second, ...others], [first, first, ...others], [second, first, ...others]];
    for (const ranking of rankings) {
      const overview = { ...set.overview, top_labelers_7d: ranking };
      expect(problemsOf({ ...set, overview })).toEqual([
        expect.stringMatching(/^the labelers with the most events: expected /),
      ]);
    }
  });

  test('reads the files of an artifact, and rejects lines that are too long or unsorted', () => {
    const text = (lines: readonly object[]): string => `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
    const files = (lines: readonly object[]) =>
      parseLabelersSet(
        text([set.header, ...lines]),
        text([set.definitionsHeader, ...set.definitions]),
        JSON.stringify(set.overview),
      );
    expect(files(set.labelers).labelers).toEqual(set.labelers);
    expect(() => files(set.labelers.toReversed())).toThrow('not in the order');
    expect(() => files([{ ...set.labelers[0], more: 'x'.repeat(3_000) }])).toThrow('more than 3000 bytes');
  });
});

describe('the comparison of the skipped labels', () => {
  const forms = { foreign: 0, malformed: 0, oversized: 0, space_uri: 0, duplicate: 0 };
  const none = { ...forms, undated: 0, future: 0, pre_epoch: 0, late: 0 };
  const refused = { ...none, malformed: 5, duplicate: 9, undated: 3, future: 1, pre_epoch: 7, late: 2 };
  const right = { undated_skipped: 3, future_skipped: 1, pre_epoch_skipped: 7, late_skipped: 2 };

  test('accepts the numbers of the whole epoch, and rejects every other and every missing number', () => {
    expect(skippedProblems(refused, right)).toEqual([]);
    expect(skippedProblems(refused, { ...right, pre_epoch_skipped: 4 })).toEqual([
      'pre_epoch_skipped is 4, expected 7',
    ]);
    expect(skippedProblems(none, {})).toHaveLength(4);
  });

  test('fails if the published numbers cannot be read', async () => {
    const { coverage } = set.overview;
    const overview = { ...set.overview, coverage: { ...coverage, sources: { ...coverage.sources, ...right } } };
    expect(await skippedMatch(refused, { overview: () => Promise.resolve(overview) })).toEqual([]);
    const unread = { overview: () => Promise.reject(new Error('the instrument failed')) };
    expect(await skippedMatch(refused, unread)).toEqual(['Error: the instrument failed']);
  });
});

describe('the rule for small counts', () => {
  const count = (name: string, events: number, published: number | 'fewer_than_5' | null) => ({
    name,
    events,
    published,
  });

  test('withholds all small counts, and the smallest other count if the small counts are equal', () => {
    const hidden = [count('a', 9, null), count('b', 20, 20), count('c', 1, null)];
    expect(countProblems(hidden)).toEqual([]);
    expect(countProblems([count('a', 9, 9), count('b', 20, 20), count('c', 1, 'fewer_than_5')])).toHaveLength(2);
    expect(countProblems([count('a', 9, null), count('b', 20, null), count('c', 1, null)])).toEqual([
      'the count of b is null, not 20',
    ]);
  });

  test('rejects a withheld count if the small counts differ, or if no count is small', () => {
    expect(countProblems([count('a', 9, 9), count('b', 4, 'fewer_than_5'), count('c', 0, 'fewer_than_5')])).toEqual([]);
    expect(
      countProblems([count('a', 9, null), count('b', 4, 'fewer_than_5'), count('c', 0, 'fewer_than_5')]),
    ).toHaveLength(1);
    expect(countProblems([count('a', 9, 9), count('b', 7, 7)])).toEqual([]);
  });

  test('rejects a published small count and a wrong small count', () => {
    const zero = count('c', 0, 'fewer_than_5');
    expect(countProblems([count('a', 4, 4), count('b', 0, 'fewer_than_5')])).toHaveLength(1);
    expect(countProblems([count('a', 9, 8), count('b', 4, 'fewer_than_5'), zero])).toHaveLength(1);
    expect(countProblems([count('a', 9, 'fewer_than_5'), count('b', 4, 'fewer_than_5'), zero])).toHaveLength(1);
    expect(countProblems([count('a', 9, 9), count('b', 4, null), zero])).toHaveLength(1);
  });
});
