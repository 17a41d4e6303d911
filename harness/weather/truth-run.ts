import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manualClock } from '../../sim/clock.ts';
import type { Wire } from '../../sim/events/wire.ts';
import { createSim, type Sim } from '../../sim/index.ts';
import { sequence } from '../../sim/random.ts';
import type { WeatherSummary } from '../../src/artifact/recognise.ts';
import { type CollectionName, collectionNames } from '../../src/contract/vocabulary.ts';
import { type Log, silentLog } from '../../src/ops/log.ts';
import { type hostPlaces, noTelemetry } from '../../src/weather/stream/telemetry.ts';
import { createWeather, type Weather } from '../../src/weather/weather.ts';
import { parseEndpoint } from '../../src/weather/window/endpoint.ts';
import { until } from '../process/until.ts';
import { type Muted, seriesDifferences, shuffledFaults, totalDifferences } from './truth-oracle.ts';
import { readArtifact, readHours, readStore } from './weather-kept.ts';

type HostPlace = (typeof hostPlaces)[number];

const startMs = Date.parse('2026-11-20T11:30:00Z');
const minuteMs = 60_000;
const hourMs = 3_600_000;
const backfillHours = 1.5;
/** Start of the backfill, in microseconds. */
const filledUs = startMs * 1000 - backfillHours * 3_600_000_000;
/** Maximum age of the newest committed event of a host that is sending, in milliseconds of the simulated clock. */
const currentMs = 3_000;
/** Number of checks for committed events before the clock starts to advance. */
const freeLooks = 40;
/** Time by which the clock advances at each further check, in milliseconds. */
const lookMs = 250;
/** Frequent collections that each host stops sending for 12 minutes. */
const follows: readonly CollectionName[] = ['follow.create', 'follow.delete'];
/** Frequent collections that the first host stops sending if `failures` selects a silent collection. */
const likes: readonly CollectionName[] = ['like.create', 'like.delete'];
/** Collections that the second host never sends. */
const blocks: readonly CollectionName[] = ['block.create', 'block.delete'];
/** Ways in which the first host fails. The seed selects one. */
const failures = ['silent collection', 'silent socket', 'refused connections'] as const;

/** Result of comparing an instrument with two simulated hosts. */
interface WeatherProof {
  readonly events: number;
  /**
   * Simulated minutes from the failure of the first host to the publication of the second host, or null if the second
   * host was not published.
   */
  readonly failoverMinutes: number | null;
  /** Number of artifacts that were compared. */
  readonly artifacts: number;
  readonly problems: readonly string[];
}

/** One of the two observed hosts. */
interface Host {
  readonly sim: Sim;
  readonly place: HostPlace;
  /** Name of the series that belongs to the host. */
  readonly name: string;
  /** Intervals in which the host did not send some collections. */
  readonly muted: Muted[];
}

/**
 * Proves that an instrument stores and publishes the events that two hosts deliver over one protocol. Every host
 * fault happens on both hosts, collections stop, and the first host fails. Hosts and instrument share one clock. The
 * proof advances the clock minute by minute, each time after all events so far are committed, so that the result does
 * not depend on the speed of the machine.
 */
export async function proveWeather({ seed, wire }: { seed: number; wire: Wire }): Promise<WeatherProof> {
  const run = new Run(seed, wire);
  try {
    await run.start();
    for (const act of [run.everyFault, run.mutedFollows, run.failure, run.mutedOnSecond]) await act.call(run);
    return await run.result();
  } finally {
    await run.end();
  }
}

class Run {
  readonly #seed: number;
  readonly #wire: Wire;
  readonly #clock = manualClock(startMs - 2 * hourMs);
  readonly #folder = mkdtempSync(join(tmpdir(), 'almanac-weather-truth-'));
  readonly #sims: readonly [Sim, Sim];
  readonly #newestMs: Record<HostPlace, number> = { first: 0, second: 0 };
  readonly #problems: string[] = [];
  #hosts: readonly Host[] = [];
  #weather: Weather | null = null;
  #artifacts = 0;
  /** Hosts of which only one connection was open when the previous artifact was compared. */
  #calm: ReadonlySet<Host> = new Set();
  #isFilled = false;
  #backfillsOver = 0;
  #failedAtMs: number | null = null;
  #failoverMs: number | null = null;

  constructor(seed: number, wire: Wire) {
    this.#seed = seed;
    this.#wire = wire;
    const clock = this.#clock.now;
    // Let the hosts wait for a slow consumer indefinitely: a timeout would depend on real time.
    const options = {
      historyHours: 24,
      clock,
      patienceMs: null,
      variedKeys: seed % 3 === 0,
      seqCursors: seed % 2 === 0,
    };
    // Use different rates for the two hosts, as two public hosts had different rates.
    this.#sims = [
      createSim({ ...options, seed, rate: 64 }),
      createSim({ ...options, seed: seed + 1000, rate: 64, endpointFactor: 1 / 1.61 }),
    ];
  }

  async start(): Promise<void> {
    const [first, second] = this.#sims;
    const addresses = [await first.start(), await second.start()];
    const urls = addresses.map(({ jetstream, jetstreamHost }) =>
      this.#wire === 'jetstream.legacy' ? jetstream : jetstreamHost,
    );
    this.#hosts = urls.map((url, index) => ({
      sim: index === 0 ? first : second,
      place: index === 0 ? 'first' : 'second',
      name: parseEndpoint(url, { allowLoopback: true }).name,
      muted: [],
    }));
    // Make the second host withhold all blocks from the start, including the time before the observation.
    second.faults.mute({ collections: ['app.bsky.graph.block'], seconds: 6 * 3600, replaced: true });
    this.#clock.advance(2 * hourMs);
    const next = sequence(this.#seed);
    this.#weather = createWeather({
      settings: {
        ...{ jetstream: urls, data: this.#folder, artifacts: join(this.#folder, 'artifacts'), publishSeconds: 3600 },
        ...{ backfillHours, backfillBytes: 1e9, dictionary: null, compress: false },
      },
      policy: { allowLoopback: true },
      userAgent: 'Almanac/test',
      clock: this.#clock.now,
      random: () => next() / 2 ** 32,
      log: this.#log(),
      telemetry: {
        ...noTelemetry,
        hostLag: (host, _, newestMs) => {
          this.#newestMs[host] = newestMs;
        },
      },
      pace: { commitMs: 10, probeMs: 100, backoff: { firstMs: 5, capMs: 50 } },
    });
    await this.#weather.start();
    await until('both hosts are read', () => this.#sims.every((sim) => openConnections(sim) >= 1));
    await this.#minutes(1);
    await until('both backfills have ended', () => this.#backfillsOver === this.#sims.length, 120_000);
    this.#isFilled = true;
  }

  /** Injects each fault into both hosts, in different orders. */
  async everyFault(): Promise<void> {
    const others = shuffledFaults(this.#seed + 1000);
    for (const [index, fault] of shuffledFaults(this.#seed).entries()) {
      fault.act(this.#sims[0].faults);
      others[index]?.act(this.#sims[1].faults);
      await this.#minutes(2);
    }
    for (const { faults } of this.#sims) faults.resume();
    // Together with the 16 minutes of `mutedFollows`, this wait lets the second host run without faults for more than
    // 15 minutes before the first host fails.
    await this.#minutes(4);
  }

  /**
   * Makes the first host stop sending follows for 12 minutes. The caveats must name these collections, and the host
   * must remain published.
   */
  async mutedFollows(): Promise<void> {
    this.#mute(this.#hosts[0], 'app.bsky.graph.follow', follows, 12 * 60);
    await this.#minutes(10);
    this.#expectNamed(follows);
    await this.#minutes(6);
  }

  /** Makes the first host fail for 22 minutes. The second host must be published 15 to 16 minutes after the failure. */
  async failure(): Promise<void> {
    const { faults } = this.#sims[0];
    const kind = failures[this.#seed % failures.length];
    this.#failedAtMs = this.#clock.now();
    if (kind === 'silent collection') this.#mute(this.#hosts[0], 'app.bsky.feed.like', likes, 22 * 60);
    else if (kind === 'silent socket') faults.skip({ seconds: 22 * 60 });
    else {
      faults.refuse({ status: 503, times: Number.MAX_SAFE_INTEGER });
      faults.drop();
    }
    await this.#minutes(22, kind === 'silent collection' ? ['first', 'second'] : ['second']);
    faults.refuse({ status: 503, times: 0 });
    await this.#minutes(2);
    if (this.#failoverMs === null) this.#problems.push(`the second host was not published after the failure: ${kind}`);
  }

  /**
   * Makes the second host, which is published by now, stop sending follows for 12 minutes. The caveats must name these
   * collections.
   */
  async mutedOnSecond(): Promise<void> {
    this.#mute(this.#hosts[1], 'app.bsky.graph.follow', follows, 12 * 60);
    await this.#minutes(10);
    this.#expectNamed(follows);
    await this.#minutes(6);
  }

  async result(): Promise<WeatherProof> {
    await this.#weather?.stop();
    let events = 0;
    for (const { sim, name, place, muted } of this.#hosts) {
      const kept = readStore(this.#folder, name);
      events += kept.rows.reduce((sum, row) => sum + row.events, 0);
      this.#problems.push(...seriesDifferences(sim, kept, muted).map((problem) => `${place} host: ${problem}`));
    }
    const [failed, published] = [this.#failedAtMs, this.#failoverMs];
    const failoverMinutes = failed === null || published === null ? null : (published - failed) / minuteMs;
    return { events, failoverMinutes, artifacts: this.#artifacts, problems: this.#problems };
  }

  async end(): Promise<void> {
    await this.#weather?.stop().catch(() => undefined);
    for (const sim of this.#sims) await sim.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /**
   * Returns a log that counts completed backfills. Counting connections would not suffice, because a backfill may
   * reconnect.
   */
  #log(): Log {
    const log: Log = {
      ...silentLog,
      info: (message) => {
        if (message === 'the backfill of missed events has ended') this.#backfillsOver += 1;
      },
      with: () => log,
    };
    return log;
  }

  #mute(host: Host | undefined, nsid: string, collections: readonly CollectionName[], seconds: number): void {
    if (!host) return;
    const { fromSeq, toSeq } = host.sim.faults.mute({ collections: [nsid], seconds, replaced: true });
    const [from, to] = [fromSeq, toSeq].map((seq) => host.sim.truth.timeOf(seq ?? 0));
    host.muted.push({ collections, from: from ?? 0, to: to ?? 0 });
  }

  /** Advances the clock minute by minute, and checks the artifacts after each minute. */
  async #minutes(count: number, sending: readonly HostPlace[] = ['first', 'second']): Promise<void> {
    for (let minute = 0; minute < count; minute += 1) {
      this.#clock.advance(minuteMs);
      for (const sim of this.#sims) sim.pump();
      await this.#committed(sending);
      await this.#weather?.publish();
      this.#judgeHours();
      this.#judge(readArtifact(this.#folder), this.#clock.now());
    }
  }

  /**
   * Waits until the hosts' events are committed. A host that resumed at its newest event sends nothing while the clock
   * stands still, so the clock advances during the wait unless the time of a failure is being measured.
   */
  async #committed(sending: readonly HostPlace[]): Promise<void> {
    let looks = 0;
    const isCommitted = (): boolean => {
      looks += 1;
      if (looks > freeLooks && this.#failedAtMs === null) this.#clock.advance(lookMs);
      return sending.every((place) => this.#newestMs[place] >= this.#clock.now() - currentMs);
    };
    await until(`the events of ${sending.join(' and ')} are committed`, isCommitted, 120_000);
  }

  #judge(artifact: WeatherSummary, now: number): void {
    this.#artifacts += 1;
    const [first, second] = this.#hosts;
    const host = this.#hosts.find(({ name }) => name === artifact.source.endpoint);
    if (!host || !first || !second) throw new Error('the artifact does not belong to an observed host');
    if (host === second && this.#failoverMs === null) this.#failOver(now);
    if (host === first && this.#failoverMs !== null)
      this.#problems.push(`${instant(now)}: the first host was published again`);
    // Skip the check during the backfill, because the time before the start is only partly observed.
    if (!this.#isFilled) return;
    this.#judgeTotals(artifact, host, now);
    const toUs = Date.parse(artifact.window.end) * 1000;
    for (const name of collectionNames) {
      const published = artifact.collections[name] ?? null;
      if (published === null || published.total > 0) continue;
      const sent = host.sim.truth.countsBetween(filledUs, toUs).metrics[name];
      const isNeverSent = host === second && blocks.includes(name);
      if (sent > 0 || isNeverSent) this.#problems.push(`${instant(now)}: ${name} is published as zero`);
    }
  }

  /**
   * Compares the published counts with the published host, in every tenth artifact, because each comparison counts all
   * events of the host. While a backfill reads through a second connection, some delivered events are not stored yet.
   */
  #judgeTotals(artifact: WeatherSummary, host: Host, now: number): void {
    const calm = new Set(this.#hosts.filter(({ sim }) => openConnections(sim) <= 1));
    const isRead = calm.has(host) && this.#calm.has(host);
    this.#calm = calm;
    if (this.#artifacts % 10 !== 0) return;
    // A replay may begin shortly before the observed time. Its first events are not counted.
    const since = readHours(this.#folder).series.find(({ endpoint }) => endpoint === host.name)?.observed_since;
    const readSinceUs = isRead && since ? (Date.parse(since) + 1) * 1000 : null;
    const problems = totalDifferences(host.sim, artifact, readSinceUs);
    this.#problems.push(...problems.map((problem) => `${instant(now)}: ${problem}`));
  }

  /**
   * Checks that the hours file has the series of both hosts and the generation time of the summary. The recogniser
   * already rejects a zero without observed time.
   */
  #judgeHours(): void {
    const { generated_at: at, series } = readHours(this.#folder);
    const summary = readArtifact(this.#folder);
    const published = series.filter((one) => one.published).map(({ endpoint }) => endpoint);
    const names = series.map(({ endpoint }) => endpoint);
    const isSame = at === summary.generated_at && published.join() === summary.source.endpoint;
    if (!isSame || names.join() !== this.#hosts.map(({ name }) => name).join()) {
      this.#problems.push(`the hours file at ${at} has the series ${names.join()} and publishes ${published.join()}`);
    }
  }

  #failOver(now: number): void {
    this.#failoverMs = now;
    const minutes = this.#failedAtMs === null ? 0 : (now - this.#failedAtMs) / minuteMs;
    if (minutes < 15 || minutes > 16) this.#problems.push(`the second host was published after ${minutes} minutes`);
  }

  /** Checks that the caveats name the collections that stopped ten minutes ago. */
  #expectNamed(collections: readonly CollectionName[]): void {
    const caveats = readArtifact(this.#folder).caveats?.join('\n') ?? '';
    for (const name of collections) {
      if (!caveats.includes(`no ${name} events since`)) this.#problems.push(`no caveat names ${name} after 10 minutes`);
    }
  }
}

function openConnections({ truth }: Sim): number {
  return truth.deliveries.filter(({ closedAtUs }) => closedAtUs === null).length;
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
