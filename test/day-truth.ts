import type { Sim } from '../sim/index.ts';

/** A reading of the facts API: the body of a 200. */
type Body = Readonly<Record<string, unknown>>;

/** What the facts of a simulated day are held against. Instants in microseconds. */
export interface DayTruth {
  /** What is wrong with a label overview that was served just now; empty when nothing is. */
  labels(body: Body): string[];
  /** What is wrong with weather metrics that were served just now. */
  weather(body: Body): string[];
  /** What is wrong with weather conditions that were served just now, while upstream is gone since then. */
  conditions(body: Body, goneSinceUs: number): string[];
  /** How many labels an instrument since the epoch has to have counted once all was read. */
  labelsSoFar(): number;
}

/** What is older than this and lies in no gap has to be in the counts. */
const slackUs = 3 * 3_600_000_000;
/** Conditions speak of the newest of the last thirty minutes: after these, and one more, of nothing. */
const conditionsReachUs = 31 * 60_000_000;

interface Overview {
  readonly counts: { readonly events_window: number };
  readonly coverage: { readonly gaps: readonly { readonly start: string; readonly end: string }[] };
}

interface Metrics {
  readonly window: {
    readonly start: string;
    readonly end: string;
    readonly span_seconds: number;
    readonly observed_seconds: number;
  };
  readonly collections: Readonly<Record<string, { readonly total: number }>>;
  readonly total_events: { readonly total: number };
}

/**
 * The truth of a network whose labelers are well and keep everything: then every label that was emitted can be had, and
 * what is not counted has to lie in a gap that says so. `epochUs` is the instrument's, `fromUs` the start of the day.
 */
export function dayTruth(
  sim: Sim,
  { epochUs, fromUs, nowUs }: { epochUs: number; fromUs: number; nowUs: () => number },
): DayTruth {
  const before = sim.labelers.truth.expected({ epochUs, toUs: fromUs, which: 'emitted' }).accepted;
  const emitted: number[] = [];
  let toldUs = fromUs;
  const tell = (): void => {
    const untilUs = Math.floor(nowUs());
    for (const { emittedUs } of sim.labelers.truth.emitted(toldUs, untilUs)) emitted.push(emittedUs);
    toldUs = untilUs;
  };
  return {
    labels(body) {
      const { counts, coverage } = body.facts as Overview;
      tell();
      const most = before + emitted.length;
      const gaps = coverage.gaps.map(({ start, end }) => ({
        from: Date.parse(start) * 1000,
        to: Date.parse(end) * 1000,
      }));
      const bound = Math.min(Date.parse(String(body.generated_at)) * 1000, nowUs()) - slackUs;
      const owed = emitted.filter((at) => at < bound && !gaps.some(({ from, to }) => at >= from && at <= to)).length;
      const found = counts.events_window;
      if (found > most) return [`${found} label events were counted, and no more than ${most} exist`];
      return bound > fromUs && found < before + owed
        ? [`${found} label events were counted, and ${before + owed} lie in no gap`]
        : [];
    },
    weather(body) {
      const { window, collections, total_events: events } = body.facts as Metrics;
      const [from, to] = [Date.parse(window.start) * 1000, Date.parse(window.end) * 1000];
      const truth = sim.truth.countsBetween(from, to);
      const wrong: string[] = [];
      const compare = (name: string, found: number, most: number): void => {
        if (found > most) wrong.push(`${found} of ${name} were counted, and no more than ${most} exist`);
        const whole = window.observed_seconds === window.span_seconds;
        if (whole && found !== most) wrong.push(`${found} of ${name} were counted in a watched day that has ${most}`);
      };
      compare('all events', events.total, truth.events);
      for (const [name, { total }] of Object.entries(collections)) {
        compare(name, total, truth.metrics[name as keyof typeof truth.metrics] ?? 0);
      }
      if (window.observed_seconds > window.span_seconds) wrong.push('more was watched than there is');
      return wrong;
    },
    conditions(body, goneSinceUs) {
      const { conditions } = body.facts as { readonly conditions: { readonly state: string } };
      const generatedUs = Date.parse(String(body.generated_at)) * 1000;
      if (generatedUs < goneSinceUs + conditionsReachUs) return [];
      const silent = conditions.state === 'station_offline' || conditions.state === 'unavailable';
      return silent ? [] : [`nothing was observed, and it is called ${conditions.state}`];
    },
    labelsSoFar() {
      tell();
      return before + emitted.length;
    },
  };
}
