import type { Micros } from '../../contract/timestamp.ts';
import type { StoreReader } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import { isEnrolled, type KnownLabeler, labelerFromRow } from '../roster/known-labeler.ts';
import type { EnrolledSource } from './coverage.ts';
import { closedHours, FilledInCounts, HourCounts, SourceHistory, sampleOf } from './hours/hour-counts.ts';
import { makeHours } from './hours/labels-hours.ts';
import { type LabelersInputs, listLabelers } from './labelers/labelers-artifact.ts';
import { countDirectoryOnly } from './labelers/listed-labeler.ts';
import { makeOverview, type OverviewInputs } from './overview.ts';
import { WindowReader, type WindowReading } from './window/window-reader.ts';

/** Length of the window of the published facts, in days. */
const windowDays = 30;
/**
 * Daily limit of labels. The overview mentions it only while a source is paused, and no source of the past is paused.
 */
const dailyRows = 0;

/** Content of the files that the instrument publishes at one time. */
interface PastFiles {
  readonly overview: object;
  readonly hours: object;
}

/**
 * Reproduces what the instrument would have published at given times of a simulated past. It counts and publishes the
 * rows of a store as the running instrument does.
 */
export class PastInstrument {
  readonly #reader: WindowReader;
  readonly #counts: HourCounts;
  readonly #filledIn: FilledInCounts;
  readonly #sources = new SourceHistory();
  readonly #labelers: readonly KnownLabeler[];

  private constructor(store: StoreReader, labelers: readonly KnownLabeler[]) {
    this.#reader = new WindowReader(store);
    this.#counts = new HourCounts(store);
    this.#filledIn = new FilledInCounts(store);
    this.#labelers = labelers;
  }

  /** Creates the instrument with the labelers of a store. */
  static async open(store: StoreReader): Promise<PastInstrument> {
    return new PastInstrument(
      store,
      (await store.roster()).map((row) => labelerFromRow(row, null)),
    );
  }

  /** Returns the files for the time `now`, in microseconds since 1970. `now` must increase from call to call. */
  async at(now: Micros): Promise<PastFiles> {
    const reading = asOf(await this.#reader.read(now, windowDays), now);
    const overview = await makeOverview(reading, overviewInputs(this.#labelers, now));
    this.#sources.add(sampleOf(overview));
    return { overview: { ...overview, hold: false }, hours: await this.#hours(reading) };
  }

  async #hours(reading: WindowReading): Promise<object> {
    const { epoch, frontier, window } = reading;
    const hours = closedHours(window.end, frontier, epoch.startedAt);
    this.#sources.dropBefore(hours.start);
    const { all: entries } = listLabelers(reading, listing(this.#labelers));
    const counted = await this.#counts.read(hours);
    const { head, labelers } = await makeHours({
      ...{ reading, hours, counted, entries, sources: this.#sources, origin: 'simulated' },
      filledIn: this.#filledIn,
    });
    return { ...head, hold: false, labelers: labelers.map((json): unknown => JSON.parse(json)) };
  }
}

/**
 * Returns the window reading that the instrument would have had at `now`. Its last page dates from `now`, or from the
 * start of the gap that contains `now`.
 */
function asOf(reading: WindowReading, now: Micros): WindowReading {
  const interruption = reading.gaps.find(({ source, start, end }) => source === null && start < now && now <= end);
  const observedThrough = micros(Math.min(reading.frontier.observedThrough ?? now, interruption?.start ?? now));
  return { ...reading, frontier: { ...reading.frontier, observedThrough } };
}

function listing(labelers: readonly KnownLabeler[]): Omit<LabelersInputs, 'failed'> {
  return { origin: 'simulated', labelers, waits: () => false, pauseOf: () => null, deniedSince: () => null };
}

function overviewInputs(labelers: readonly KnownLabeler[], now: Micros): OverviewInputs {
  const enrolled = labelers.filter((labeler) => isEnrolled(labeler, now));
  return {
    ...{
      now,
      windowDays,
      dailyRows,
      origin: 'simulated',
      departures: [],
      capped: new Map<string, never>(),
      paused: null,
    },
    sources: enrolled.map((labeler) => sourceAt(labeler, now)),
    notEnrolled: labelers.length - enrolled.length,
    directoryOnly: countDirectoryOnly(enrolled),
    ...{ unreachable: 0, waiting: 0, delayed: 0, dropped: 0, denied: 0 },
  };
}

/**
 * Returns the source of a labeler at `now`. If its state changed after `now`, a labeler that has ever responded counts
 * as established.
 */
function sourceAt({ did, origin, tracker }: KnownLabeler, now: Micros): EnrolledSource {
  const { firstAnswered, state, stateSince } = tracker.tracked;
  const answered = firstAnswered !== null && firstAnswered <= now;
  return { did, origin, state: stateSince > now && firstAnswered !== null ? 'established' : state, answered };
}
