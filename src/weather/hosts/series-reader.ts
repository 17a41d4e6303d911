import { readSeries, type SeriesReading, type SummarySource } from '../publish/read-summary.ts';
import type { Usual } from '../silence/silence.ts';
import { storedUsual } from '../silence/usual.ts';
import { storeFault } from '../window/store-faults.ts';
import { dayUs } from '../window/window.ts';

/** Reads series. Remembers their usual counts, and stores the silences that it finds. */
export interface SeriesReader {
  read(source: Omit<SummarySource, 'usual'>): SeriesReading;
}

/**
 * Creates a series reader. It reads the usual counts of each hour only once a day, because reading all hours takes up
 * to a second.
 */
export function createSeriesReader(): SeriesReader {
  const known = new Map<number, { readonly day: number; readonly usual: Usual }>();
  return {
    read: (source) => {
      const { store, endpoint, nowUs } = source;
      const { id } = store.series(endpoint.name);
      const day = Math.floor(nowUs / dayUs);
      const before = known.get(id);
      const usual = before?.day === day ? before.usual : storedUsual(store, id);
      known.set(id, { day, usual });
      const reading = readSeries({ ...source, usual });
      keep(source, id, reading);
      return reading;
    },
  };
}

/**
 * Stores silences, unless the disk is full. The stored silences are required for the baselines of later days, and for
 * reading a span that begins during a silence.
 */
function keep({ store }: Pick<SummarySource, 'store'>, series: number, { span, silences }: SeriesReading): void {
  if (silences.length === 0 && store.silences(series, span).length === 0) return;
  try {
    store.keepSilences(series, span, silences);
  } catch (error) {
    // Ignore a full disk, because the next call of `read` finds the silences again.
    if (storeFault(error) !== 'full') throw error;
  }
}
