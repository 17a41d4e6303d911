import { readSeries, type SeriesReading, type SummarySource } from '../publish/read-summary.ts';
import type { Usual } from '../silence/silence.ts';
import { storedUsual } from '../silence/usual.ts';
import { storeFault } from '../window/store-faults.ts';
import { dayUs } from '../window/window.ts';

/** Reads series again and again, and keeps what it finds of their silences. */
export interface SeriesReader {
  read(source: Omit<SummarySource, 'usual'>): SeriesReading;
}

/** Makes a reader. It reads the usual counts of each hour once a day: that costs up to a second for all hours of a day. */
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

/** Silences are kept for the baselines of later days, and for the time when their beginning is older than a day. */
function keep({ store }: Pick<SummarySource, 'store'>, series: number, { span, silences }: SeriesReading): void {
  if (silences.length === 0 && store.silences(series, span).length === 0) return;
  try {
    store.keepSilences(series, span, silences);
  } catch (error) {
    // A full disk: they are found again at the next reading.
    if (storeFault(error) !== 'full') throw error;
  }
}
