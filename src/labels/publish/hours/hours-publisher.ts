import { join } from 'node:path';
import { artifactNames, writeLines } from '../../../artifact/write.ts';
import type { Micros } from '../../../contract/timestamp.ts';
import { writeWithHold } from '../../operator/hold.ts';
import type { ListedLabeler } from '../labelers/listed-labeler.ts';
import type { WindowReading } from '../window/window-reader.ts';
import { readEarlierHours } from './earlier-hours.ts';
import { closedHours, FilledInCounts, HourCounts, type HoursStore } from './hour-counts.ts';
import { type HoursFile, makeHours } from './labels-hours.ts';
import { SourceHistory, type SourceSample } from './source-history.ts';

/** Options for the publisher of the hours file. */
interface HoursPublisherOptions {
  readonly store: HoursStore;
  /** Directory of the artifacts. */
  readonly folder: string;
  readonly origin: 'live' | 'simulated';
  readonly clock: () => Micros;
}

/** Data of one publication, as of the end of the window of `reading`. */
export interface HoursPublication {
  readonly reading: WindowReading;
  readonly entries: readonly ListedLabeler[];
  readonly sources: SourceSample;
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

  /** Replaces the file. Rejects if the store cannot be read or the file cannot be written; the earlier file remains. */
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
    await writeWithHold(this.#options.folder, (hold) => writeLines(this.#path, linesOf(file, hold)));
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
