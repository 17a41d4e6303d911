import { createHash } from 'node:crypto';

/** A model of the account view, derived from the contract. It works on plain arrays of rows, gaps and labelers. */

/** Time in microseconds since 1970. */
type At = number;

export interface Span {
  readonly start: At;
  readonly end: At;
}

export interface ModelRow {
  readonly observedAt: At;
  readonly account: string;
  readonly labeler: string;
  readonly uri: string;
  readonly cid?: string | undefined;
  readonly value: string;
  readonly removed: boolean;
  readonly authored: string;
  readonly expires?: string | undefined;
  readonly signature: string;
}

export interface ModelGap extends Span {
  /** DID of the labeler, or null for an interruption of the whole instrument. */
  readonly source: string | null;
  readonly reason: string;
}

export interface ModelLabeler {
  readonly did: string;
  readonly state: string;
  /**
   * Time at which the labeler's enrolment ended, or null if the labeler is still enrolled. Until that time the
   * labeler was read completely.
   */
  readonly leftAt: At | null;
  /** False if the labeler never responded. */
  readonly wasRead: boolean;
}

export interface AccountWorld {
  readonly generationId: string;
  readonly startedAt: At;
  readonly floor: At;
  readonly observedThrough: At;
  readonly rows: readonly ModelRow[];
  readonly gaps: readonly ModelGap[];
  readonly labelers: readonly ModelLabeler[];
}

export interface Filters {
  readonly labeler?: string;
  readonly value?: string;
  readonly action?: string;
  readonly target_kind?: string;
}

const minute = 60_000_000;
const day = 1440 * minute;
const tolerance = 10 * minute;

/** Returns the interval that is available at `now`: the last 30 days, limited to retained data and to the epoch. */
function availableAt(world: AccountWorld, now: At): Span {
  return { start: Math.max(world.floor, world.startedAt, now - 30 * day), end: now };
}

/** Returns the available part of the requested interval, or null if no part is available. */
export function shownOf(world: AccountWorld, asked: Span, now: At): Span | null {
  const available = availableAt(world, now);
  const shown = { start: Math.max(asked.start, available.start), end: Math.min(asked.end, available.end) };
  return shown.start < shown.end ? shown : null;
}

export function rowsIn(world: AccountWorld, account: string, { start, end }: Span): ModelRow[] {
  return world.rows.filter((row) => row.account === account && row.observedAt >= start && row.observedAt < end);
}

function targetKind({ uri, account }: ModelRow): string {
  if (uri === account) return 'account';
  return uri.startsWith(`at://${account}/app.bsky.feed.post/`) ? 'post' : 'record';
}

export function agrees(row: ModelRow, filters: Filters): boolean {
  const action = row.removed ? 'removal_observed' : 'application_observed';
  return (
    (filters.labeler === undefined || filters.labeler === row.labeler) &&
    (filters.value === undefined || filters.value === row.value) &&
    (filters.action === undefined || filters.action === action) &&
    (filters.target_kind === undefined || filters.target_kind === targetKind(row))
  );
}

/** Formats a row as the service publishes it. */
export function publishedRow(row: ModelRow): Record<string, unknown> {
  return {
    labeler_did: row.labeler,
    uri: row.uri,
    ...(row.cid === undefined ? {} : { cid: row.cid }),
    value: row.value,
    action: row.removed ? 'removal_observed' : 'application_observed',
    source_timestamp: row.authored,
    observed_at: sixDecimals(row.observedAt),
    ...(row.expires === undefined ? {} : { expires_at: row.expires }),
    signature: row.signature,
  };
}

export function sixDecimals(at: At): string {
  const ms = Math.floor(at / 1000);
  return `${new Date(ms).toISOString().slice(0, -1)}${String(at - ms * 1000).padStart(3, '0')}Z`;
}

/** Expected coverage of an interval. The same rule applies to pages and exports. Timestamps are in microseconds. */
interface ExpectedCoverage {
  readonly status: string;
  readonly observedThrough: At;
  readonly coveredThrough: At;
  readonly warmup: Span | null;
  readonly gaps: readonly ModelGap[];
  readonly labelers: ReadonlyMap<string, { readonly state: string; readonly gaps: readonly ModelGap[] }>;
}

export function coverageOf(world: AccountWorld, asked: Span, shown: Span, now: At, filters: Filters): ExpectedCoverage {
  const own = [...clipped(world, null, shown), ...silence(world, shown, now)].sort(byStart);
  // Limit the warm-up to the 30-day window, because no earlier time is available.
  const from = Math.max(asked.start, now - 30 * day);
  const warmup = from < world.startedAt ? { start: from, end: Math.min(world.startedAt, shown.end) } : null;
  const labelers = new Map(
    world.labelers
      .filter(({ did }) => filters.labeler === undefined || filters.labeler === did)
      .map((labeler) => ({ ...labeler, gaps: gapsOf(world, labeler, shown) }))
      .filter(
        ({ leftAt, did, gaps, wasRead }) => leftAt === null || (wasRead && gaps.length > 0) || filters.labeler === did,
      )
      .map((labeler) => [labeler.did, { state: stateOf(labeler), gaps: labeler.gaps }]),
  );
  const filtered = filters.labeler;
  if (filtered !== undefined && !labelers.has(filtered)) {
    labelers.set(filtered, { state: 'not_known', gaps: [neverRead(filtered, shown)] });
  }
  // The status is unknown if any labeler is not established.
  const isUnknown = isSilent(world, shown, now) || [...labelers.values()].some(({ state }) => state !== 'established');
  const isGapped = own.length > 0 || [...labelers.values()].some(({ gaps }) => gaps.length > 0);
  return {
    status: isUnknown ? 'unknown' : warmup ? 'warming_up' : isGapped ? 'gapped' : 'no_recorded_gaps',
    observedThrough: world.observedThrough,
    coveredThrough: Math.min(shown.end, world.observedThrough),
    warmup,
    gaps: own,
    labelers,
  };
}

function stateOf({ state, leftAt }: ModelLabeler): string {
  return leftAt === null ? state : 'not_enrolled';
}

function byStart(a: ModelGap, b: ModelGap): number {
  return a.start - b.start || a.reason.localeCompare(b.reason);
}

function clipped(world: AccountWorld, source: string | null, { start, end }: Span): ModelGap[] {
  return world.gaps
    .filter((gap) => gap.source === source && gap.start < end && gap.end > start)
    .map((gap) => ({ ...gap, start: Math.max(gap.start, start), end: Math.min(gap.end, end) }))
    .sort(byStart);
}

/**
 * Returns true if an interval ends after the last accepted page, and either more time than tolerated has passed since
 * that page or the interval also begins after it.
 */
function isSilent({ observedThrough }: AccountWorld, { start, end }: Span, now: At): boolean {
  return observedThrough < end && (now - observedThrough > tolerance || observedThrough <= start);
}

/**
 * Returns the part of an interval after the last accepted page, without interruptions of the instrument. Returns an
 * empty list if the tolerated time has not passed and a part of the interval was observed.
 */
function silence(world: AccountWorld, shown: Span, now: At): ModelGap[] {
  if (!isSilent(world, shown, now)) return [];
  const parts: ModelGap[] = [];
  let start = Math.max(world.observedThrough, shown.start);
  const part = (end: At): ModelGap => ({ source: null, reason: 'source_unavailable', start, end });
  for (const gap of clipped(world, null, shown)) {
    if (gap.start > start) parts.push(part(gap.start));
    start = Math.max(start, gap.end);
  }
  return start < shown.end ? [...parts, part(shown.end)] : parts;
}

/** Returns the gap of a labeler that was never read: the whole interval. */
function neverRead(source: string, shown: Span): ModelGap {
  return { source, reason: 'not_observed', ...shown };
}

function gapsOf(world: AccountWorld, { did, leftAt, wasRead }: ModelLabeler, shown: Span): ModelGap[] {
  if (!wasRead) return [neverRead(did, shown)];
  const gaps = clipped(world, did, shown);
  if (leftAt === null || leftAt >= shown.end) return gaps;
  const since = Math.max(leftAt, shown.start);
  return [...gaps, { source: did, reason: 'source_unavailable', start: since, end: shown.end }].sort(byStart);
}

/** Computes the digest chain over a manifest and its rows: SHA-256 over canonical JSON (RFC 8785). */
export function digestChain(manifest: unknown, rows: readonly unknown[]): string {
  let digest = createHash('sha256').update(canonical(manifest)).digest();
  for (const row of rows) digest = createHash('sha256').update(digest).update(canonical(row)).digest();
  return digest.toString('hex');
}

/**
 * Formats a value as canonical JSON (RFC 8785): keys sorted by UTF-16 code units, no white space, strings and numbers
 * as in ECMAScript.
 */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const sorted = members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`;
}
