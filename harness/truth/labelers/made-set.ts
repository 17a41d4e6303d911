import type { Sim } from '../../../sim/index.ts';
import { type LabelerLine, labelersLimits } from '../../../src/artifact/labelers.ts';
import type { RecentOverview } from '../../../src/artifact/recognise.ts';
import { maxTopLabelers } from '../../../src/contract/limits.ts';
import { formatMicros, formatTimestamp, type Micros } from '../../../src/contract/timestamp.ts';
import { day, dayName, dayOf, dayStart, type Interval, micros, second } from '../../../src/store/time.ts';
import { type Course, shareRange } from './course.ts';
import { definitionsOf } from './definitions.ts';
import type { ExpectedLabeler } from './expected.ts';
import type { LabelersSet } from './read-set.ts';
import { publishedForm } from './values.ts';

/** Input for a labelers artifact that is generated from the oracle instead of by the instrument. */
interface MadeInput {
  readonly sim: Sim;
  readonly course: Course;
  readonly expected: ReadonlyMap<string, ExpectedLabeler>;
  readonly now: Micros;
}

/** Generates an artifact that agrees with the oracle, so that a test can change a single number in it. */
export function madeSet(input: MadeInput): LabelersSet {
  const { sim, course, expected, now } = input;
  const start = micros(now - 30 * day);
  const numbers = Array.from({ length: dayOf(now - 1) - dayOf(start) + 1 }, (_, at) => dayOf(start) + at);
  const labelers = [...expected.values()]
    .toSorted((a, b) => (a.did < b.did ? -1 : 1))
    .map((one) => madeLine(one, course, now, numbers));
  const common = {
    generated_at: formatMicros(now),
    generation_id: '6f1b2a7e-3c55-4d0e-9f43-0d8f5d6f1c2b',
    labelers: labelers.length,
  };
  return {
    header: {
      schema: 'labels.labelers.v1',
      ...common,
      origin: 'simulated',
      started_at: formatMicros(course.startedUs),
      window: { start: formatMicros(start), end: formatMicros(now) },
      days: numbers.map(dayName),
      counted_since: formatMicros(course.startedUs),
      omitted: 0,
    },
    labelers,
    definitionsHeader: {
      schema: 'labels.labeler-definitions.v1',
      ...common,
      labelers: [...expected.values()].filter(({ isDenied }) => !isDenied).length,
    },
    definitions: labelers.flatMap(({ did }) => {
      if (expected.get(did)?.isDenied) return [];
      const declared = expected.get(did)?.values.declared;
      const values = definitionsOf(sim.labelers.of(did))
        .filter(({ identifier }) => declared?.has(identifier))
        .map(({ identifier, severity, blurs, defaultSetting, adultOnly, locales }) => ({
          ...{ value: identifier, severity, blurs, default_setting: defaultSetting, adult_only: adultOnly },
          locales: locales.map((locale) => ({ ...locale })),
        }));
      return { did, seen_at: formatMicros(now), values, values_omitted: 0 };
    }),
    overview: madeOverview(labelers),
    hours: null,
  };
}

function madeLine(one: ExpectedLabeler, course: Course, now: Micros, numbers: readonly number[]): LabelerLine {
  const { rows, values, signatures, firstAnswered, lastAnswered, lastRow } = one;
  const instant = (interval: Interval | null): string | null => (interval === null ? null : formatMicros(interval.end));
  const since = (from: number): number => rows.filter(({ acceptedUs }) => acceptedUs >= from).length;
  return {
    did: one.did,
    handle: one.handle,
    enrolled: one.enrolled,
    state: one.state,
    state_since: formatMicros(course.startedUs),
    problem: one.problems[0] ?? null,
    found_by: [...one.foundBy],
    read_by: one.readBy,
    first_answered: instant(firstAnswered),
    last_answered: instant(lastAnswered),
    last_row: instant(lastRow),
    events: { window: rows.length, week: since(now - 7 * day), day: since(now - day) },
    repeats: one.repeats,
    days: numbers.map((number) => {
      const part = {
        start: micros(Math.max(now - 30 * day, dayStart(number))),
        end: micros(Math.min(now, dayStart(number + 1))),
      };
      const { max } = shareRange(one.unread, part);
      const own = rows.filter(({ acceptedUs }) => dayOf(acceptedUs) === number);
      const removed = own.filter((row) => row.removed).length;
      return max === 0 ? [null, null, 0] : [own.length - removed, removed, max];
    }),
    gaps: one.gaps
      .filter((reason) => reason !== 'not_observed')
      .slice(0, labelersLimits.gaps)
      .map((reason, at) => ({
        start: formatTimestamp(Math.floor((now - 60 * second + at * second) / 1_000)),
        end: formatTimestamp(Math.floor((now - 59 * second + at * second) / 1_000)),
        reason,
      })),
    gap_overflow: one.gaps.length > labelersLimits.gaps,
    signatures: { ...signatures, verified_earlier_key: 0, unverified: 0 },
    ...madeValues(values, course),
    replaces_rows: one.replaces ? true : null,
    delay_ms: rows.length === 0 ? null : { p50: 0, p90: 0, labels: rows.length },
  };
}

function madeValues(
  { declared, definitions, omitted, undeclared }: ExpectedLabeler['values'],
  course: Course,
): Pick<LabelerLine, 'values' | 'values_omitted' | 'undeclared'> {
  const all = [...declared.values(), undeclared];
  return {
    values: [...declared].map(([value, events]) => ({
      value,
      events: publishedForm(events, all),
      first_defined: definitions.get(value)?.first ?? dayName(dayOf(course.startedUs)),
      last_defined: definitions.get(value)?.last ?? null,
    })),
    values_omitted: omitted,
    undeclared: publishedForm(undeclared, all),
  };
}

function madeOverview(labelers: readonly LabelerLine[]): RecentOverview {
  const sum = (of: (line: LabelerLine) => number): number => labelers.reduce((total, line) => total + of(line), 0);
  const enrolled = labelers.filter((line) => line.enrolled);
  const states = Object.fromEntries(
    enrolled.map(({ state }) => [state, enrolled.filter((line) => line.state === state).length]),
  );
  return {
    counts: {
      events_24h: sum(({ events }) => events.day),
      events_7d: sum(({ events }) => events.week),
      events_window: sum(({ events }) => events.window),
      labelers_active_7d: sum(({ events }) => Number(events.week > 0)),
      labelers_active_window: sum(({ events }) => Number(events.window > 0)),
    },
    coverage: { sources: { ...states, enrolled: enrolled.length } },
    top_labelers_7d: labelers
      .filter(({ events }) => events.week > 0)
      .toSorted((a, b) => b.events.week - a.events.week)
      .slice(0, maxTopLabelers)
      .map(({ did, events }) => ({ labeler_did: did, count: events.week })),
  } as unknown as RecentOverview;
}
