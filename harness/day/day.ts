import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createSim, type Sim } from '../../sim/index.ts';
import { writeWeatherHistory } from '../../src/main/demo/weather-history.ts';
import { epochAge, writeLabelHistory } from '../../src/main/sim/label-history.ts';
import { openStoreWriter } from '../../src/store/open.ts';
import { claimOrigin } from '../../src/store/origin.ts';
import { micros } from '../../src/store/time.ts';
import { coverage, windowUs } from '../../src/weather/window/window.ts';
import { SmallDisk } from '../faults/small-disk.ts';
import { temporaryFolder } from '../process/at-exit.ts';
import { simulationClock } from '../process/clock-setting.ts';
import { partsOf } from '../process/process-tree.ts';
import { startServer } from '../process/program.ts';
import { until } from '../process/until.ts';
import { countRows, reading } from '../store/scan.ts';
import { readStore } from '../weather/weather-kept.ts';

const hourMs = 3_600_000;

interface DayOptions {
  readonly seed: number;
  /** Simulated seconds per real second. */
  readonly factor: number;
  readonly say?: (line: string) => void;
}

interface DayReport {
  /** All differences from the record of the simulated network, unexpected statuses and an unexpected exit code. */
  readonly wrong: readonly string[];
  /** Number of requests, by path and status (`PATH STATUS`). The status is `none` if no response arrived. */
  readonly answers: Readonly<Record<string, number>>;
  /** Name of the killed part for each restart. */
  readonly restarts: readonly string[];
  /** Descriptions of the steps of the fault plan, in the order in which they ran. */
  readonly faults: readonly string[];
  /** Number of label events that were counted by the end of the day, and number of label events that exist. */
  readonly labels: { readonly counted: number; readonly exist: number };
  /**
   * Number of whole minutes that the store lists as observed, and number of minutes whose counts differ from the
   * record.
   */
  readonly minutes: { readonly watched: number; readonly wrong: number };
}

/**
 * Simulates a day of the whole observatory on fast clocks. Kills each part once, and injects faults of the disk, the
 * network and the clock.
 */
export async function simulateDay({ seed, factor, say = () => undefined }: DayOptions): Promise<DayReport> {
  const { folder, remove } = temporaryFolder('day');
  const data = join(folder, 'data');
  // Without the permission to mount a disk, the directory is on the existing disk, which is never filled.
  const disk = SmallDisk.mount(data, 64);
  const clock = simulationClock(join(folder, 'clock.json'));
  const startMs = clock.now();
  // Make labelers keep all labels, so that a label can be uncounted only if it was missed and lies within a gap.
  const sim = createSim({
    seed,
    rate: 3,
    labelers: 8,
    labelRate: 0.01,
    historyHours: 25 * 24,
    relays: 1,
    clock: clock.now,
    shapeLabeler: () => ({ software: 'skyware' }),
  });
  const { jetstream, plc, relays, seeds } = await sim.start();
  const end = micros(Math.floor(startMs) * 1000);
  const store = `sqlite:${join(data, 'labels')}`;
  const writer = await openStoreWriter(store, { at: micros(end - epochAge), durable: false });
  await claimOrigin(writer, 'simulated');
  await writeLabelHistory({ store: writer, labelers: sim.labelers, end });
  await writer.close();
  await writeWeatherHistory({
    data,
    endpoint: jetstream,
    sim,
    endUs: Math.floor(end / 1e6) * 1e6,
    missed: false,
  });

  const observatory = await startServer(['up', '--data', data, '--port', '0', '--account-port', '0'], {
    ...clock.env,
    ALMANAC_JETSTREAM: jetstream,
    ALMANAC_ALLOW_LOOPBACK: 'true',
    ALMANAC_PLC: plc ?? '',
    ALMANAC_RELAY: relays.join(','),
    ALMANAC_SEEDS: seeds ?? '',
    ALMANAC_PUBLISH_SECONDS: '1',
    ALMANAC_MIN_FREE_MEGABYTES: '0',
    ALMANAC_BACKFILL_HOURS: '12',
  });
  const truth = dayTruth(sim, { epochUs: end - epochAge, fromUs: end, nowUs: () => clock.now() * 1000 });
  const wrong: string[] = [];
  const answers: Record<string, number> = {};
  const hour = (): number => (clock.now() - startMs) / hourMs;

  async function ask(path: string): Promise<{ status: number; body: Readonly<Record<string, unknown>> } | null> {
    try {
      const response = await fetch(observatory.url + path, { signal: AbortSignal.timeout(5_000) });
      return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> };
    } catch {
      return null;
    }
  }
  async function look(path: string, faultsOf: (body: Readonly<Record<string, unknown>>) => string[]): Promise<void> {
    const answer = await ask(path);
    const key = `${path} ${answer?.status ?? 'none'}`;
    answers[key] = (answers[key] ?? 0) + 1;
    if (answer?.status === 200) wrong.push(...faultsOf(answer.body).map((why) => `hour ${hour().toFixed(1)}: ${why}`));
    else if (answer !== null && answer.status !== 503) wrong.push(`${path} responded with ${answer.status}`);
  }
  /** Runs until the given hour of the day, checking the facts throughout. */
  async function liveTo(at: number): Promise<void> {
    do {
      await look('/v1/labels/overview', truth.labels);
      await look('/v1/weather/metrics', truth.weather);
      const since = goneSinceUs;
      if (since !== null) await look('/v1/weather/conditions', (body) => truth.conditions(body, since));
      await wait(100);
    } while (hour() < at);
  }
  let goneSinceUs: number | null = null;
  const restarts: string[] = [];
  async function kill(part: string): Promise<void> {
    const pid = partsOf(observatory).get(part);
    if (pid === undefined) throw new Error(`${part} is not running`);
    process.kill(pid, 'SIGKILL');
    await until(
      () => `hour ${hour().toFixed(1)}: ${part} is restarted`,
      () => (partsOf(observatory).get(part) ?? pid) !== pid,
    );
    restarts.push(part);
  }
  const faults: string[] = [];
  const plan: readonly (readonly [number, string, () => void | Promise<void>])[] = [
    ...[...partsOf(observatory).keys()].map(
      (part, i) => [1.5 + i * 1.5, `${part} is killed`, () => kill(part)] as const,
    ),
    ...(disk === null
      ? []
      : ([
          [8, 'the disk is full', () => disk.leave(0)],
          [10, 'the disk has space again', () => disk.free()],
        ] as const)),
    [12, 'the upstream is unreachable', () => upstream(false)],
    [16, 'the upstream is reachable again', () => upstream(true)],
    [19, 'the clock is three hours ahead', () => clock.step(3 * hourMs)],
    [20, 'the clock is correct again', () => clock.step(0)],
    [21.5, 'the clock is two hours behind', () => clock.step(-2 * hourMs)],
    [22, 'the clock is correct again', () => clock.step(0)],
  ];
  async function upstream(there: boolean): Promise<void> {
    goneSinceUs = there ? null : clock.now() * 1000;
    sim.faults.refuse({ status: 503, times: there ? 0 : Number.MAX_SAFE_INTEGER });
    if (!there) sim.faults.drop({ how: 'reset' });
    sim.labelers.directory.state = there ? 'up' : 'down';
    for (const { faults: switches } of sim.labelers.list) await (there ? switches.revive() : switches.dead());
  }

  try {
    clock.run(factor);
    for (const [at, what, act] of plan) {
      await liveTo(at);
      say(`hour ${hour().toFixed(1)}: ${what}`);
      await act();
      faults.push(what);
    }
    await liveTo(24);
    // Stop the emission of labels so that pending ones can arrive.
    for (const { faults: switches } of sim.labelers.list) switches.setRate(0);
    clock.run(1);
    await until('all labels are counted', async () => {
      const answer = await ask('/v1/labels/overview');
      const facts = answer?.status === 200 ? (answer.body.facts as { counts: { events_window: number } }) : null;
      return (facts?.counts.events_window ?? 0) >= truth.labelsSoFar();
    }).catch((error: unknown) => wrong.push(String(error)));
    await liveTo(0);
    const code = await observatory.stop();
    if (code !== 0) wrong.push(`the observatory exited with ${code}`);
    return {
      wrong,
      answers,
      restarts,
      faults,
      labels: { counted: await countLabels(store), exist: truth.labelsSoFar() },
      minutes: compareMinutes(),
    };
  } finally {
    await observatory.stop();
    await sim.stop();
    disk?.unmount();
    remove();
  }

  function compareMinutes(): DayReport['minutes'] {
    const kept = readStore(data, jetstream);
    const from = Math.ceil(end / windowUs) * windowUs;
    const count = Math.floor((kept.toUs - from) / windowUs);
    const watched = coverage(kept.observed, from, windowUs, count);
    const rows = new Map(kept.rows.map((row) => [row.startUs, row.events]));
    const whole = [...watched.keys()].filter((i) => watched[i] === windowUs).map((i) => from + i * windowUs);
    const bad = whole.filter((at) => rows.get(at) !== sim.truth.countsBetween(at, at + windowUs).events);
    return { watched: whole.length, wrong: bad.length };
  }
}

function countLabels(url: string): Promise<number> {
  return reading(url, async (store) => {
    const { floor: start, end } = await store.frontier();
    return countRows(store, { start, end });
  });
}

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
function dayTruth(
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
