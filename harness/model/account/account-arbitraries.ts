import fc from 'fast-check';
import type { Filters, Span } from './account-model.ts';
import { accounts, labelers, unreadLabelers, values } from './account-world.ts';

/** Generates queries for the account view. Most are well-formed and lie near the bounds of rows, gaps and windows. */

/** A query, with the store and the program that receive it. */
export interface Query {
  readonly world: number;
  readonly program: number;
  readonly account: string;
  readonly interval: Interval;
  readonly filters: Filters;
  /**
   * Error in an invalid query, or null for a valid one. A query has at most one error, so that exactly one refusal is
   * correct.
   */
  readonly fault: Fault | null;
  readonly followUp: FollowUp;
  /** Delay in milliseconds between the first request and the requests that use its cursors. */
  readonly laterMs: number;
  readonly zone: 'Z' | '+00:00' | '+05:30' | '-08:00';
}

type Interval =
  | { readonly kind: 'none' | '7' | '30' }
  /**
   * Interval between two bounds. A bound lies at an offset in microseconds from its anchor, such as a row or the edge
   * of a gap.
   */
  | { readonly kind: 'explicit'; readonly start: Bound; readonly end: Bound };

/** A bound of an interval, as an offset in microseconds from an anchor. */
export interface Bound {
  readonly anchor: 'row' | 'gap' | 'floor' | 'epoch' | 'now' | 'observed through' | 'anywhere';
  readonly pick: number;
  readonly offset: number;
}

export const faults = {
  'no account': 'invalid_account',
  'not an account': 'invalid_account',
  'two accounts': 'invalid_account',
  'nine days': 'unsupported_interval',
  'days with an interval': 'invalid_interval',
  'a start alone': 'invalid_interval',
  'no zone': 'invalid_interval',
  'not an action': 'invalid_filter',
  'not a kind': 'invalid_filter',
  'not a labeler': 'invalid_filter',
  'a long value': 'invalid_filter',
  'an unknown parameter': 'unknown_parameter',
} as const;
type Fault = keyof typeof faults;

/**
 * Request that uses the cursor of the first response. `page` and `download` request the account page instead of an
 * export.
 */
type FollowUp = 'nothing' | 'first page' | 'all pages' | 'altered cursor' | 'cursor and more' | 'page' | 'download';

const bound: fc.Arbitrary<Bound> = fc.record({
  anchor: fc.constantFrom<Bound['anchor'][]>(
    'row',
    'row',
    'row',
    'gap',
    'floor',
    'epoch',
    'now',
    'observed through',
    'anywhere',
  ),
  pick: fc.nat(),
  offset: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(0, 0, 1, -1) },
    fc.constantFrom(600_000_000, 600_000_001, -600_000_000, 86_400_000_000, -604_800_000_000, 3_600_000_000),
  ),
});

const interval: fc.Arbitrary<Interval> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('none' as const, '7' as const, '30' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('explicit' as const), start: bound, end: bound }) },
);

const mostly = <T>(usual: T, ...others: T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });

const filters: fc.Arbitrary<Filters> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  {
    weight: 3,
    arbitrary: fc.record(
      {
        labeler: fc.constantFrom(...labelers, ...unreadLabelers),
        value: fc.constantFrom(...values),
        action: fc.constantFrom('application_observed', 'removal_observed'),
        target_kind: fc.constantFrom('account', 'post', 'record'),
      },
      { requiredKeys: [], noNullPrototype: true },
    ),
  },
);

/** Generates queries for the account view. */
export const queryOf: fc.Arbitrary<Query> = fc.record({
  world: fc.nat(),
  program: fc.nat(),
  account: fc.constantFrom(...accounts),
  interval,
  filters,
  fault: mostly<Fault | null>(null, ...(Object.keys(faults) as Fault[])),
  followUp: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom<FollowUp[]>('nothing', 'first page', 'all pages', 'all pages') },
    { weight: 1, arbitrary: fc.constantFrom<FollowUp[]>('altered cursor', 'cursor and more', 'page', 'download') },
  ),
  laterMs: mostly(1, 0, 59_999, 60_000, 60_001),
  zone: mostly<Query['zone']>('Z', '+00:00', '+05:30', '-08:00'),
});

/** Returns the bounds of the interval that a query requests. */
export function spanOf(kind: Exclude<Interval, { kind: 'explicit' }>['kind'], now: number): Span {
  const days = kind === '7' ? 7 : 30;
  return { start: now - days * 86_400_000_000, end: now };
}

/** Formats a time as a client may write it: with microseconds and a time zone. */
export function written(at: number, zone: Query['zone']): string {
  const hours = { Z: 0, '+00:00': 0, '+05:30': 5.5, '-08:00': -8 }[zone];
  const local = at + hours * 3_600_000_000;
  const ms = Math.floor(local / 1000);
  return `${new Date(ms).toISOString().slice(0, -1)}${String(local - ms * 1000).padStart(3, '0')}${zone}`;
}
