import type { Labeler } from '../../../sim/labelers/labeler.ts';
import { fewerThanFive } from '../../../src/contract/labeler-vocabulary.ts';
import { dayName, dayOf } from '../../../src/store/time.ts';
import type { AcceptedRow } from './rows.ts';

/** Syntax of a label value in the lexicon; values of the system begin with an exclamation mark. */
const valueSyntax = /^!?[a-z-]{1,100}$/;
/** Number below which a count is not published. */
const minPublished = 5;

/** Days on which a labeler began and ceased to declare a value. */
export interface ExpectedDefinition {
  /** Day of the first record with the value; null if that is the labeler's first record, which is read later. */
  readonly first: string | null;
  /** Day of the record that omits the value since then; null if the present record declares the value. */
  readonly last: string | null;
}

/** True numbers of events by value. */
export interface ExpectedValues {
  /** Number of events of each declared value that may be named. */
  readonly declared: ReadonlyMap<string, number>;
  readonly definitions: ReadonlyMap<string, ExpectedDefinition>;
  /** Number of declared values that are not named, because of their syntax or because they look like an identity. */
  readonly omitted: number;
  /** Number of events of all values that are not named. */
  readonly undeclared: number;
}

/** Returns no values, as for a labeler whose texts are not published. */
export function noValues(rows: readonly AcceptedRow[]): ExpectedValues {
  return { declared: new Map(), definitions: new Map(), omitted: 0, undeclared: rows.length };
}

/**
 * Returns the numbers of events by value, of all values that the labeler declares or has declared. A value that looks
 * like an identity is not named.
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

/** A published count: a number, the word for a small one, or null for one that would reveal another. */
type Published = number | typeof fewerThanFive | null;

/** A count with its true number. */
export interface PublishedCount {
  readonly name: string;
  readonly published: Published;
  readonly events: number;
}

/**
 * Returns the form in which a count must be published among `all` counts. A count under five is never a number. A larger
 * one may be missing only if the sum of all would otherwise reveal a small one: if a single count is small, or if all
 * small ones are equal. Then the small counts and the smallest of the others, and no more, have no form.
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

/** Returns the problems of published counts, which are those of all values of a labeler. */
export function countProblems(counts: readonly PublishedCount[]): string[] {
  const all = counts.map(({ events }) => events);
  return counts.flatMap(({ name, published, events }) => {
    const wanted = publishedForm(events, all);
    return published === wanted ? [] : [`the count of ${name} is ${published}, not ${wanted}`];
  });
}
