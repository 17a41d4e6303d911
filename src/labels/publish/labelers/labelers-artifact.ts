import { join } from 'node:path';
import { type DefinitionsHeader, type LabelersHeader, labelersLimits } from '../../../artifact/labelers.ts';
import { artifactNames, writeLines } from '../../../artifact/write.ts';
import type { Micros } from '../../../contract/timestamp.ts';
import { makeFolder } from '../../../ops/errors.ts';
import type { LabelerCounters } from '../../../store/counts.ts';
import type { RefusalCount, RefusalReason, StoredGap } from '../../../store/port.ts';
import { day, dayName, micros, minute } from '../../../store/time.ts';
import { Turns } from '../../clock/clock.ts';
import type { KnownLabeler } from '../../roster/known-labeler.ts';
import { intervalOf } from '../../state/filled-in.ts';
import { stateTimes } from '../../state/reading-state.ts';
import { timestamp } from '../coverage.ts';
import { type Counted, type DayCounts, type DayPart, partsOf } from '../window/day-counts.ts';
import type { WindowReading } from '../window/window-reader.ts';
import { type DefinitionCache, type LabelerDefinitions, noDefinitions, unreadDefinitions } from './definition-cache.ts';
import { LabelerMemory, labelerLine } from './labeler-line.ts';
import {
  byPrecedence,
  type ListedLabeler,
  type ListingContext,
  listedLabeler,
  readShares,
  unreadTime,
  wasEnrolled,
} from './listed-labeler.ts';

/**
 * Reasons that do not depend on the labeler: it may publish labels that are too old for this instrument, or that are not
 * public.
 */
const harmless: ReadonlySet<RefusalReason> = new Set(['duplicate', 'pre_epoch', 'late', 'space_uri']);

/** Input of the artifact that does not come from the store. */
export interface LabelersInputs extends Omit<ListingContext, 'window' | 'refused'> {
  readonly origin: 'live' | 'simulated';
  readonly labelers: Iterable<KnownLabeler>;
  /** Called with an error that occurred while the definitions of a labeler were read or its line was created. */
  readonly failed: (did: string, error: unknown) => void;
  /** Returns a time in milliseconds; default: the clock of the process. */
  readonly monotonic?: () => number;
}

/** Content of both files of the artifact. Each has a header and lines, which are created while they are iterated. */
interface LabelersArtifact {
  readonly labelers: AsyncIterable<string>;
  readonly definitions: AsyncIterable<string>;
}

/** Labelers of the window, with their states when it was read. */
interface Listing {
  readonly reading: WindowReading;
  /** All labelers of the window. Sums over labelers must include those that are not listed. */
  readonly all: readonly ListedLabeler[];
  /** Labelers that the artifact lists. */
  readonly entries: readonly ListedLabeler[];
  /** Number of labelers that are not listed because the maximum number was reached. */
  readonly omitted: number;
}

/** Cached data of earlier publications, which makes the files faster to create. */
export interface LabelersCache {
  readonly definitions: DefinitionCache;
  /** Cached parts of lines, by labeler. */
  readonly memories: Map<string, LabelerMemory>;
}

/** Creates the content of both files. */
export async function makeLabelers(
  { reading, entries, omitted }: Omit<Listing, 'all'>,
  { definitions, memories }: LabelersCache,
  inputs: Pick<LabelersInputs, 'origin' | 'failed' | 'monotonic'>,
): Promise<LabelersArtifact> {
  const maxLine = maxLineFor(entries.length);
  const read = await readDefinitions(entries, definitions, { maxLine, ...inputs });
  const listed = new Set(entries.map(({ did }) => did));
  definitions.keepOnly(listed);
  for (const did of memories.keys()) if (!listed.has(did)) memories.delete(did);
  const gaps = await gapsBySource(reading.gaps);
  const lines = new LineMaker(reading, { definitions: read, memories, gaps }, inputs.failed);
  const texts = entries.flatMap(({ did }) => read.get(did)?.line ?? []);
  const shared = {
    generated_at: timestamp(reading.window.end),
    generation_id: reading.epoch.generationId,
  };
  const header: LabelersHeader = {
    schema: 'labels.labelers.v1',
    ...{ ...shared, labelers: entries.length, origin: inputs.origin },
    started_at: timestamp(reading.epoch.startedAt),
    window: { start: timestamp(reading.window.start), end: timestamp(reading.window.end) },
    days: lines.days.map(({ day }) => dayName(day)),
    counted_since: lines.countedSince === null ? null : timestamp(lines.countedSince),
    omitted,
  };
  const textHeader: DefinitionsHeader = {
    schema: 'labels.labeler-definitions.v1',
    ...{ ...shared, labelers: texts.length },
  };
  return {
    labelers: linesOf(header, entries, (entry) => lines.of(entry)),
    definitions: linesOf(textHeader, texts, (text) => text),
  };
}

/** Writes both files of the artifact, each atomically, and returns the number of written bytes. */
export async function writeLabelersFiles(folder: string, files: LabelersArtifact): Promise<number> {
  makeFolder(folder);
  const bytes = await writeLines(join(folder, artifactNames.labelers), files.labelers);
  return bytes + (await writeLines(join(folder, artifactNames.labelerDefinitions), files.definitions));
}

/** Number of gaps that are processed between two checks of the turn. */
const gapsAtOnce = 128;

/**
 * Groups gaps by labeler; the gaps of the instrument are under the empty name. Thousands of labelers have tens of
 * thousands of gaps, so the work yields to the event loop.
 */
async function gapsBySource(gaps: readonly StoredGap[]): Promise<ReadonlyMap<string, readonly StoredGap[]>> {
  const bySource = new Map<string, StoredGap[]>();
  const turns = new Turns();
  await turns.next();
  for (const [i, gap] of gaps.entries()) {
    if (i % gapsAtOnce === 0 && turns.isOver) await turns.next();
    const own = bySource.get(gap.source ?? '');
    if (own) own.push(gap);
    else bySource.set(gap.source ?? '', [gap]);
  }
  await turns.next();
  return bySource;
}

/** Maximum time for reading changed definitions, in milliseconds; the rest is read for the next publication. */
const readingMs = 6_000;

/**
 * Returns the definitions of labelers. Reads changed definitions for a limited time, in the order of the labelers'
 * first responses, so that labelers that constantly change large definitions delay neither other labelers nor the
 * artifact. Returns the definitions of the last read for the remaining labelers, or that they were never read.
 */
async function readDefinitions(
  entries: readonly ListedLabeler[],
  definitions: DefinitionCache,
  {
    maxLine,
    failed,
    monotonic = () => performance.now(),
  }: Pick<LabelersInputs, 'failed' | 'monotonic'> & { readonly maxLine: number },
): Promise<ReadonlyMap<string, LabelerDefinitions>> {
  const read = new Map<string, LabelerDefinitions>();
  const named = entries.filter(({ state }) => state !== 'denied');
  const changed = named.filter(({ did }) => !definitions.isCurrent(did, maxLine));
  const turns = new Turns(monotonic);
  const end = monotonic() + readingMs;
  for (const { did } of changed.toSorted(byFirstResponse)) {
    if (monotonic() >= end) break;
    try {
      await definitions.of(did, maxLine);
    } catch (error) {
      failed(did, error);
    }
    if (turns.isOver) await turns.next();
  }
  for (const { did } of named) read.set(did, definitions.last(did, maxLine));
  return read;
}

function byFirstResponse(a: ListedLabeler, b: ListedLabeler): number {
  return (a.firstAnswered ?? Number.MAX_SAFE_INTEGER) - (b.firstAnswered ?? Number.MAX_SAFE_INTEGER) || byDid(a, b);
}

async function* linesOf<T>(header: object, entries: readonly T[], make: (entry: T) => string): AsyncGenerator<string> {
  yield JSON.stringify(header);
  const turns = new Turns();
  await turns.next();
  for (const entry of entries) {
    yield make(entry);
    if (turns.isOver) await turns.next();
  }
}

/**
 * Returns the labelers of the window and those to list, each sorted by DID. Labelers with counted events and enrolled
 * labelers are listed before all others; among them, seeded and long-established labelers come first. Must be called in
 * the turn in which the states for the overview are read, so that the list and the overview count the same states.
 */
export function listLabelers(reading: WindowReading, inputs: Omit<LabelersInputs, 'failed'>): Listing {
  const { window, inWindow, lastRows, refusedInDay } = reading;
  const active = new Set(inWindow.counts.map(({ labeler }) => labeler));
  const refused = new Set([
    ...refusedLabelers(refusedInDay),
    ...unreadLabelers(reading.gaps, micros(window.end - day)),
  ]);
  const context: ListingContext = { ...inputs, window, refused };
  const known = new Set<string>();
  const chosen: ListedLabeler[] = [];
  for (const labeler of inputs.labelers) {
    known.add(labeler.did);
    if (active.has(labeler.did) || wasEnrolled(labeler, window)) chosen.push(listedLabeler(labeler, context));
  }
  for (const did of active) if (!known.has(did)) chosen.push(forgottenLabeler(did, lastRows.get(did) ?? window.start));
  const rankOf = ({ did, enrolled }: ListedLabeler): number => (active.has(did) ? 0 : enrolled ? 1 : 2);
  const all = chosen.toSorted(byDid);
  if (all.length <= labelersLimits.labelers) return { reading, all, entries: all, omitted: 0 };
  const kept = all.toSorted(byPrecedence(window.end, { rankOf, last: 2 })).slice(0, labelersLimits.labelers);
  return { reading, all, entries: kept.toSorted(byDid), omitted: all.length - kept.length };
}

function byDid(a: ListedLabeler, b: ListedLabeler): number {
  return a.did < b.did ? -1 : 1;
}

const noCountsOfDay: DayCounts = new Map();

/** Creates the lines of the artifact from one read of the window. */
class LineMaker {
  readonly days: readonly DayPart[];
  /** Instant from which verdicts, values and delays are counted, or null if nothing is counted yet. */
  readonly countedSince: Micros | null;
  readonly #reading: WindowReading;
  readonly #definitions: ReadonlyMap<string, LabelerDefinitions>;
  readonly #memories: Map<string, LabelerMemory>;
  readonly #failed: LabelersInputs['failed'];
  /** Counts of each day of the window. */
  readonly #counts: readonly DayCounts[];
  readonly #week: ReadonlyMap<string, number>;
  readonly #day: ReadonlyMap<string, number>;
  readonly #gaps: ReadonlyMap<string, readonly StoredGap[]>;
  readonly #instrument: readonly StoredGap[];
  readonly #counters: ReadonlyMap<string, LabelerCounters>;

  constructor(
    reading: WindowReading,
    {
      definitions,
      memories,
      gaps,
    }: {
      readonly definitions: ReadonlyMap<string, LabelerDefinitions>;
      readonly memories: Map<string, LabelerMemory>;
      readonly gaps: ReadonlyMap<string, readonly StoredGap[]>;
    },
    failed: LabelersInputs['failed'],
  ) {
    const { window, days, counters } = reading;
    this.#reading = reading;
    this.#definitions = definitions;
    this.#memories = memories;
    this.#failed = failed;
    this.days = partsOf(window);
    const byDay = new Map(days.map(({ day, counts }) => [day, counts]));
    this.#counts = this.days.map(({ day }) => byDay.get(day) ?? noCountsOfDay);
    this.#week = eventsOf(reading.inWeek);
    this.#day = eventsOf(reading.inDay);
    this.#instrument = gaps.get('') ?? [];
    this.#gaps = gaps;
    const isCounted = counters !== null && counters.since < window.end;
    this.countedSince = isCounted ? counters.since : null;
    this.#counters = new Map(isCounted ? counters.labelers.map((one) => [one.labeler, one]) : []);
  }

  /**
   * Returns the line of a labeler. If the data of the labeler causes an error, the line omits its texts. Other labelers
   * are not affected.
   */
  of(labeler: ListedLabeler): string {
    const { did } = labeler;
    try {
      return this.#line(labeler, this.#definitions.get(did) ?? noDefinitions);
    } catch (error) {
      this.#failed(did, error);
      return this.#line({ ...labeler, handle: null }, unreadDefinitions);
    }
  }

  #line(labeler: ListedLabeler, definitions: LabelerDefinitions): string {
    const { did, firstAnswered, lastAnswered, departure } = labeler;
    const { window, frontier, lastRows } = this.#reading;
    const gaps = [...this.#instrument, ...(this.#gaps.get(did) ?? []), ...(departure === null ? [] : [departure])];
    const unread = unreadTime({ window, floor: frontier.floor, gaps, firstAnswered, lastAnswered });
    const memory = this.#memories.get(did) ?? new LabelerMemory();
    this.#memories.set(did, memory);
    const days = memory.countsOf(did, this.#counts);
    const isActive = days.some((count) => count !== undefined && count.applied + count.removed > 0);
    return labelerLine({
      ...{ labeler, days, unread, memory, definitions },
      shares: readShares(this.days, unread),
      lateDays: this.#lateDays(did),
      week: this.#week.get(did) ?? 0,
      day: this.#day.get(did) ?? 0,
      lastRow: isActive ? this.#lastRow(lastRows.get(did)) : null,
      counters: this.countedSince === null ? null : (this.#counters.get(did) ?? noCounts(did)),
    });
  }

  /** Returns the indexes of the days on which a labeler was read late for longer than a delay. */
  #lateDays(did: string): number[] {
    const spans = (this.#reading.filledIn.get(did) ?? []).map(intervalOf);
    return this.days.flatMap(({ start, end }, index) => {
      const late = spans.reduce(
        (sum, one) => sum + Math.max(0, Math.min(one.end, end) - Math.max(one.start, start)),
        0,
      );
      return late > stateTimes.delayLimit ? [index] : [];
    });
  }

  /**
   * Returns the minute of a labeler's last row. A row for which no minute was found is in the minute that contains the
   * floor, because the counters of that minute cannot be queried.
   */
  #lastRow(found: Micros | undefined): Micros {
    const { window, frontier } = this.#reading;
    const first = Math.max(window.start, frontier.floor);
    return micros(found ?? first - (first % minute));
  }
}

function noCounts(labeler: string): LabelerCounters {
  const verdicts = { verified: 0, verified_earlier_key: 0, invalid: 0, unsigned: 0, unverified: 0 };
  return { labeler, verdicts, values: [], others: { applied: 0, removed: 0 }, delays: [] };
}

function eventsOf({ counts }: Counted): ReadonlyMap<string, number> {
  return new Map(counts.map(({ labeler, events }) => [labeler, events]));
}

/**
 * Returns the labelers of which a label was refused because of its form or content. The counts come from the store, so
 * that a restart does not change the result. No minimum applies: a serializer that writes one kind of label wrong loses
 * all labels of that kind, and the operator of the labeler must learn of it.
 */
export function refusedLabelers(refusals: readonly RefusalCount[]): ReadonlySet<string> {
  const counted = refusals.filter(({ reason, count }) => count > 0 && !harmless.has(reason));
  return new Set(counted.map(({ source }) => source));
}

/**
 * Returns the labelers that lost messages after `since` because the messages were not understood. A gap from before the
 * first read of a labeler ends earlier, because labels of the last 48 hours are read.
 */
function unreadLabelers(gaps: readonly StoredGap[], since: Micros): ReadonlySet<string> {
  const labelers = new Set<string>();
  for (const { source, reason, end } of gaps)
    if (source !== null && reason === 'not_observed' && end > since) labelers.add(source);
  return labelers;
}

/** Returns the listed properties of a labeler that has rows in the window and is no longer in the roster. */
function forgottenLabeler(did: string, lastRow: Micros): ListedLabeler {
  return {
    ...{ did, handle: null, enrolled: false, state: 'departed', stateSince: lastRow, problem: 'unknown' },
    ...{
      provenance: new Set<string>(),
      readBy: null,
      firstAnswered: null,
      dated: false,
      lastAnswered: null,
      replacesRows: null,
      departure: null,
    },
  };
}

/** Returns the maximum size of a line in bytes such that the lines of all labelers fit into the file. */
export function maxLineFor(labelers: number): number {
  let max = labelersLimits.definitionsLineBytes;
  while (max * (labelers + 1) > labelersLimits.definitionsFileBytes) max /= 2;
  return max;
}
