import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeHours, hoursLimits, limitGaps } from '../../../artifact/hours/hours.ts';
import {
  type LabelerHours,
  type LabelsHour,
  type LabelsHours,
  recogniseLabelsHours,
} from '../../../artifact/hours/labels-hours.ts';
import { artifactNames, writeLines } from '../../../artifact/write.ts';
import { maxGaps } from '../../../contract/limits.ts';
import { formatTimestamp, type Micros } from '../../../contract/timestamp.ts';
import { systemCode } from '../../../ops/errors.ts';
import { clip, silentGaps } from '../../../store/gaps.ts';
import type { StoredGap, StoreReader } from '../../../store/port.ts';
import { hour, type Interval, micros } from '../../../store/time.ts';
import { Turns } from '../../clock/clock.ts';
import { writeWithHold } from '../../operator/hold.ts';
import { intervalOf } from '../../state/filled-in.ts';
import { timestamp } from '../coverage.ts';
import { byPrecedence, coveredTimes, type ListedLabeler, listedGaps, unreadTime } from '../labelers/listed-labeler.ts';
import type { WindowReading } from '../window/window-reader.ts';
import {
  type CountedHour,
  closedHours,
  countHourRows,
  FilledInCounts,
  HourCounts,
  type HourRows,
  type LateTimes,
  lateTimes,
  SourceHistory,
  settleTime,
} from './hour-counts.ts';

/** Options for the publisher of the hours file. */
interface HoursPublisherOptions {
  readonly store: Pick<StoreReader, 'frontier' | 'countsByLabeler' | 'countsOverTime' | 'purges'>;
  /** Directory of the artifacts. */
  readonly folder: string;
  readonly origin: 'live' | 'simulated';
  readonly clock: () => Micros;
}

/** Data of one publication, as of the end of the window of `reading`. */
interface HoursPublication {
  readonly reading: WindowReading;
  /** All labelers of the window, because the hours also count labelers that do not fit into the file. */
  readonly entries: readonly ListedLabeler[];
  readonly sources: NonNullable<LabelsHour['sources']>;
}

/** Writer of the hours file. */
export class HoursPublisher {
  readonly #options: HoursPublisherOptions;
  readonly #counts: HourCounts;
  readonly #filledIn: FilledInCounts;
  readonly #sources = new SourceHistory();
  #isLoaded = false;

  constructor(options: HoursPublisherOptions) {
    this.#options = options;
    this.#counts = new HourCounts(options.store);
    this.#filledIn = new FilledInCounts(options.store);
  }

  /**
   * Replaces the file, unless a purge or the removal of a day began after the reading. Rejects if the store cannot be
   * read or the file cannot be written. In these cases, the earlier file remains.
   */
  async publish({ reading, entries, sources }: HoursPublication): Promise<void> {
    const { epoch, frontier, window } = reading;
    await this.#loadOnce(epoch.generationId);
    this.#sources.add(sources);
    const hours = closedHours(window.end, frontier, epoch.startedAt);
    this.#sources.dropBefore(hours.start);
    const counted = await this.#counts.read(hours);
    const { origin } = this.#options;
    const parts = { counted, filledIn: this.#filledIn, sources: this.#sources };
    const file = await makeHours({ ...parts, reading, hours, entries, origin });
    if (await this.#isOutdated(reading)) return;
    await writeWithHold(this.#options.folder, (hold) => writeLines(this.#path, linesOf(file, hold)));
  }

  /** Returns true if removed rows may be missing in the counts, while the reading has no gap in their place. */
  async #isOutdated({ frontier, purges }: WindowReading): Promise<boolean> {
    const { store } = this.#options;
    const [{ floor }, requested] = await Promise.all([store.frontier(), store.purges()]);
    const known = new Set(purges.map(({ source, requestedAt }) => `${source} ${requestedAt}`));
    return floor !== frontier.floor || requested.some((one) => !known.has(`${one.source} ${one.requestedAt}`));
  }

  get #path(): string {
    return join(this.#options.folder, artifactNames.labelsHours);
  }

  /** Reads the states of earlier hours from the file that an earlier process wrote. */
  async #loadOnce(generationId: string): Promise<void> {
    if (this.#isLoaded) return;
    this.#isLoaded = true;
    const earlier = await readEarlierHours(this.#path);
    if (earlier) this.#sources.load(earlier, generationId);
  }
}

/** Yields the JSON of the file, with one labeler per line. */
function* linesOf({ head, labelers }: HoursFile, hold: boolean): Generator<string> {
  yield `${JSON.stringify({ ...head, hold }).slice(0, -1)},"labelers":[`;
  for (const [at, json] of labelers.entries()) yield at === labelers.length - 1 ? json : `${json},`;
  yield ']}';
}

/** Input of the hours file. */
interface HoursInputs {
  readonly reading: Pick<WindowReading, 'window' | 'epoch' | 'frontier' | 'gaps' | 'bursts' | 'filledIn'>;
  readonly hours: Interval;
  readonly counted: readonly CountedHour[];
  /** Counts the rows that were read late. */
  readonly filledIn: Pick<FilledInCounts, 'read'>;
  readonly entries: readonly ListedLabeler[];
  readonly sources: SourceHistory;
  readonly origin: 'live' | 'simulated';
}

/** The hours file in two parts: all fields except the labelers, and the JSON of each labeler, sorted by DID. */
interface HoursFile {
  readonly head: Omit<LabelsHours, 'labelers'>;
  readonly labelers: readonly string[];
}

/** Creates the hours file from data of one read of the store. Works in short turns of the event loop. */
export async function makeHours(inputs: HoursInputs, maxBytes = hoursLimits.fileBytes): Promise<HoursFile> {
  const { reading, hours, counted, entries } = inputs;
  const turns = new Turns();
  const gaps = await gapsBySource(inputs, turns);
  const times = await lateTimes(reading.filledIn, gaps, turns);
  const lateRows = await inputs.filledIn.read(counted, times, reading.frontier.floor);
  const rows = await countHourRows({ counted, bursts: reading.bursts, times, lateRows }, turns);
  const made: MadeLabeler[] = [];
  for (const entry of entries) {
    made.push(labelerHours(entry, inputs, { rows: rows.of(entry.did), gaps, times }));
    if (turns.isOver) await turns.next();
  }
  const listed: LabelsHour[] = [];
  const observed = observedMs(counted, gaps.instrument);
  const rated = observedMs(counted, [...gaps.instrument, ...times.others.map(intervalOf)]);
  for (const [at, one] of counted.entries()) {
    const [ms, ratedMs] = [observed[at] ?? 0, rated[at] ?? 0];
    listed.push(hourOf(one, inputs, { ms, ratedMs, totals: rows.total(at), made, at }));
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
      generated_at: timestamp(reading.window.end),
      origin: inputs.origin,
      generation_id: reading.epoch.generationId,
      started_at: timestamp(reading.epoch.startedAt),
      through: timestamp(hours.end),
      hours: listed,
      gaps: instrument.gaps.map(({ from, to, reason }) => ({ start: timestamp(from), end: instantAfter(to), reason })),
      gap_overflow: instrument.overflow,
      omitted: made.length - kept.length,
    },
    labelers: kept.map(({ json }) => json),
  };
}

interface GapsBySource {
  readonly instrument: readonly StoredGap[];
  /** Gaps of the instrument, including those whose late rows were accepted in the first hour. */
  readonly settling: readonly StoredGap[];
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
  const settling: StoredGap[] = [];
  for (let at = 0; at < all.length; at += gapsAtOnce) {
    const some = all.slice(at, at + gapsAtOnce);
    for (const gap of clip(some, hours)) {
      const own = bySource.get(gap.source);
      if (own) own.push(gap);
      else bySource.set(gap.source, [gap]);
    }
    const ofInstrument = some.filter(({ source }) => source === null);
    settling.push(...clip(ofInstrument, { start: micros(hours.start - settleTime), end: hours.end }));
    if (turns.isOver) await turns.next();
  }
  const instrument = (bySource.get(null) ?? []).filter(({ start, end }) => start < end);
  bySource.delete(null);
  return { instrument, settling, bySource };
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
  readonly observedMs: Int32Array;
  /** Observed time that belongs to rates. */
  readonly ratedMs: Int32Array;
  /** Labels that belong to rates, by hour. */
  readonly ratedRows: Float64Array;
  readonly json: string;
}

interface LabelerParts {
  readonly rows: readonly HourRows[];
  readonly gaps: GapsBySource;
  readonly times: LateTimes;
}

function labelerHours(
  entry: ListedLabeler,
  { hours, counted, reading }: HoursInputs,
  { rows, gaps, times }: LabelerParts,
): MadeLabeler {
  const { floor } = reading.frontier;
  const { did } = entry;
  const own = gaps.bySource.get(did) ?? [];
  const unread = unreadTime({ ...entry, window: hours, floor, gaps: own, instrument: gaps.instrument });
  const observed = observedMs(counted, [...unread, ...gaps.instrument]);
  const lateSpans = (times.bySource.get(did) ?? times.others).map(intervalOf);
  const rated = observedMs(counted, [...unread, ...gaps.instrument, ...lateSpans]);
  const listed = listedGaps(unread);
  const countsOf = (of: (one: HourRows) => number) => rows.map((one, at) => count(of(one), observed[at] ?? 0));
  const labeler: LabelerHours = {
    labeler_did: did,
    applications: countsOf(({ applied }) => applied),
    removals: countsOf(({ removed }) => removed),
    observed_seconds: observed.map((ms) => ms / 1000),
    filled_in: rows.flatMap(({ late }, at) => filledInAt(at, late, (observed[at] ?? 0) - (rated[at] ?? 0))),
    gaps: listed.gaps.map(({ start, end, reason }) => ({ start: timestamp(start), end: instantAfter(end), reason })),
    gap_overflow: listed.overflow,
  };
  const hasEvents = rows.some(({ applied, removed }) => applied + removed > 0);
  const rank = hasEvents ? 0 : observed.some((ms) => ms > 0) ? 1 : lastRank;
  const ratedRows = rows.map(({ applied, removed, late }) => applied + removed - late.applied - late.removed);
  return {
    ...{ entry, rank, json: JSON.stringify(labeler) },
    // Typed arrays keep their numbers out of the heap, so that the numbers of thousands of labelers are not its garbage.
    ...{ observedMs: Int32Array.from(observed), ratedMs: Int32Array.from(rated) },
    ratedRows: Float64Array.from(ratedRows),
  };
}

/** Returns the entry of one hour that states what is left out of rates; no entry if that is nothing. */
function filledInAt(
  at: number,
  { applied, removed }: HourRows['late'],
  ms: number,
): LabelerHours['filled_in'] & object {
  if (applied + removed === 0 && ms === 0) return [];
  return [{ at, applications: applied, removals: removed, observed_seconds: ms / 1000 }];
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
    .slice(0, hoursLimits.labelers)
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
  { ms, ratedMs, totals, made, at }: HourParts,
): LabelsHour {
  const sumOf = (of: (one: MadeLabeler) => Int32Array) => made.reduce((sum, one) => sum + (of(one)[at] ?? 0), 0);
  const labelerMs = sumOf((one) => one.observedMs);
  return {
    start: timestamp(start),
    complete: end === start + hour,
    observed_seconds: ms / 1000,
    labeler_seconds: labelerMs / 1000,
    applications: count(totals.applied, labelerMs),
    removals: count(totals.removed, labelerMs),
    repeats: count(totals.repeats, labelerMs),
    filled_in: {
      ...{ applications: totals.late.applied, removals: totals.late.removed },
      observed_seconds: (ms - ratedMs) / 1000,
      labeler_seconds: (labelerMs - sumOf((one) => one.ratedMs)) / 1000,
    },
    labels_per_hour: rateOf(made, at, end - start),
    sources: sources.of(start),
  };
}

/**
 * Returns the sum of the labelers' rates in labels per hour, rounded to six significant digits. Each labeler's labels
 * are divided by its own time. A labeler is left out if less than half of the part of the hour belongs to its rate.
 * Returns null if all labelers are left out.
 */
function rateOf(made: readonly MadeLabeler[], at: number, part: number): number | null {
  let sum: number | null = null;
  for (const { ratedMs, ratedRows } of made) {
    const [ms, rows] = [ratedMs[at] ?? 0, ratedRows[at] ?? 0];
    if (ms > 0 && 2_000 * ms >= part) sum = (sum ?? 0) + (rows * hour) / (1_000 * ms);
  }
  return sum === null ? null : Number(sum.toPrecision(6));
}

interface HourParts {
  readonly ms: number;
  readonly ratedMs: number;
  readonly totals: HourRows;
  readonly made: readonly MadeLabeler[];
  readonly at: number;
}

/** Returns the number of events, or null instead of 0 if nothing was observed. */
function count(events: number, ms: number): number | null {
  return ms === 0 && events === 0 ? null : events;
}

/** Formats the end of a gap, rounded up so that the gap is never shorter than stored. */
function instantAfter(at: number): string {
  return formatTimestamp(Math.ceil(at / 1000));
}

/**
 * Returns the observed time of each part in whole milliseconds: the length of the part minus the unread intervals.
 * Rounds down, so that a part with an unread interval never counts as completely observed. Returns at least 1 for a
 * part with any observed time.
 */
function observedMs(parts: readonly Interval[], unread: readonly Interval[]): number[] {
  return coveredTimes(parts, unread).map((covered, at) => {
    const { start = 0, end = 0 } = parts[at] ?? {};
    const observed = end - start - covered;
    return observed <= 0 ? 0 : Math.max(1, Math.floor(observed / 1000));
  });
}

/** Maximum size of the file without its labelers, in bytes. */
const headBytes = 128 * 1024;
/** Start of the last field of the file. */
const labelersKey = '"labelers":[';

/**
 * Reads the file that an earlier process wrote, without its labelers, because parsing a complete file of four megabytes
 * would block the event loop for too long. Resolves with null if the file does not exist, cannot be read or is invalid.
 */
export async function readEarlierHours(path: string): Promise<LabelsHours | null> {
  const text = await readHead(path);
  const end = text.indexOf(labelersKey);
  if (end < 0) return null;
  const head = Buffer.from(`${text.slice(0, end + labelersKey.length)}]}`);
  const reading = decodeHours(head, recogniseLabelsHours);
  return reading.kind === 'readable' ? reading.artifact : null;
}

async function readHead(path: string): Promise<string> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return '';
  }
}
