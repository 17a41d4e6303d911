import type { Labeler } from '../../../sim/labelers/labeler.ts';
import { fewerThanFive } from '../../../src/contract/vocabulary.ts';
import { dayName, dayOf } from '../../../src/store/time.ts';
import type { AcceptedRow } from './rows.ts';

/** Lexicon syntax of a label value. System values begin with an exclamation mark. */
const valueSyntax = /^!?[a-z-]{1,100}$/;
/** Smallest count that is published as a number. */
const minPublished = 5;

/** Days on which a labeler started and stopped declaring a value. */
interface ExpectedDefinition {
  /**
   * Day of the first record that declares the value. Null if this is the labeler's first record: the published day is
   * then the day on which the instrument first read a record.
   */
  readonly first: string | null;
  /** Day of the record that removed the value, or null if the current record declares it. */
  readonly last: string | null;
}

/** Expected numbers of events by value. */
export interface ExpectedValues {
  /** Number of events for each declared value whose name may be published. */
  readonly declared: ReadonlyMap<string, number>;
  readonly definitions: ReadonlyMap<string, ExpectedDefinition>;
  /**
   * Number of declared values that are not published by name, because of their syntax or because they look like an
   * identity.
   */
  readonly omitted: number;
  /** Number of events of all other values. */
  readonly undeclared: number;
}

/** Returns the result for a labeler whose definitions are not published: every event counts as undeclared. */
export function noValues(rows: readonly AcceptedRow[]): ExpectedValues {
  return { declared: new Map(), definitions: new Map(), omitted: 0, undeclared: rows.length };
}

/**
 * Counts the events of every value that the labeler declares or has ever declared. A value that looks like an identity
 * is not named.
 */
export function expectedValues(
  { records, profile: { unnameable = [] } }: Pick<Labeler, 'records' | 'profile'>,
  rows: readonly AcceptedRow[],
): ExpectedValues {
  const values = [...new Set(records.flatMap((record) => record.values))];
  const named = values.filter((value) => valueSyntax.test(value) && !unnameable.includes(value));
  const declared = new Map(named.map((value) => [value, 0]));
  let undeclared = 0;
  for (const { value } of rows) {
    const count = declared.get(value);
    if (count === undefined) undeclared += 1;
    else declared.set(value, count + 1);
  }
  const definitions = new Map(named.map((value) => [value, expectedDefinition(value, records)]));
  return { declared, definitions, omitted: values.length - named.length, undeclared };
}

function expectedDefinition(value: string, records: Labeler['records']): ExpectedDefinition {
  const has = records.map(({ values }) => values.includes(value));
  const dayFrom = (at: number): string | null => {
    const record = records[at];
    return record === undefined ? null : dayName(dayOf(record.sinceUs));
  };
  const first = has.indexOf(true);
  return { first: first === 0 ? null : dayFrom(first), last: dayFrom(has.lastIndexOf(true) + 1) };
}

/** A published count: a number, the word for fewer than five, or null if publishing it would reveal another count. */
type Published = number | typeof fewerThanFive | null;

/** A published count and the true number of events. */
interface PublishedCount {
  readonly name: string;
  readonly published: Published;
  readonly events: number;
}

/**
 * Returns the form in which a count must be published alongside `all` counts. A count below five is never published as
 * a number. If the total would reveal the small counts, because all of them are equal, the small counts and the
 * smallest larger count are omitted. No other larger count may be omitted.
 */
export function publishedForm(events: number, all: readonly number[]): Published {
  const isSmall = events < minPublished;
  const small = new Set(all.filter((one) => one < minPublished));
  const sum = all.reduce((total, one) => total + one, 0);
  const isRevealing = small.size === 1 && sum >= minPublished;
  const least = Math.min(...all.filter((one) => one >= minPublished));
  if (isRevealing && (isSmall || events === least)) return null;
  return isSmall ? fewerThanFive : events;
}

/** Returns the problems in the published counts of one labeler. The list must contain all of its values. */
export function countProblems(counts: readonly PublishedCount[]): string[] {
  const all = counts.map(({ events }) => events);
  return counts.flatMap(({ name, published, events }) => {
    const wanted = publishedForm(events, all);
    return published === wanted ? [] : [`the count of ${name} is ${published}, not ${wanted}`];
  });
}
