import { maxHoursBytes } from '../../../artifact/hours/hours.ts';
import {
  type LabelerHours,
  type LabelsHour,
  type LabelsHours,
  maxHourLabelers,
} from '../../../artifact/hours/labels-hours.ts';
import { limitGaps } from '../../../artifact/hours/limit-gaps.ts';
import { maxGaps } from '../../../contract/limits.ts';
import { formatTimestamp, type Micros } from '../../../contract/timestamp.ts';
import { silentGaps } from '../../../store/coverage-rule.ts';
import { clip } from '../../../store/gaps.ts';
import type { StoredGap } from '../../../store/port.ts';
import { hour } from '../../../store/time.ts';
import { burstsIn } from '../../repeats/repeat-log.ts';
import { byPrecedence, type ListedLabeler } from '../labelers/listed-labeler.ts';
import { listedGaps, unreadTime } from '../labelers/unread-time.ts';
import { Turns } from '../turns.ts';
import type { WindowReading } from '../window/window-reader.ts';
import { headBytes } from './earlier-hours.ts';
import type { ClosedHours, CountedHour } from './hour-counts.ts';
import { observedMs } from './observed-time.ts';
import type { SourceHistory } from './source-history.ts';

/** Input of the hours file. */
export interface HoursInputs {
  readonly reading: Pick<WindowReading, 'window' | 'epoch' | 'frontier' | 'gaps' | 'bursts'>;
  readonly hours: ClosedHours;
  readonly counted: readonly CountedHour[];
  readonly entries: readonly ListedLabeler[];
  readonly sources: SourceHistory;
  readonly origin: 'live' | 'simulated';
}

/** The hours file in two parts: all fields except the labelers, and the JSON of each labeler, sorted by DID. */
export interface HoursFile {
  readonly head: Omit<LabelsHours, 'labelers'>;
  readonly labelers: readonly string[];
}

/** Creates the hours file from data of one read of the store. Works in short turns of the event loop. */
export async function makeHours(inputs: HoursInputs, maxBytes = maxHoursBytes): Promise<HoursFile> {
  const { reading, hours, counted, entries } = inputs;
  const turns = new Turns();
  const rows = await withoutRepeats(inputs, turns);
  const gaps = await gapsBySource(inputs, turns);
  const made: MadeLabeler[] = [];
  for (const entry of entries) {
    made.push(labelerHours(entry, inputs, { rows: rows.get(entry.did), gaps }));
    if (turns.isOver) await turns.next();
  }
  const listed: LabelsHour[] = [];
  const observed = observedMs(counted, gaps.instrument);
  for (const [at, one] of counted.entries()) {
    const totals = totalsOf(one.counts.length, rows, at);
    listed.push(hourOf(one, inputs, { ms: observed[at] ?? 0, totals, made, at }));
    if (turns.isOver) await turns.next();
  }
  const kept = fitting(made, reading.window.end, maxBytes - headBytes);
  const instrument = limitGaps(
    gaps.instrument.map(({ start, end, reason }) => ({ from: start, to: end, key: reason, reason })),
    maxGaps,
  );
  return {
    head: {
      schema: 'labels.hours.v1',
      generated_at: instant(reading.window.end),
      origin: inputs.origin,
      generation_id: reading.epoch.generationId,
      started_at: instant(reading.epoch.startedAt),
      through: instant(hours.end),
      hours: listed,
      gaps: instrument.gaps.map(({ from, to, reason }) => ({ start: instant(from), end: instantAfter(to), reason })),
      gap_overflow: instrument.overflow,
      omitted: made.length - kept.length,
    },
    labelers: kept.map(({ json }) => json),
  };
}

interface Totals {
  readonly applied: number;
  readonly removed: number;
  readonly repeats: number;
}

const noRows: Totals = { applied: 0, removed: 0, repeats: 0 };

/** Rows of each labeler by hour. Repeats are subtracted from applications first, as in the counts of days. */
type RowsByLabeler = ReadonlyMap<string, readonly Totals[]>;

async function withoutRepeats({ counted, reading }: HoursInputs, turns: Turns): Promise<RowsByLabeler> {
  const rows = new Map<string, Totals[]>();
  for (const [at, { counts, start, end }] of counted.entries()) {
    for (const { labeler, applied, removed } of counts) {
      const own = rows.get(labeler) ?? counted.map(() => noRows);
      rows.set(labeler, own);
      const bursts = reading.bursts.get(labeler);
      const repeats = bursts ? Math.min(applied + removed, burstsIn(bursts, { start, end })) : 0;
      const fromApplied = Math.min(applied, repeats);
      own[at] = { applied: applied - fromApplied, removed: removed - (repeats - fromApplied), repeats };
    }
    if (turns.isOver) await turns.next();
  }
  return rows;
}

function totalsOf(labelers: number, rows: RowsByLabeler, at: number): Totals {
  if (labelers === 0) return noRows;
  let [applied, removed, repeats] = [0, 0, 0];
  for (const own of rows.values()) {
    const one = own[at] ?? noRows;
    applied += one.applied;
    removed += one.removed;
    repeats += one.repeats;
  }
  return { applied, removed, repeats };
}

interface GapsBySource {
  readonly instrument: readonly StoredGap[];
  readonly bySource: ReadonlyMap<string | null, readonly StoredGap[]>;
}

/** Number of gaps that are clipped between two checks of the turn. */
const gapsAtOnce = 1_000;

async function gapsBySource({ reading, hours, entries }: HoursInputs, turns: Turns): Promise<GapsBySource> {
  const { frontier, gaps, epoch } = reading;
  const departures = entries.flatMap(({ departure }) => departure ?? []);
  const before: StoredGap = { source: null, start: hours.start, end: epoch.startedAt, reason: 'not_observed' };
  const all = [...gaps, ...departures, ...silentGaps(frontier, hours.end, gaps), before];
  const bySource = new Map<string | null, StoredGap[]>();
  for (let at = 0; at < all.length; at += gapsAtOnce) {
    for (const gap of clip(all.slice(at, at + gapsAtOnce), hours)) {
      const own = bySource.get(gap.source);
      if (own) own.push(gap);
      else bySource.set(gap.source, [gap]);
    }
    if (turns.isOver) await turns.next();
  }
  const instrument = (bySource.get(null) ?? []).filter(({ start, end }) => start < end);
  bySource.delete(null);
  return { instrument, bySource };
}

/** Rank of a labeler for which the file contains only gaps. */
const lastRank = 2;

interface MadeLabeler {
  readonly entry: ListedLabeler;
  /**
   * Order in which labelers are kept if not all of them fit into the file: first labelers with events, then observed
   * labelers, then all others.
   */
  readonly rank: number;
  readonly observedMs: readonly number[];
  readonly json: string;
}

function labelerHours(
  entry: ListedLabeler,
  { hours, counted, reading }: HoursInputs,
  { rows, gaps }: { readonly rows: readonly Totals[] | undefined; readonly gaps: GapsBySource },
): MadeLabeler {
  const { floor } = reading.frontier;
  const { did, firstAnswered, lastAnswered } = entry;
  const own = gaps.bySource.get(did) ?? [];
  const unread = unreadTime({ window: hours, floor, gaps: own, firstAnswered, lastAnswered });
  const observed = observedMs(counted, [...unread, ...gaps.instrument]);
  const listed = listedGaps(unread);
  const countsOf = (of: (totals: Totals) => number) => observed.map((ms, at) => count(of(rows?.[at] ?? noRows), ms));
  const labeler: LabelerHours = {
    labeler_did: did,
    applications: countsOf(({ applied }) => applied),
    removals: countsOf(({ removed }) => removed),
    observed_seconds: observed.map((ms) => ms / 1000),
    gaps: listed.gaps.map(({ start, end, reason }) => ({ start: instant(start), end: instantAfter(end), reason })),
    gap_overflow: listed.overflow,
  };
  const hasEvents = rows?.some(({ applied, removed }) => applied + removed > 0) ?? false;
  const rank = hasEvents ? 0 : observed.some((ms) => ms > 0) ? 1 : lastRank;
  return { entry, rank, observedMs: observed, json: JSON.stringify(labeler) };
}

/**
 * Returns the labelers that fit into the file, sorted by DID. Seeded and long-established labelers take precedence.
 */
function fitting(made: readonly MadeLabeler[], now: Micros, maxBytes: number): readonly MadeLabeler[] {
  let bytes = 0;
  const ranks = new Map(made.map(({ entry, rank }) => [entry, rank]));
  const compare = byPrecedence(now, { rankOf: (entry) => ranks.get(entry) ?? lastRank, last: lastRank });
  const kept = made
    .toSorted((a, b) => compare(a.entry, b.entry))
    .slice(0, maxHourLabelers)
    .filter(({ json }) => {
      // A labeler's JSON is ASCII, so its length is its size in bytes; a comma and a line feed follow it.
      bytes += json.length + 2;
      return bytes <= maxBytes;
    });
  return kept.toSorted(byDid);
}

function byDid({ entry: a }: MadeLabeler, { entry: b }: MadeLabeler): number {
  return a.did < b.did ? -1 : 1;
}

function hourOf(
  { start, end }: CountedHour,
  { sources }: HoursInputs,
  { ms, totals = noRows, made, at }: HourParts,
): LabelsHour {
  const labelerMs = made.reduce((sum, { observedMs: all }) => sum + (all[at] ?? 0), 0);
  return {
    start: instant(start),
    complete: end === start + hour,
    observed_seconds: ms / 1000,
    labeler_seconds: labelerMs / 1000,
    applications: count(totals.applied, labelerMs),
    removals: count(totals.removed, labelerMs),
    repeats: count(totals.repeats, labelerMs),
    sources: sources.of(start),
  };
}

interface HourParts {
  readonly ms: number;
  readonly totals: Totals | undefined;
  readonly made: readonly MadeLabeler[];
  readonly at: number;
}

/** Returns the number of events, or null instead of 0 if nothing was observed. */
function count(events: number, ms: number): number | null {
  return ms === 0 && events === 0 ? null : events;
}

function instant(at: number): string {
  return formatTimestamp(Math.floor(at / 1000));
}

/** Formats the end of a gap, rounded up so that the gap is never shorter than stored. */
function instantAfter(at: number): string {
  return formatTimestamp(Math.ceil(at / 1000));
}
