import type { HoursReading } from '../../../archive/hours/hour-lists.ts';
import { decodeArtifact } from '../../../artifact/decode.ts';
import { decodeHours } from '../../../artifact/hours/hours.ts';
import { type LabelsHours, recogniseLabelsHours } from '../../../artifact/hours/labels-hours.ts';
import type { Reading } from '../../../artifact/reading.ts';
import { type LabelArtifact, recogniseLabels } from '../../../artifact/recognise.ts';
import type { Micros } from '../../../contract/timestamp.ts';
import { countDirectoryOnly } from '../../../labels/discovery/discovery-sources.ts';
import type { EnrolledSource } from '../../../labels/publish/coverage.ts';
import { FilledInCounts } from '../../../labels/publish/hours/filled-in-counts.ts';
import { closedHours, HourCounts } from '../../../labels/publish/hours/hour-counts.ts';
import { makeHours } from '../../../labels/publish/hours/labels-hours.ts';
import { SourceHistory, sampleOf } from '../../../labels/publish/hours/source-history.ts';
import { type LabelersInputs, listLabelers } from '../../../labels/publish/labelers/labelers-artifact.ts';
import { makeOverview, type OverviewInputs } from '../../../labels/publish/overview.ts';
import { WindowReader, type WindowReading } from '../../../labels/publish/window/window-reader.ts';
import { isEnrolled, type KnownLabeler, labelerFromRow } from '../../../labels/roster/known-labeler.ts';
import type { StoreReader } from '../../../store/port.ts';
import { micros } from '../../../store/time.ts';
import { hoursReadingOf } from '../../archive/hours-reader.ts';

/** Length of the label window in days, as the label instrument of the demo publishes it. */
const windowDays = 30;
/**
 * Daily limit of labels. The overview mentions it only while a source is paused, and no source of the past is paused.
 */
const dailyRows = 0;

/** The files that the label instrument publishes at one time in the past. */
export interface PastLabels {
  readonly overview: Reading<LabelArtifact>;
  readonly hours: HoursReading<LabelsHours>;
}

/**
 * Reproduces what the label instrument would have published at given times of the simulated past. It counts and
 * publishes over the same store as the real instrument.
 */
export class PastLabelInstrument {
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
  static async open(store: StoreReader): Promise<PastLabelInstrument> {
    return new PastLabelInstrument(
      store,
      (await store.roster()).map((row) => labelerFromRow(row, null)),
    );
  }

  /** Returns the files for the time `now`, in microseconds since 1970. `now` must increase from call to call. */
  async at(now: Micros): Promise<PastLabels> {
    const reading = asOf(await this.#reader.read(now, windowDays), now);
    const overview = await makeOverview(reading, overviewInputs(this.#labelers, now));
    this.#sources.add(sampleOf(overview));
    const modifiedAt = now / 1000;
    return {
      overview: decodeArtifact(bytesOf({ ...overview, hold: false }), modifiedAt, recogniseLabels),
      hours: hoursReadingOf(decodeHours(bytesOf(await this.#hours(reading)), recogniseLabelsHours, modifiedAt)),
    };
  }

  async #hours(reading: WindowReading): Promise<object> {
    const { epoch, frontier, window } = reading;
    const hours = closedHours(window.end, frontier, epoch.startedAt);
    this.#sources.dropBefore(hours.start);
    const { entries } = listLabelers(reading, listing(this.#labelers));
    const counted = await this.#counts.read(hours);
    const { head, labelers } = await makeHours({
      ...{ reading, hours, counted, entries, sources: this.#sources, origin: 'simulated' },
      filledIn: this.#filledIn,
    });
    return { ...head, hold: false, labelers: labelers.map((json): unknown => JSON.parse(json)) };
  }
}

function bytesOf(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
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
  return { origin: 'simulated', labelers, waits: () => false, isPaused: () => false, deniedSince: () => null };
}

function overviewInputs(labelers: readonly KnownLabeler[], now: Micros): OverviewInputs {
  const enrolled = labelers.filter((labeler) => isEnrolled(labeler, now));
  return {
    ...{ now, windowDays, dailyRows, origin: 'simulated', departures: [], capped: [], paused: null },
    sources: enrolled.map((labeler): EnrolledSource => ({ ...labeler, state: stateAt(labeler, now) })),
    notEnrolled: labelers.length - enrolled.length,
    directoryOnly: countDirectoryOnly(enrolled),
    ...{ unreachable: 0, waiting: 0, delayed: 0, dropped: 0, denied: 0 },
  };
}

/**
 * Returns the state of a labeler at `now`. If the state changed after `now`, a labeler that has ever responded counts
 * as established.
 */
function stateAt({ tracker: { tracked } }: KnownLabeler, now: Micros): EnrolledSource['state'] {
  return tracked.stateSince > now && tracked.firstAnswered !== null ? 'established' : tracked.state;
}
