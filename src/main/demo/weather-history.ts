import type { Sim } from '../../../sim/index.ts';
import { metricNames } from '../../weather/classify/metric-names.ts';
import { dayUs, emptyDelta, type WindowDelta, windowFlag, windowUs } from '../../weather/window/window.ts';
import { openWindowStore } from '../../weather/window/window-store.ts';

/** Number of days of history; more than a fully supported comparison with the baseline requires. */
const historyDays = 24;
/**
 * An unobserved period of the last day, so that the demo shows unobserved time. The bounds are numbers of windows
 * before the end.
 */
const unwatched = { from: 431, to: 412 } as const;

/** Options for writing a weather history. */
interface WeatherHistory {
  /** Directory of the instrument's store. */
  readonly data: string;
  /**
   * Endpoint of the simulated host, in the form that the instrument stores. The history has the same seed and rate as
   * the running host.
   */
  readonly endpoint: string;
  readonly sim: Sim;
  /** End of the history, in microseconds on a whole second; the instrument continues from there. */
  readonly endUs: number;
  /** True to leave a period of the last day unobserved. */
  readonly missed: boolean;
}

/**
 * Writes the data that a running instrument would have stored: the exact counts of the simulated host's minutes, the
 * observed spans, and the stream position. Yields between days, so that the process can be stopped.
 */
export async function writeWeatherHistory({ data, endpoint, sim, endUs, missed }: WeatherHistory): Promise<void> {
  const store = openWindowStore(data);
  try {
    const { id } = store.series(endpoint);
    const lastUs = sim.truth.newestBefore(endUs);
    const live = { kind: 'time', value: lastUs, counted: 1, timeUs: lastUs } as const;
    const open = endUs - (endUs % windowUs);
    const gap = missed
      ? { from: open - unwatched.from * windowUs, to: open - unwatched.to * windowUs }
      : { from: endUs, to: endUs };
    let revision = 0;
    for (let from = open - historyDays * dayUs; from < endUs; from += dayUs) {
      const to = Math.min(from + dayUs, endUs);
      const watched = [
        { from, to: Math.min(to, gap.from) },
        { from: Math.max(from, gap.to), to },
      ].filter((span) => span.from < span.to);
      const windows = watched.flatMap((span) => windowsOf(sim, span.from, span.to));
      // End the observed span at the newest event: after that, a silent host cannot be distinguished from an
      // interruption.
      const observed = watched.map((span) => ({ from: span.from, to: Math.min(span.to, lastUs + 1) }));
      store.commit({ series: id, after: revision, gains: [{ windows, observed }], live, backfill: null });
      revision += 1;
      await new Promise(setImmediate);
    }
  } finally {
    store.close();
  }
}

function windowsOf(sim: Sim, fromUs: number, toUs: number): WindowDelta[] {
  return sim.truth.minutesBetween(fromUs, toUs).map(({ startUs, events, notJson, noTime, metrics }) => {
    const delta = emptyDelta(startUs);
    delta.events = events;
    delta.malformed = notJson + noTime;
    delta.flags = delta.malformed > 0 ? windowFlag.malformed : 0;
    for (const [i, name] of metricNames.entries()) delta.counts[i] = metrics[name];
    return delta;
  });
}
