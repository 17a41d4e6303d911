import type { Sim } from '../../sim/index.ts';
import { metricNames } from '../weather/metric-names.ts';
import { dayUs, emptyDelta, type WindowDelta, windowFlag, windowUs } from '../weather/window.ts';
import { openWindowStore } from '../weather/window-store.ts';

/** Days of minutes: more than a supported comparison wants. */
const historyDays = 24;
/** An unobserved stretch of the last day, in windows before the end, so that the demo shows unobserved time. */
const unwatched = { from: 431, to: 412 } as const;

/** Input and output of a history. */
export interface WeatherHistory {
  /** Folder of the instrument's store. */
  readonly data: string;
  /** The simulated host as the instrument names it: the same seed and rate as the one that serves. */
  readonly endpoint: string;
  readonly sim: Sim;
  /** The history ends here, in microseconds on a whole second; the instrument goes on from there. */
  readonly endUs: number;
  /** Leaves a stretch of the last day unobserved. */
  readonly missed: boolean;
}

/**
 * Writes what an instrument that had watched would have kept: the exact counts of the simulated host's minutes, the
 * spans that were watched, and where reading goes on. Yields between days, so that the process can be stopped.
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
      // After the newest event it is unknown whether the host is silent or gone.
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
