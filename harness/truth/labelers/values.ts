import type { LabelerProfile } from '../../../sim/labelers/profile.ts';
import { fewerThanFive } from '../../../src/contract/labeler-vocabulary.ts';
import type { AcceptedRow } from './rows.ts';

/** Syntax of a label value in the lexicon; values of the system begin with an exclamation mark. */
const valueSyntax = /^!?[a-z-]{1,100}$/;
/** Number below which a count is not published. */
const minPublished = 5;

/** True numbers of events by value. */
export interface ExpectedValues {
  /** Number of events of each declared value that may be named. */
  readonly declared: ReadonlyMap<string, number>;
  /** Number of declared values that are not named, because of their syntax or because they look like an identity. */
  readonly omitted: number;
  /** Number of events of all values that are not named. */
  readonly undeclared: number;
}

/** Returns the numbers of events by value; a value in `unnameable` looks like an identity and is not named. */
export function expectedValues(
  { values, unnameable = [] }: Pick<LabelerProfile, 'values' | 'unnameable'>,
  rows: readonly AcceptedRow[],
): ExpectedValues {
  const named = values.filter((value) => valueSyntax.test(value) && !unnameable.includes(value));
  const declared = new Map(named.map((value) => [value, 0]));
  let undeclared = 0;
  for (const { value } of rows) {
    const count = declared.get(value);
    if (count === undefined) undeclared += 1;
    else declared.set(value, count + 1);
  }
  return { declared, omitted: values.length - named.length, undeclared };
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
 * Returns the problems of published counts: a number differs from the truth, a small one is published, a large one is
 * withheld although a smaller one is published, or without need, or a small one follows from the sum of all.
 */
export function countProblems(counts: readonly PublishedCount[]): string[] {
  const problems: string[] = [];
  const large = counts.filter(({ events }) => events >= minPublished);
  const withheld = large.filter(({ published }) => published === null).map(({ events }) => events);
  const listed = large.filter(({ published }) => published !== null).map(({ events }) => events);
  for (const { name, published, events } of counts) {
    const wanted = events < minPublished ? fewerThanFive : events;
    const isWithheld = events >= minPublished && published === null;
    if (published !== wanted && !isWithheld) problems.push(`the count of ${name} is ${published}, not ${wanted}`);
  }
  const smallestListed = Math.min(...listed);
  const largestWithheld = Math.max(...withheld);
  if (largestWithheld >= smallestListed)
    problems.push('a large count is withheld, although one that is not larger is published');
  const small = counts.filter(({ events }) => events < minPublished).map(({ events }) => events);
  if (listed.length > 0 && follows({ small, withheld, smallestListed }))
    problems.push('a small count follows from the sum');
  const less = withheld.filter((events) => events !== largestWithheld);
  if (withheld.length > 0 && !follows({ small, withheld: less, smallestListed: largestWithheld }))
    problems.push('a large count is withheld without need');
  return problems;
}

/** Returns true if the sum of all counts leaves only one number for a small count. The sum is public. */
function follows({
  small,
  withheld,
  smallestListed,
}: {
  readonly small: readonly number[];
  readonly withheld: readonly number[];
  readonly smallestListed: number;
}): boolean {
  if (small.length === 0) return false;
  const rest = [...small, ...withheld].reduce((sum, events) => sum + events, 0);
  const possible = [0, 1, 2, 3, 4].filter((events) => {
    const others = rest - events;
    const most = (small.length - 1) * (minPublished - 1) + withheld.length * (smallestListed - 1);
    return others >= withheld.length * minPublished && others <= most;
  });
  return possible.length < 2;
}
