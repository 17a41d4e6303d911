import type { AddressPolicy } from '../network/address-policy.ts';
import { errorFields, type Log } from '../ops/log.ts';
import { claimOrigin } from '../store/origin.ts';
import type { StoreWriter } from '../store/port.ts';
import { PageAcceptance } from './acceptance.ts';
import type { Clocks } from './clock-watch.ts';
import { costOf } from './daily-cap.ts';
import { Denials } from './denials.ts';
import { requireDenyList } from './deny-file.ts';
import { recordDepartures } from './departures.ts';
import { discover } from './discover.ts';
import { defaultMaxDailyBytes } from './disk-budget.ts';
import { createFairShares } from './fair-shares.ts';
import { createInputMemory } from './input-memory.ts';
import { cursorNote, labelerEvents } from './labeler-events.ts';
import { loadRoster } from './load-roster.ts';
import { maintainStore } from './maintain-store.ts';
import { type Member, standingFacts } from './member.ts';
import { watchObstacles } from './obstacles.ts';
import { createOutbound } from './outbound.ts';
import { pacedLog } from './paced-log.ts';
import { Particulars } from './particulars.ts';
import { publisher } from './publisher.ts';
import { removeRequested } from './purges.ts';
import { RefusedMemory } from './refused-memory.ts';
import { repeat } from './repeat.ts';
import { sourcesReporter } from './report-sources.ts';
import type { Rhythm } from './rhythm.ts';
import { Roster } from './roster.ts';
import { Signatures } from './signatures.ts';
import { beat, recordDowntime } from './signs-of-life.ts';
import type { ReaderTools } from './source.ts';
import { SourceRunner } from './source-runner.ts';
import { compareStanding, isPrivileged, standingOf } from './standing.ts';
import { clockAtStart } from './start-clock.ts';
import type { Telemetry } from './telemetry.ts';
import { timeAsker } from './time-asker.ts';
import { createVerifier } from './verifier.ts';
import { wait } from './wait.ts';

/** Settings of the label instrument. */
export interface LabelsSettings {
  /** Folder of the store: its free space is watched. */
  readonly folder: string;
  readonly artifacts: string;
  readonly windowDays: number;
  /** DIDs of the seeds file. */
  readonly seeds: readonly string[];
  readonly relays: readonly string[];
  readonly plc: string;
  /** Null: nothing is discovered by stream. */
  readonly jetstream: string | null;
  /** Sent with every request and handshake. */
  readonly userAgent: string;
  readonly publishSeconds: number;
  readonly discoverySeconds: number;
  readonly origin: 'live' | 'simulated';
  readonly minFreeBytes: number;
  /** Most bytes that all sources together may add in a UTC day; null: derived from the disk. */
  readonly dailyBytes?: number | null;
  /** Bounds, for tests to lower: rows of a source in a day (2 M), sources that are read at once (5,000). */
  readonly maxDailyRows?: number;
  readonly maxEnrolled?: number;
  /** Streams of one host that are open at once (32); further labelers of it are polled. */
  readonly maxStreamsPerHost?: number;
  readonly rhythm: Rhythm;
}

/** Dependencies of the label instrument. */
export interface LabelsOptions {
  readonly settings: LabelsSettings;
  /** The opened store; the instrument closes it. */
  readonly store: StoreWriter;
  readonly policy: AddressPolicy;
  readonly clocks: Clocks;
  readonly random: () => number;
  /** Asks DNS for the texts by which names are confirmed, in place of the system's resolver; null: none is confirmed. */
  readonly resolveTxt?: ((name: string, signal: AbortSignal) => Promise<string[][]>) | null;
  readonly log: Log;
  readonly telemetry: Telemetry;
}

/** The label instrument: finds labelers, observes them, and publishes what it saw. */
export interface Labels {
  /** Resolves once it observes; what it finds comes later. */
  start(): Promise<void>;
  /** Commits what is under way, says when it stopped, and closes the store. */
  stop(): Promise<void>;
  /** Rejects when the store can no longer be trusted, or on a mistake of ours. */
  readonly failed: Promise<never>;
}

/** Between tries to write what the store cannot take just now. */
const retryMs = 1_000;
/** Processor time of one check of a signature, as measured, in milliseconds. */
const checkCpuMs = 0.06;
/** Time for which work under way may continue after a stop is requested. */
const graceMs = 3_000;
/** Time after that until the remaining work is left to the end of the process. */
const lateMs = 2_000;
/** Between two looks at gaps that wait to be written. */
const gapTickMs = 1_000;
/** Bytes after which free space is looked at again, besides with each heartbeat. */
const checkDiskBytes = 64_000_000;
/** Between records of what is not observed of denied labelers. */
const deniedGapMs = 60_000;

/** Makes the instrument; nothing happens before `start`. */
export function createLabels(options: LabelsOptions): Labels {
  const failing = Promise.withResolvers<never>();
  // The owner of the instrument awaits this promise; an earlier rejection is not lost.
  failing.promise.catch(() => undefined);
  const stopping = new AbortController();
  let running: Promise<Running> | null = null;
  return {
    failed: failing.promise,
    async start() {
      const started = new AbortController();
      running = observe(options, failing.reject, stopping);
      // Long waits are for a clock that is wrong: it may take days to be set, and a stop is not to wait for that.
      running.then(() => started.abort()).catch(failing.reject);
      await Promise.race([running, wait(2 * options.settings.rhythm.clockMs, started.signal)]);
    },
    async stop() {
      stopping.abort();
      await (await running)?.stop();
    },
  };
}

interface Running {
  stop(): Promise<void>;
}

async function observe(
  options: LabelsOptions,
  fail: (error: unknown) => void,
  stopping: AbortController,
): Promise<Running> {
  const { settings, store, policy, clocks, random, telemetry } = options;
  const log = pacedLog(options.log, clocks.monotonic);
  const clock = clocks.wall;
  const { signal } = stopping;
  const denied = await requireDenyList(settings.folder);
  await claimOrigin(store, settings.origin);
  const outbound = createOutbound({ ...settings, policy, clock: () => clock() / 1000 });
  const { http, directory, identities } = outbound;
  const shares = createFairShares({
    ...{ store, clocks, labeler: (did) => roster.member(did), disk: () => obstacles.disk },
    gapIntervalMs: settings.rhythm.beatMs,
    maxDailyRows: settings.maxDailyRows,
  });
  const { shareOf, usage, pace, cap, gaps } = shares;
  const verifier = createVerifier({
    onChecked: (source, checks) => pace.charge(source, { cpuMs: checks * checkCpuMs }),
  });
  const signatures = new Signatures({ identities, verifier, store, clock, shareOf });
  const obstacles = watchObstacles(clocks, {
    folder: settings.folder,
    minFreeBytes: settings.minFreeBytes,
    maxDailyBytes: settings.dailyBytes ?? defaultMaxDailyBytes,
    isDerived: (settings.dailyBytes ?? null) === null,
    windowDays: settings.windowDays,
    askTime: timeAsker(directory, { ...settings, dids: settings.seeds }, clock, signal, (milliseconds, askedAt) =>
      obstacles.toldTime(milliseconds, askedAt),
    ),
  });
  await obstacles.checkDisk();
  await clockAtStart(obstacles, { clocks, log, telemetry, waitMs: settings.rhythm.clockMs }, signal);
  if (signal.aborted) {
    return {
      async stop() {
        await outbound.close();
        await store.close();
      },
    };
  }
  const epoch = await store.epoch();
  await recordDowntime(store, { artifacts: settings.artifacts, clock, log }, epoch.startedAt);
  await beat(store, clock);

  const acceptance = new PageAcceptance({
    store,
    shareOf,
    flushGaps: (sources) => gaps.flush(sources),
    charge: (source, cpuMs) => pace.charge(source, { cpuMs }),
    clock,
    obstacle: () => obstacles.look(),
    clockEra: () => obstacles.clockEra,
    wait,
    retryMs,
    log,
    telemetry,
    fatal: fail,
  });
  let sinceDiskCheck = 0;
  const tools: ReaderTools = {
    http,
    openStream: outbound.openStream,
    streams: outbound.streams,
    accept: async (page) => {
      const stored = await acceptance.accept(page);
      sinceDiskCheck += costOf(page.observations).bytes;
      if (sinceDiskCheck >= checkDiskBytes) {
        sinceDiskCheck = 0;
        await obstacles.checkDisk();
      }
      return stored;
    },
    recordGap: (gap) => Promise.resolve(gaps.record(gap)),
    withdrawGap: (gap) => Promise.resolve(gaps.withdraw(gap)),
    verify: (did, rows, given) => signatures.verify(did, rows, given),
    heardTime: (milliseconds) => obstacles.heardTime(milliseconds),
    doubt: (did) => roster.saidToChange(did),
    memory: createInputMemory(),
    refused: new RefusedMemory(undefined, (source) => isPrivileged(shareOf(source).standing)),
    cap,
    pace,
    usage,
    epoch: epoch.startedAt,
    clockEra: () => obstacles.clockEra,
    clock,
    random,
    wait,
    rhythm: settings.rhythm,
    log,
    telemetry,
  };
  const runner = new SourceRunner(tools, signal, fail, settings.maxEnrolled);
  const roster: Roster = new Roster({
    identities,
    clock,
    wait,
    refreshMs: 86_400_000,
    retryMs: 60_000,
    freshMs: 60_000,
    mayResolve: (did) => !denials.deniesDid(did),
    changed: (member) => {
      signatures.forget(member.did);
      denials.judge(member);
      follow(member);
    },
  });
  const { resolveTxt = outbound.resolveTxt } = options;
  const denials: Denials = new Denials({
    ...{ folder: settings.folder, store, clock, log, telemetry },
    members: () => roster.members,
    changed: (member) => follow(member),
  });
  const follow = (member: Member): void => {
    runner.follow(member);
    if (member.denied) particulars.forget(member.did);
    else particulars.resolved(member);
  };
  const particulars = new Particulars({
    ...{ http, identities, store, clock, wait, log, shareOf, resolveTxt },
    member: (did) => {
      const member = roster.member(did);
      return member?.denied ? undefined : member;
    },
    sourceFailed: (part) => telemetry.sourceFailed(part),
    timeoutMs: settings.rhythm.requestMs,
  });
  // A labeler that is denied by its DID is not taken up, whether seeds, a relay or a stream name it.
  const add: Roster['add'] = (did, origin, provenance) => {
    if (roster.member(did) || !denials.deniesDid(did)) roster.add(did, origin, provenance);
  };
  const services = await labelerEvents(
    { ...options, clock, resolve: outbound.resolveOwn },
    { add, saidToChange: (did) => roster.saidToChange(did) },
    particulars,
    obstacles,
  );
  await loadRoster(store, roster, runner, tools.refused);
  denials.load(denied);
  for (const did of settings.seeds) add(did, 'seeded', 'seeds');
  await shares.load(clock());

  const keep = async (): Promise<void> => {
    // Before the roster, which says up to when a source is complete.
    await gaps.flush();
    await beat(store, clock);
    await shares.keep();
    await store.dropRoster(roster.takeGone());
    await store.putRoster(roster.takeChanged());
    if (services?.cursor) await store.putNote(cursorNote, String(services.cursor));
  };
  const lookAtClock = async (): Promise<void> => {
    const { gap } = obstacles.look();
    if (gap) await store.recordGap({ source: null, ...gap, reason: 'ingest_paused' });
  };
  const publish = publisher({
    ...{ settings, store, roster, clock, log, telemetry, cap, pace, gaps, shareOf },
    budgetBytes: () => obstacles.disk.dailyBytes,
    waits: (member) => runner.waits(member),
    paused: () => acceptance.paused,
    denied: () => denials.count(),
  });
  const every = (ms: number, work: () => Promise<unknown>): Promise<void> => repeat(ms, work, signal, log, fail);
  await publish();
  const acceptanceEnds = new AbortController();
  const accepting = acceptance.run(acceptanceEnds.signal);
  // Where more are enrolled than are read at once, places go by standing and not by the order of DIDs.
  const now = clock();
  const byStanding = (a: Member, b: Member): number => compareStanding(standingFacts(a), standingFacts(b), now);
  for (const member of [...roster.members].sort(byStanding)) runner.follow(member);
  const tasks = [
    roster.run(signal),
    services?.run(signal),
    particulars.run(signal).catch(fail),
    every(settings.discoverySeconds * 1000, () =>
      discover({ relays: settings.relays, http: directory, add, log }, signal),
    ),
    // Apart from the heartbeat: a labeler can be denied while the disk is full.
    every(settings.rhythm.beatMs / 2, () => denials.refresh()),
    every(deniedGapMs, () => denials.recordGaps()),
    every(
      settings.publishSeconds * 1000,
      sourcesReporter({
        ...{ folder: settings.folder, usage, clock, members: () => roster.members },
        // A reader holds one at a time: its stream, or the request of a poll.
        slotsOf: (did) => (runner.reads(did) ? 1 : 0),
        standingOf: (member) => standingOf(standingFacts(member), clock()),
      }),
    ),
    every(settings.rhythm.beatMs, async () => {
      await lookAtClock();
      await obstacles.checkDisk();
      await keep();
    }),
    every(settings.publishSeconds * 1000, publish),
    every(settings.rhythm.tailMs, async () => {
      await recordDepartures(roster.members, (member) => runner.presence(member), tools);
      runner.fillPlaces();
    }),
    every(gapTickMs, () => gaps.tick()),
  ];
  const upkeep = every(settings.rhythm.upkeepMs, async () => {
    // A clock step since the last check, or an unconfirmed clock, must not make a day look old.
    await lookAtClock();
    if (obstacles.ageKnown) await maintainStore(store, clock(), log);
  });

  // Closing the store ends it: a day that is being rewritten is not waited for.
  const purging = every(settings.rhythm.beatMs, () =>
    removeRequested(
      {
        ...{ store, clock, log, list: () => denials.list },
        // A full disk holds up what a reader had taken: removal is what makes room.
        idle: (did) => !runner.reads(did) || acceptance.paused !== null,
      },
      signal,
    ),
  );

  return {
    async stop() {
      stopping.abort();
      // What is under way is committed; what a pause holds up is not waited for, and is read again after the next start.
      await Promise.race([runner.ended(), wait(graceMs, acceptanceEnds.signal)]);
      acceptanceEnds.abort();
      // Whatever a stranger holds up is not waited for.
      const ended = Promise.all([runner.ended(), accepting, ...tasks, verifier.stop(), outbound.close()]);
      const late = new AbortController();
      const inTime = await Promise.race([ended.then(() => true), wait(lateMs, late.signal).then(() => false)]);
      late.abort();
      if (!inTime) log.warn('some readers did not stop in time');
      await denials
        .recordGaps()
        .catch((error: unknown) => log.warn('gaps of denied labelers were not stored', errorFields(error)));
      await keep().catch((error: unknown) => log.warn('the last heartbeat could not be stored', errorFields(error)));
      await publish();
      // Closing ends a day's sealing, which may take longer than a stop has.
      await store.close();
      await Promise.all([upkeep, purging]);
      log.info('stopped');
    },
  };
}
