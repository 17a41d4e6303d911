import { createHash } from 'node:crypto';
import {
  type AccountCoverage,
  accountExportSchema,
  type ExportManifest,
  type LabelerCoverage,
  maxGapsPerLabeler,
} from '../../contract/account.ts';
import type { Gap } from '../../contract/labels.ts';
import { maxGaps } from '../../contract/limits.ts';
import { formatMicros, formatTimestamp, type Micros, microsFromMillis } from '../../contract/timestamp.ts';
import type { CoverageStatus } from '../../contract/vocabulary.ts';
import { coalesce, departureGap, unobservedEnd, unobservedGaps } from '../../store/gaps.ts';
import { storeOrigin } from '../../store/origin.ts';
import type { Epoch, Frontier, StoredGap } from '../../store/port.ts';
import { removedRowsSentence } from '../../store/removals.ts';
import type { RosterRow } from '../../store/roster.ts';
import { type Interval, micros } from '../../store/time.ts';
import { cursorBytes, type Snapshot } from '../cursor/cursor.ts';
import type { AccountStore } from '../query/account-store.ts';
import { atMost, type Stretch } from '../query/intervals.ts';
import { firstDigest } from './rows.ts';

/** A serialized manifest and its digest, which is the first digest of the export's chain. */
export interface WrittenManifest {
  /** The manifest as JSON. */
  readonly text: string;
  readonly digest: Buffer;
}

/** Maximum number of cached manifests. */
const remembered = 256;
/**
 * Maximum number of characters in all cached manifests. A manifest with the gaps of hundreds of labelers has a million
 * characters.
 */
const rememberedLength = 32 * 1024 * 1024;

/** Cache of manifests by snapshot. */
export interface Manifests {
  /** Returns the cached manifest of a snapshot, or creates one with the current coverage. */
  of(store: AccountStore, snapshot: Snapshot): Promise<WrittenManifest>;
}

/**
 * Creates a cache of manifests, so that all pages of an export have the same manifest even if a gap is recorded during
 * the export. A process that has not cached the manifest reads the coverage again; the digest still covers the first
 * manifest.
 */
export function rememberManifests(): Manifests {
  const known = new Map<string, WrittenManifest>();
  let length = 0;
  return {
    async of(store, snapshot) {
      const key = createHash('sha256')
        .update(cursorBytes({ kind: 'snapshot', snapshot }))
        .digest('base64');
      const found = known.get(key);
      if (found) return found;
      const manifest = await readManifest(store, snapshot);
      const written = { text: JSON.stringify(manifest), digest: firstDigest(manifest) };
      // If two concurrent requests create the same manifest, the second result replaces the first result in the
      // cache.
      length += written.text.length - (known.get(key)?.text.length ?? 0);
      known.set(key, written);
      for (const [old, { text }] of known) {
        if (known.size <= remembered && length <= rememberedLength) break;
        known.delete(old);
        length -= text.length;
      }
      return written;
    },
  };
}

/** Reads the coverage of a snapshot and the state of the store, and creates the manifest. */
async function readManifest(store: AccountStore, snapshot: Snapshot): Promise<ExportManifest> {
  const coverage = await readCoverage(store, snapshot);
  const removed = await removedRowsSentence(store);
  const epoch = await store.epoch();
  const origin = await storeOrigin(store);
  return {
    schema: accountExportSchema,
    ...(origin === 'live' ? {} : { origin }),
    account: snapshot.account,
    interval: { start: formatMicros(snapshot.start), end: formatMicros(snapshot.end), end_exclusive: true },
    clipped: snapshot.clipped,
    filters: { ...snapshot.filters },
    coverage,
    acquisition: {
      generation_id: epoch.generationId,
      started_at: formatMicros(epoch.startedAt),
      basis: 'local_acceptance_clock',
    },
    // Limit the frontier to the end of the interval: the next export starts at the frontier, and would otherwise omit
    // rows accepted between the end and the frontier.
    frontier: formatMicros(micros(Math.min(snapshot.frontier, snapshot.end))),
    count_bound: snapshot.countBound,
    current_label_state: 'unknown',
    page_rows: snapshot.pageRows,
    created_at: formatTimestamp(snapshot.createdAt),
    expires_at: formatTimestamp(snapshot.expiresAt),
    ...(removed === null ? {} : { caveats: [removed] }),
  };
}

/** Source state of a labeler whose labels are read without omissions since a known position. */
const established = 'established';

/** State of a labeler in the filter that is not in the roster. */
const notKnown = 'not_known';

/** Data for computing the coverage of an interval. */
interface CoverageInputs {
  readonly interval: Interval;
  /** Start of the requested interval before it was clipped to the window. */
  readonly askedStart: Micros;
  /** DID in the labeler filter, or undefined if there is no such filter. */
  readonly labeler: string | undefined;
  /** Time for which the coverage is computed: the creation time of the export. */
  readonly now: Micros;
  readonly epoch: Epoch;
  readonly frontier: Frontier;
  readonly gaps: readonly StoredGap[];
  readonly roster: readonly RosterRow[];
  /** DIDs of the labelers that were read at least once. */
  readonly everRead: ReadonlySet<string>;
}

/** Reads the data for the coverage of a snapshot and computes the coverage. */
export async function readCoverage(
  store: AccountStore,
  { start, end, askedStart, filters: { labeler }, createdAt, observedThrough }: Snapshot,
): Promise<AccountCoverage> {
  const interval = { start, end };
  const [epoch, latest, gaps, roster, positions] = [
    await store.epoch(),
    await store.frontier(),
    await store.gaps(interval),
    await store.roster(),
    await store.positions(),
  ];
  const answered = roster.filter(({ lastAnswered }) => lastAnswered !== null);
  const everRead = new Set([...answered.map(({ did }) => did), ...positions.map(({ source }) => source)]);
  // Not `readingTime`: the time up to which a standby has received data stops together with the instrument.
  const now = microsFromMillis(createdAt);
  // A page that was accepted after the snapshot may have ended a silence, but the export does not contain its labels.
  const frontier = { ...latest, observedThrough: earlierOf(latest.observedThrough, observedThrough) };
  return coverageOf({ interval, askedStart, labeler, now, epoch, frontier, gaps, roster, everRead });
}

/** Returns the earlier time of the latest page; undefined if it is unknown, null if there was no page. */
function earlierOf(current: Micros | null, known: Micros | null | undefined): Micros | null {
  if (known === undefined) return current;
  return current === null || known === null ? null : micros(Math.min(current, known));
}

/**
 * Computes the coverage of an interval. If no page was accepted for longer than the tolerance, or since the start of the
 * interval, the time since the last page is a gap and the status is unknown. A labeler that is no longer enrolled has a gap that begins at the
 * end of its complete data.
 */
export function coverageOf(inputs: CoverageInputs): AccountCoverage {
  const { interval, askedStart, now, epoch, frontier, roster } = inputs;
  const silence = unobservedGaps(frontier, { interval, now }, inputs.gaps);
  const departures = roster.flatMap((row) => departureGap(row, interval) ?? []);
  const bySource = Map.groupBy([...inputs.gaps, ...silence], ({ source }) => source);
  // A gap may already be recorded for the time after a departure. Merge gaps with the same reason, so that no time is
  // listed twice for one reason. Gaps with other reasons may overlap.
  for (const gap of departures) bySource.set(gap.source, coalesce([...(bySource.get(gap.source) ?? []), gap]));
  const own = atMost(bySource.get(null) ?? [], maxGaps);
  const labelers = labelersOf(inputs, bySource);
  const warmup =
    askedStart < epoch.startedAt
      ? wire({ start: askedStart, end: micros(Math.min(epoch.startedAt, interval.end)), reason: 'not_observed' })
      : null;
  return {
    status:
      unobservedEnd(frontier, interval, now) === null ? statusOf(labelers, own.length > 0, warmup !== null) : 'unknown',
    observed_through: frontier.observedThrough === null ? null : formatMicros(frontier.observedThrough),
    covered_through:
      frontier.observedThrough === null ? null : formatMicros(micros(Math.min(frontier.observedThrough, interval.end))),
    warmup,
    gaps: own.map(wire),
    labelers,
  };
}

/**
 * Returns the coverage of the enrolled labelers and of other labelers with a gap in the interval. With a labeler
 * filter, returns only the coverage of that labeler. The gap of a labeler that was never read is the whole interval.
 * Without a filter, such a labeler is listed only while it is enrolled.
 */
function labelersOf(
  { roster, labeler, interval, everRead }: CoverageInputs,
  bySource: ReadonlyMap<string | null, readonly StoredGap[]>,
): LabelerCoverage[] {
  const known = roster
    .filter(({ did, enrolled }) =>
      labeler === undefined ? enrolled || (everRead.has(did) && bySource.has(did)) : did === labeler,
    )
    .map(({ did, enrolled, state }) => ({ did, state: enrolled ? state : 'not_enrolled' }));
  const wanted = labeler !== undefined && known.length === 0 ? [{ did: labeler, state: notKnown }] : known;
  return wanted.map(({ did, state }) => ({
    labeler_did: did,
    state,
    // The position of an evicted labeler is removed later than its roster row, and its gaps are no longer recorded.
    gaps:
      everRead.has(did) && state !== notKnown
        ? atMost(bySource.get(did) ?? [], maxGapsPerLabeler).map(wire)
        : [wire({ ...interval, reason: 'not_observed' })],
  }));
}

function statusOf(labelers: readonly LabelerCoverage[], interrupted: boolean, warmup: boolean): CoverageStatus {
  // Without labelers the coverage is unknown.
  if (labelers.length === 0 || labelers.some(({ state }) => state !== established)) return 'unknown';
  if (warmup) return 'warming_up';
  return interrupted || labelers.some(({ gaps }) => gaps.length > 0) ? 'gapped' : 'no_recorded_gaps';
}

function wire({ start, end, reason }: Stretch): Gap {
  return { start: formatMicros(start), end: formatMicros(end), reason };
}
