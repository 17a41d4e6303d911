import type { Micros } from '../contract/timestamp.ts';
import { errorFields, type Log, type LogFields } from '../ops/log.ts';
import { StoreError } from '../store/errors.ts';
import { claimOrigin } from '../store/origin.ts';
import { createFoundation, type Foundation, type LabelsOptions } from './assembly/foundation.ts';
import { recordDowntime, StoreRecorder, sweepArtifactTemporaries, writeHeartbeat } from './assembly/heartbeat.ts';
import { createLabelers, type Labelers, loadRoster } from './assembly/labelers.ts';
import { clockAtStart, type Preconditions } from './assembly/preconditions.ts';
import { standBy } from './assembly/stand-by.ts';
import { type Acts, type Assembled, createActs, startTasks } from './assembly/tasks.ts';
import { wait } from './clock/clock.ts';
import { PageAcceptance } from './ingest/acceptance.ts';
import { type AcceptedPage, createInputMemory, type ReaderPorts } from './ingest/ports.ts';
import { RefusedMemory } from './ingest/refused-memory.ts';
import { requireDenyList } from './operator/deny-file.ts';
import { RepeatFinder, RepeatMemory } from './repeats/repeats.ts';
import { type KnownLabeler, priorityInput } from './roster/known-labeler.ts';
import { costOf } from './shares/daily-cap.ts';
import type { Telemetry } from './shares/telemetry.ts';
import { isActive } from './standby/standby-store.ts';
import { FilledIn, noChanges } from './state/filled-in.ts';
import { comparePriority, isPrivileged } from './state/reading-state.ts';

/** The label instrument: finds labelers, observes them, and publishes the observed facts. */
export interface Labels {
  /**
   * Resolves once the instrument has begun to observe, or after 2 × `clockMs` if it still waits for a correct clock.
   * Does not wait until labelers are discovered.
   */
  start(): Promise<void>;
  /**
   * Commits unfinished work and closes the store. Stores and publishes the final state first if this instrument is
   * active.
   */
  stop(): Promise<void>;
  /**
   * Returns the time of the wall clock; null until the check at the start has ended, while the clock is doubtful, and
   * after a step.
   */
  undoubtedTime(): Micros | null;
  /** Rejects when the store can no longer be trusted, or after an unexpected error. */
  readonly failed: Promise<never>;
}

/**
 * Maximum time for which readers may continue after a stop is requested, in milliseconds. The limits of a stop add up
 * to 8 s, one second less than `stopWithinMs`. Closing the store has no limit of its own.
 */
const readersMs = 3_000;
/** Maximum duration of the last publication, in milliseconds. Without it, the former artifacts remain. */
const finalPublicationMs = 3_000;
/** Maximum additional wait for readers that continue after `readersMs`, in milliseconds. */
const lateMs = 2_000;

/** Creates the instrument. Observation begins with `start`. */
export function createLabels(options: LabelsOptions): Labels {
  const failing = Promise.withResolvers<never>();
  // Prevent an unhandled rejection if the instrument fails before its owner awaits this promise.
  failing.promise.catch(() => undefined);
  const stopping = new AbortController();
  let running: Promise<Running> | null = null;
  let checked: Pick<Preconditions, 'undoubtedTime'> | null = null;
  return {
    failed: failing.promise,
    undoubtedTime: () => checked?.undoubtedTime ?? null,
    async start() {
      const started = new AbortController();
      const fail = (error: unknown): void => {
        // A fenced instrument must not write its final state.
        if (options.role && error instanceof StoreError && error.code === 'fenced') options.role.role = 'fenced';
        failing.reject(error);
      };
      running = observe(options, fail, stopping, (preconditions) => {
        checked = preconditions;
      });
      // Do not wait until a wrong clock is corrected, because that may take days and the caller must be able to call
      // `stop`.
      running.then(() => started.abort()).catch(failing.reject);
      await Promise.race([running, wait(2 * options.settings.timings.clockMs, started.signal)]);
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

/** Begins to observe. Calls `clockChecked` once the clock was checked. */
async function observe(
  options: LabelsOptions,
  fail: (error: unknown) => void,
  stopping: AbortController,
  clockChecked: (preconditions: Preconditions) => void,
): Promise<Running> {
  const { settings, store, clocks, telemetry } = options;
  const log = pacedLog(options.log, clocks.monotonic);
  const clock = clocks.wall;
  const { signal } = stopping;
  const denied = await requireDenyList(settings.folder);
  await claimOrigin(store, settings.origin);
  const made: { labelers: Labelers | null } = { labelers: null };
  const base = createFoundation({ ...options, log }, (did) => made.labelers?.roster.labeler(did), signal);
  await base.preconditions.checkDisk();
  await clockAtStart(base.preconditions, { clocks, log, telemetry, waitMs: settings.timings.clockMs }, signal);
  if (signal.aborted) return { stop: () => closeUnused(base) };
  clockChecked(base.preconditions);
  const epoch = await store.epoch();
  const { role } = options;
  if (isActive(role)) await continueRecord({ ...options, log }, epoch.startedAt);
  else await role?.kept.follow();

  const acceptance = createAcceptance(base, (did) => made.labelers?.roster.labeler(did)?.denied === true, fail);
  const ports = createReaderPorts(base, acceptance, {
    epoch: epoch.startedAt,
    suspectDocument: (did) => made.labelers?.roster.documentChanged(did),
  });
  const labelers = await createLabelers(base, ports, signal, fail);
  made.labelers = labelers;
  await loadRoster(store, labelers, ports.acceptance, clock());
  await base.purges.load();
  if (!isActive(role)) ports.acceptance.refused.keepJournal();
  labelers.denials.load(denied);
  for (const did of settings.seeds) labelers.add(did, 'seeded', 'seeds');
  await base.shares.load(clock());

  const assembled: Assembled = { base, labelers, acceptance, ports };
  const acts = createActs(assembled, signal);
  if (isActive(role)) await acts.publish(signal);
  const acceptanceEnds = new AbortController();
  const accepting = acceptance.run(acceptanceEnds.signal);
  followAll(labelers, clock());
  const { ended, endedByClosing } = startTasks(assembled, acts, signal, fail);
  const watching = role === undefined ? null : standBy(assembled, acts, role, signal).catch(fail);
  return {
    async stop() {
      stopping.abort();
      await endReading(assembled, acceptanceEnds, Promise.all([accepting, ended, watching]));
      if (isActive(role)) await storeFinalState(assembled, acts);
      // Closing the store aborts the sealing of a day, because sealing may take longer than the time limit of a stop.
      await store.close();
      await endedByClosing;
      log.info('the label instrument stopped');
    },
  };
}

/** Continues what the last active instrument left: its artifacts, the gap since its end, and the record of the store. */
async function continueRecord({ settings, store, clocks, log }: LabelsOptions, startedAt: Micros): Promise<void> {
  const { artifacts } = settings;
  await sweepArtifactTemporaries(artifacts, log);
  await recordDowntime(store, { artifacts, clock: clocks.wall, log }, startedAt);
  await writeHeartbeat(store, clocks.wall);
  await new StoreRecorder(artifacts, store).begin();
}

/** Starts the readers in order of priority, because more sources may be enrolled than can be read. */
function followAll({ roster, runner }: Labelers, now: Micros): void {
  const byPriority = (a: KnownLabeler, b: KnownLabeler): number =>
    comparePriority(priorityInput(a), priorityInput(b), now);
  for (const labeler of [...roster.labelers].sort(byPriority)) runner.follow(labeler);
}

async function closeUnused({ outbound, store }: Foundation): Promise<void> {
  await outbound.close();
  await store.close();
}

/** Ends readers and the writer within a time limit, so that no labeler can delay a stop. */
async function endReading(
  { base, labelers, acceptance }: Assembled,
  acceptanceEnds: AbortController,
  tasks: Promise<unknown>,
): Promise<void> {
  const { runner } = labelers;
  acceptance.close();
  await Promise.race([runner.ended(), wait(readersMs, acceptanceEnds.signal)]);
  acceptanceEnds.abort();
  const ended = Promise.all([runner.ended(), tasks, base.verifier.stop(), base.outbound.close()]);
  const late = new AbortController();
  const inTime = await Promise.race([ended.then(() => true), wait(lateMs, late.signal).then(() => false)]);
  late.abort();
  if (!inTime) base.log.warn('some readers of labelers did not stop in time');
}

/** Stores and publishes the final state. */
async function storeFinalState(
  { base: { log }, labelers: { denials } }: Assembled,
  { keep, publish, recorder }: Acts,
): Promise<void> {
  await denials
    .recordGaps()
    .catch((error: unknown) => log.warn('gaps of denied labelers were not stored', errorFields(error)));
  await keep('final').catch((error: unknown) => log.warn('the last heartbeat could not be stored', errorFields(error)));
  await recorder
    .update()
    .catch((error: unknown) => log.warn('the store record could not be written', errorFields(error)));
  const late = new AbortController();
  const published = publish(late.signal).catch((error: unknown) =>
    log.warn('the overview could not be published before the exit', errorFields(error)),
  );
  const done = new AbortController();
  await Promise.race([published, wait(finalPublicationMs, done.signal)]);
  done.abort();
  late.abort();
}

/** Interval between attempts to write to a store that cannot accept rows, in milliseconds. */
const retryMs = 1_000;
/** Number of written bytes after which the free space is checked again. Each heartbeat also checks the free space. */
const checkDiskBytes = 64_000_000;

/**
 * Creates the `PageAcceptance` that commits the pages of all sources through one writer. Calls `fatal` when the store
 * cannot be trusted.
 */
function createAcceptance(
  base: Foundation,
  isDenied: (source: string) => boolean,
  fatal: (error: unknown) => void,
): PageAcceptance {
  const { store, clocks, log, preconditions, shares } = base;
  return new PageAcceptance({
    ...{ store, wait, retryMs, log, isDenied, fatal },
    telemetry: commitsOf(base),
    isPurged: (source) => base.purges.requestedAt(source) !== null,
    shareOf: shares.shareOf,
    flushGaps: async (sources) => {
      await shares.gaps.flush(sources);
      // Wait until a takeover in progress has ended. The pages are then checked again before they are stored.
      await base.role?.kept.released();
    },
    charge: (source, cpuMs) => shares.pace.charge(source, { cpuMs }),
    clock: clocks.wall,
    checkPreconditions: () => preconditions.look(),
    clockGeneration: () => generationOf(base),
  });
}

/** Returns the telemetry without the commits of a standby, which keeps its rows in memory and stores nothing. */
function commitsOf({ telemetry, role }: Foundation): Telemetry {
  return {
    ...telemetry,
    committed: (...commit) => {
      if (role?.role !== 'standby') telemetry.committed(...commit);
    },
  };
}

/**
 * Returns a number that changes when pages must be judged again: the clock was set or confirmed, or this instrument
 * took over the store.
 */
function generationOf({ preconditions, role }: Foundation): number {
  return preconditions.clockGeneration + (role?.generation ?? 0);
}

/**
 * Creates the ports of all readers. Readers call `suspectDocument` for a source whose DID document may have changed.
 */
function createReaderPorts(
  base: Foundation,
  acceptance: PageAcceptance,
  { epoch, suspectDocument }: { readonly epoch: Micros; readonly suspectDocument: (did: string) => void },
): ReaderPorts {
  const { settings, store, clocks, random, log, telemetry, outbound, shares, signatures, keyChanges } = base;
  const { preconditions, role, purges } = base;
  const { shareOf, usage, pace, cap, gaps } = shares;
  const { http, openStream, streams } = outbound;
  const charge = (source: string, cpuMs: number): void => pace.charge(source, { cpuMs });
  const isLastForgotten = (source: string): boolean => isPrivileged(shareOf(source).priority);
  const finder = new RepeatFinder({ store, keyChanges, clock: clocks.wall, charge });
  let sinceDiskCheck = 0;
  const accept = async (page: AcceptedPage): Promise<number> => {
    const stored = await acceptance.accept(page);
    sinceDiskCheck += costOf(page.observations).bytes;
    if (sinceDiskCheck >= checkDiskBytes) {
      sinceDiskCheck = 0;
      await preconditions.checkDisk();
    }
    return stored;
  };
  return {
    query: { http, openStream, streams, memory: createInputMemory() },
    acceptance: {
      ...{ accept, purges, cap, usage },
      verify: (did, rows, given) => signatures.verify(did, rows, given),
      refused: new RefusedMemory(undefined, isLastForgotten),
      repeats: repeatsOf(role, new RepeatMemory(finder, clocks.wall, isLastForgotten)),
      filledIn: filledInOf(role),
      clockGeneration: () => generationOf(base),
    },
    gaps: { change: (change) => Promise.resolve(gaps.change(change)) },
    time: { epoch, random, wait, clock: clocks.wall, timings: settings.timings },
    pace,
    report: { log, telemetry, suspectDocument },
  };
}

/**
 * Returns the ports that count repeats. A standby does not count repeats in pages, because the store already contains
 * the rows of these pages. The standby counts repeats at the takeover, when it stores its own rows.
 */
function repeatsOf(role: Foundation['role'], memory: RepeatMemory): ReaderPorts['acceptance']['repeats'] {
  return {
    load: (...stored) => memory.load(...stored),
    find: async (source, rows) => (role?.role === 'standby' ? noChanges : memory.find(source, rows)),
  };
}

/**
 * Returns the ports that record late reading. A standby does not record it in pages, because the writer has stored most
 * of their rows in time. The takeover records it for the rows that only the standby has.
 */
function filledInOf(role: Foundation['role']): ReaderPorts['acceptance']['filledIn'] {
  const filledIn = new FilledIn();
  return {
    load: (...stored) => filledIn.load(...stored),
    forgetUnknown: (isKnown) => filledIn.forgetUnknown(isKnown),
    live: (source, at) => {
      if (role?.role !== 'standby') filledIn.live(source, at);
    },
    covering: (...page) => (role?.role === 'standby' ? noChanges : filledIn.covering(...page)),
  };
}

/** Maximum number of lines of one message that are logged without a wait. */
const burst = 20;

/** Interval after which a further line of a message is allowed, in microseconds. */
const refillUs = 30_000_000;

/**
 * Limits the log lines that labelers cause: 20 lines of each message, then one line every 30 s with the number of
 * omitted lines. Without the limit a labeler could fill the disk with log lines. The number of messages is small,
 * because each is a constant. Lines of the levels `debug` and `error` are not limited, because labelers cannot cause
 * them.
 */
export function pacedLog(log: Log, monotonic: () => number): Log {
  const lines = new Map<string, { left: number; at: number; leftOut: number }>();

  function take(message: string): number | null {
    const now = monotonic();
    const line = lines.get(message) ?? { left: burst, at: now, leftOut: 0 };
    lines.set(message, line);
    line.left = Math.min(burst, line.left + (now - line.at) / refillUs);
    line.at = now;
    if (line.left < 1) {
      line.leftOut += 1;
      return null;
    }
    line.left -= 1;
    const { leftOut } = line;
    line.leftOut = 0;
    return leftOut;
  }

  function paced(write: (message: string, fields: LogFields) => void) {
    return (message: string, fields: LogFields = {}): void => {
      const leftOut = take(message);
      if (leftOut !== null) write(message, leftOut === 0 ? fields : { ...fields, left_out: leftOut });
    };
  }

  return {
    debug: (message, fields) => log.debug(message, fields),
    info: paced((message, fields) => log.info(message, fields)),
    warn: paced((message, fields) => log.warn(message, fields)),
    error: (message, fields) => log.error(message, fields),
    with: (fields) => pacedLog(log.with(fields), monotonic),
  };
}
