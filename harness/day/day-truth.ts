import type { Sim } from '../../sim/index.ts';

/** The body of a 200 response of the facts API. */
type Body = Readonly<Record<string, unknown>>;

/** Checks the facts of a simulated day. Times are in microseconds. */
interface DayTruth {
  /** Returns the errors in a label overview served now, or an empty list if it is correct. */
  labels(body: Body): string[];
  /** Returns the errors in weather metrics served now. */
  weather(body: Body): string[];
  /**
   * Returns the errors in weather conditions served now. `goneSinceUs` is the time since which the upstream is
   * unreachable.
   */
  conditions(body: Body, goneSinceUs: number): string[];
  /**
   * Returns the number of labels that an instrument must have counted since the start of the epoch once it has read
   * all labels.
   */
  labelsSoFar(): number;
}

/** Maximum age, in microseconds, of a label that is neither counted nor covered by a gap. */
const slackUs = 3 * 3_600_000_000;
/** Maximum age of the data behind the conditions, in microseconds: thirty minutes and the current minute. */
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
 * Creates the checks for a network in which every emitted label can be read. A label that was not counted must
 * therefore lie within a gap. `epochUs` is the start of the instrument's epoch, `fromUs` the start of the day.
 */
export function dayTruth(
  sim: Sim,
  { epochUs, fromUs, nowUs }: { epochUs: number; fromUs: number; nowUs: () => number },
): DayTruth {
  const before = sim.labelers.truth.expected({ epochUs, toUs: fromUs, which: 'emitted' }).accepted;
  const emitted: number[] = [];
  let collectedUs = fromUs;
  const collectEmitted = (): void => {
    const untilUs = Math.floor(nowUs());
    for (const { emittedUs } of sim.labelers.truth.emitted(collectedUs, untilUs)) emitted.push(emittedUs);
    collectedUs = untilUs;
  };
  return {
    labels(body) {
      const { counts, coverage } = body.facts as Overview;
      collectEmitted();
      const most = before + emitted.length;
      const gaps = coverage.gaps.map(({ start, end }) => ({
        from: Date.parse(start) * 1000,
        to: Date.parse(end) * 1000,
      }));
      const bound = Math.min(Date.parse(String(body.generated_at)) * 1000, nowUs()) - slackUs;
      const owed = emitted.filter((at) => at < bound && !gaps.some(({ from, to }) => at >= from && at <= to)).length;
      const found = counts.events_window;
      if (found > most) return [`${found} label events were counted, but only ${most} exist`];
      return bound > fromUs && found < before + owed
        ? [`only ${found} label events were counted, but ${before + owed} lie outside every gap`]
        : [];
    },
    weather(body) {
      const { window, collections, total_events: events } = body.facts as Metrics;
      const [from, to] = [Date.parse(window.start) * 1000, Date.parse(window.end) * 1000];
      const truth = sim.truth.countsBetween(from, to);
      const wrong: string[] = [];
      const compare = (name: string, found: number, most: number): void => {
        if (found > most) wrong.push(`${found} of ${name} were counted, but only ${most} exist`);
        const whole = window.observed_seconds === window.span_seconds;
        if (whole && found !== most)
          wrong.push(`${found} of ${name} were counted in an observed day, but ${most} exist`);
      };
      compare('all events', events.total, truth.events);
      for (const [name, { total }] of Object.entries(collections)) {
        compare(name, total, truth.metrics[name as keyof typeof truth.metrics] ?? 0);
      }
      if (window.observed_seconds > window.span_seconds) wrong.push('the observed time exceeds the window');
      return wrong;
    },
    conditions(body, goneSinceUs) {
      const { conditions } = body.facts as { readonly conditions: { readonly state: string } };
      const generatedUs = Date.parse(String(body.generated_at)) * 1000;
      if (generatedUs < goneSinceUs + conditionsReachUs) return [];
      const silent = conditions.state === 'station_offline' || conditions.state === 'unavailable';
      return silent ? [] : [`nothing was observed, but the condition is ${conditions.state}`];
    },
    labelsSoFar() {
      collectEmitted();
      return before + emitted.length;
    },
  };
}
