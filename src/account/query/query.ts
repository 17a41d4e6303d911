import { maxValueBytes } from '../../contract/account.ts';
import { canonicalDid, isDid } from '../../contract/identifiers.ts';
import { formatMicros, type Micros, parseInstant } from '../../contract/timestamp.ts';
import { type LabelAction, labelActions, type TargetKind, targetKinds } from '../../contract/vocabulary.ts';
import { StoreError } from '../../store/errors.ts';
import type { AccountFilter, Frontier } from '../../store/port.ts';
import { day, type Interval, micros } from '../../store/time.ts';

/** Reasons for refusing a query, as error codes of this surface. */
export type QueryRefusal =
  | 'invalid_account'
  | 'invalid_interval'
  | 'unsupported_interval'
  | 'out_of_window'
  | 'invalid_filter'
  | 'unknown_parameter';

/** Lengths of the intervals that a query can request as a number of days. */
export const dayShortcuts = [7, 30] as const;
/** Length of an interval that a query can request as a number of days. */
export type DayShortcut = (typeof dayShortcuts)[number];

/** Length of the rolling window, in days. */
export const windowDays = 30;

/** Interval as requested, before it is clipped to the window. */
type AskedInterval = { readonly kind: 'days'; readonly days: DayShortcut } | ({ readonly kind: 'explicit' } & Interval);

/** A query for the rows of one account. */
export interface AskedQuery {
  /** DID of the account. */
  readonly account: string;
  readonly asked: AskedInterval;
  readonly filters: AccountFilters;
}

/** Filters of an account's rows; a row must match every given filter. */
export interface AccountFilters {
  /** DID of the labeler. */
  readonly labeler?: string;
  /** Exact label value. */
  readonly value?: string;
  readonly action?: LabelAction;
  readonly target_kind?: TargetKind;
}

/** A valid query with the additional parameters of its route, or the reason for refusing the query. */
type ParsedQuery =
  | { readonly kind: 'query'; readonly query: AskedQuery; readonly more: Parameters }
  | { readonly kind: 'refused'; readonly code: QueryRefusal };

const parameterNames = ['did', 'days', 'start', 'end', 'labeler', 'value', 'action', 'target_kind'] as const;

/** Parses the parameters of a query. `more` lists the additional parameters that the route allows. */
export function parseAccountQuery(parameters: Parameters | null, more: readonly string[] = []): ParsedQuery {
  const known: readonly string[] = [...parameterNames, ...more];
  if (parameters === null || [...parameters.keys()].some((name) => !known.includes(name))) {
    return refused('unknown_parameter');
  }
  const account = parameters.get('did');
  if (typeof account !== 'string' || !isDid(account)) return refused('invalid_account');
  const asked = askedInterval(parameters);
  if (typeof asked === 'string') return refused(asked);
  const filters = askedFilters(parameters);
  if (filters === null) return refused('invalid_filter');
  const further = new Map([...parameters].filter(([name]) => more.includes(name)));
  return { kind: 'query', query: { account: canonicalDid(account), asked, filters }, more: further };
}

function refused(code: QueryRefusal): ParsedQuery {
  return { kind: 'refused', code };
}

function askedInterval(parameters: Parameters): AskedInterval | QueryRefusal {
  const days = parameters.get('days');
  const explicit = parameters.has('start') || parameters.has('end');
  if (!explicit) return shortcut(days === undefined ? String(windowDays) : days);
  if (days !== undefined) return 'invalid_interval';
  const start = instant(parameters.get('start'));
  const end = instant(parameters.get('end'));
  if (start === null || end === null || start >= end) return 'invalid_interval';
  return { kind: 'explicit', start, end };
}

function shortcut(text: string | null): AskedInterval | QueryRefusal {
  if (text === null || !/^\d{1,9}$/.test(text)) return 'invalid_interval';
  const days = dayShortcuts.find((known) => String(known) === text);
  return days === undefined ? 'unsupported_interval' : { kind: 'days', days };
}

function instant(text: string | null | undefined): Micros | null {
  // A plus sign that is not percent-encoded is decoded as a space. A space has no other meaning here, so restore the
  // plus sign.
  return typeof text === 'string' ? parseInstant(text.replace(/ (?=\d{2}:\d{2}$)/, '+')) : null;
}

function askedFilters(parameters: Parameters): AccountFilters | null {
  const labeler = parameters.get('labeler');
  const value = parameters.get('value');
  const action = parameters.get('action');
  const kind = parameters.get('target_kind');
  const knownAction = labelActions.find((known) => known === action);
  const knownKind = targetKinds.find((known) => known === kind);
  if (labeler === null || (labeler !== undefined && !isDid(labeler))) return null;
  if (value === null || (value !== undefined && Buffer.byteLength(value) > maxValueBytes)) return null;
  if (action !== undefined && knownAction === undefined) return null;
  if (kind !== undefined && knownKind === undefined) return null;
  return {
    ...(labeler === undefined ? {} : { labeler: canonicalDid(labeler) }),
    ...(value === undefined ? {} : { value }),
    ...(knownAction === undefined ? {} : { action: knownAction }),
    ...(knownKind === undefined ? {} : { target_kind: knownKind }),
  };
}

/** Formats a query as a query string, without its question mark. */
export function searchText({ account, asked, filters }: AskedQuery): string {
  const interval =
    asked.kind === 'days'
      ? { days: String(asked.days) }
      : { start: formatMicros(asked.start), end: formatMicros(asked.end) };
  return new URLSearchParams({ did: account, ...interval, ...filters }).toString();
}

/** Converts filters to the form that the store expects. */
export function storeFilter({ labeler, value, action, target_kind }: AccountFilters): AccountFilter {
  return {
    ...(labeler === undefined ? {} : { labeler }),
    ...(value === undefined ? {} : { value }),
    ...(action === undefined ? {} : { removed: action === 'removal_observed' }),
    ...(target_kind === undefined ? {} : { target: target_kind }),
  };
}

/** The available part of a requested interval. */
interface AvailableInterval {
  /** Time up to which data can be read. */
  readonly now: Micros;
  /** Part of the rolling window at `now` that is retained. The start is inclusive, the end exclusive. */
  readonly window: Interval;
  /** Part of the requested interval in the window, or `out_of_window` if they do not overlap. */
  readonly interval: ClippedInterval | 'out_of_window';
}

/**
 * Returns the available part of a requested interval at `now`. A standby receives data after the primary: an interval
 * given as a number of days ends at the time up to which all data has been received. Throws `behind` unless this server
 * has received everything before the end of an explicit interval and before the position `before` at which a list
 * continues. Both are limited to `now`.
 */
export function availableInterval(
  frontier: Frontier,
  asked: AskedInterval,
  now: Micros,
  before: Micros | null,
): AvailableInterval {
  if (asked.kind === 'explicit') assertReceived(frontier, micros(Math.min(asked.end, now)));
  if (before !== null) assertReceived(frontier, micros(Math.min(before, now)));
  const end = readingTime(frontier, now);
  const window = { start: micros(Math.max(frontier.floor, end - windowDays * day)), end };
  return { now: end, window, interval: clipInterval(asked, window) };
}

/** Throws `behind` unless this server has received everything before `until`. */
export function assertReceived({ replicatedThrough }: Frontier, until: Micros): void {
  if (replicatedThrough === undefined || until <= replicatedThrough) return;
  throw new StoreError(
    'behind',
    `the server has received the data before ${replicatedThrough} µs, but the request needs the data before ${until} µs`,
  );
}

/**
 * Returns the time up to which data can be read: `now`, or, if earlier, the time up to which a standby has received
 * everything.
 */
function readingTime({ replicatedThrough }: Pick<Frontier, 'replicatedThrough'>, now: Micros): Micros {
  return replicatedThrough === undefined ? now : micros(Math.min(now, replicatedThrough));
}

/** The available part of a requested interval. `clipped` is true if it is not the whole interval. */
export interface ClippedInterval extends Interval {
  /** Start of the requested interval, before clipping. */
  readonly askedStart: Micros;
  readonly clipped: boolean;
}

/** Clips a requested interval to the available window. Returns `out_of_window` if they do not overlap. */
export function clipInterval(asked: AskedInterval, available: Interval): ClippedInterval | 'out_of_window' {
  const wanted = wantedInterval(asked, available.end);
  const start = micros(Math.max(wanted.start, available.start));
  const end = micros(Math.min(wanted.end, available.end));
  if (start >= end) return 'out_of_window';
  return { start, end, askedStart: wanted.start, clipped: start !== wanted.start || end !== wanted.end };
}

/** Returns the requested interval without clipping it. An interval that is given as a number of days ends at `now`. */
export function wantedInterval(asked: AskedInterval, now: Micros): Interval {
  if (asked.kind === 'days') return { start: micros(now - asked.days * day), end: now };
  return { start: asked.start, end: asked.end };
}

/**
 * Parameters of a query string, decoded like form data. A parameter that occurs more than once or cannot be decoded has
 * the value null, so that the query is refused with the error code of that parameter.
 */
export type Parameters = ReadonlyMap<string, string | null>;

/** Maximum number of parameters that are parsed; every valid query has fewer. */
const maxParameters = 32;

/**
 * Parses the query string of a request target, without its question mark. Omits parameters with an empty value, which
 * browsers send for unused form fields. Returns null if a name cannot be decoded or there are too many parameters.
 */
export function parseParameters(search: string): Parameters | null {
  const found = new Map<string, string | null>();
  if (search === '') return found;
  const pairs = search.split('&', maxParameters + 1);
  if (pairs.length > maxParameters) return null;
  for (const pair of pairs) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decoded(equals < 0 ? pair : pair.slice(0, equals));
    const value = decoded(equals < 0 ? '' : pair.slice(equals + 1));
    if (name === null) return null;
    if (value !== '') found.set(name, found.has(name) ? null : value);
  }
  return found;
}

/** Returns the query string of a request target, without its question mark. */
export function searchOf(target: string): string {
  const question = target.indexOf('?');
  return question < 0 ? '' : target.slice(question + 1);
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}
