import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Micros } from '../../contract/timestamp.ts';
import type { Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import type { StoredGap, StoreReader, StoreWriter } from '../../store/port.ts';
import { type Clocks, repeat, wait } from '../clock/clock.ts';
import type { PageAcceptance } from '../ingest/acceptance.ts';
import { note, type ReaderPorts } from '../ingest/ports.ts';
import { domainsOfLabeler } from '../operator/deny-file.ts';
import { timestamp } from '../publish/coverage.ts';
import { createPublisher } from '../publish/publisher.ts';
import { makeSourcesReport, type ReportedSource, writeSourcesReport } from '../publish/sources-report.ts';
import { absenceOf, priorityInput } from '../roster/known-labeler.ts';
import { listLabelers } from '../roster/labeler-lists.ts';
import type { Roster } from '../roster/roster.ts';
import type { DailyCap } from '../shares/daily-cap.ts';
import { isActive } from '../standby/standby-store.ts';
import { labelerLimits, priorityOf } from '../state/reading-state.ts';
import type { Foundation } from './foundation.ts';
import { StoreRecorder, writeHeartbeat } from './heartbeat.ts';
import { cursorNote, type Labelers } from './labelers.ts';
import type { Preconditions } from './preconditions.ts';

/** Interval between writes of pending gaps, in milliseconds. */
const gapTickMs = 1_000;
/** Interval between two updates of the store record next to the artifact, in milliseconds. */
const recordMs = 1_000;
/**
 * Interval between two checks for the first accepted page, in milliseconds. The overview cannot be served before that
 * page, and must not wait for the next publication.
 */
const firstPageMs = 1_000;
/** Interval between removals of what is kept of labelers that left the roster, in milliseconds. */
const forgetMs = 60_000;
/**
 * Maximum number of rows of the roster in one commit. A commit blocks the event loop: all 20,000 rows of a roster under
 * attack would block it for half a second of processor time, and the process would not handle a signal until then.
 */
const maxRosterRows = 500;
/**
 * Maximum number of commits of the roster at a stop, in addition to those of every enrolled labeler. The next start
 * discovers the other labelers again, because the positions of the streams that named them are then not stored.
 */
const moreFinalCommits = 2;
/** Interval between updates of the gaps of denied labelers, in milliseconds. */
const deniedGapMs = 60_000;

/** All parts of the instrument while it observes. */
export interface Assembled {
  readonly base: Foundation;
  readonly labelers: Labelers;
  readonly acceptance: PageAcceptance;
  readonly ports: ReaderPorts;
}

/** Work that is repeated at intervals, and once more when the instrument stops. */
export interface Acts {
  /**
   * Stores gaps, the heartbeat, shares, the roster, and the positions of the streams that name labelers. With `final`,
   * stores every enrolled labeler, but at most `moreFinalCommits` further parts of the roster; otherwise ends early once the instrument stops.
   */
  keep(final?: 'final'): Promise<void>;
  /** Publishes the artifacts. Begins no further step of the publication once the signal aborts. */
  publish(signal: AbortSignal): Promise<void>;
  /** Writes the progress of the store next to the artifact. */
  readonly recorder: StoreRecorder;
}

/** Creates the repeated work. */
export function createActs({ base, labelers, acceptance }: Assembled, stopping: AbortSignal): Acts {
  const { settings, store, clocks, log, telemetry, shares, preconditions } = base;
  const { roster, runner, denials, services, operations } = labelers;
  const { cap, pace, gaps, shareOf } = shares;
  const clock = clocks.wall;
  const publisher = createPublisher({
    ...{ settings, store, roster, clock, log, telemetry, cap, pace, gaps, shareOf },
    budgetBytes: () => preconditions.disk.dailyBytes,
    assertWriter: () => store.assertWriter(),
    waits: (labeler) => runner.waits(labeler),
    paused: () => acceptance.paused,
    denied: () => denials.count(),
    deniedSince: (labeler) => denials.since(labeler),
  });
  labelers.stored.notify = (did) => publisher.definitionsChanged(did);
  // A takeover publishes in addition to the task that publishes. Two publications at once would mix their files.
  let publishing: Promise<void> = Promise.resolve();
  return {
    recorder: new StoreRecorder(settings.artifacts, store),
    publish(signal) {
      const published = publishing.then(() => publisher.publish(signal));
      publishing = published.catch(() => undefined);
      return published;
    },
    async keep(final) {
      // Take the position before the roster is stored, so that after a crash the stream repeats the labelers that
      // arrived during the write.
      const { position } = operations;
      const cursor = services?.cursor ?? null;
      // Store gaps before the roster, because the roster contains the time up to which a source is complete.
      await gaps.flush();
      await writeHeartbeat(store, clock);
      await shares.keep();
      const { maxLabelers = labelerLimits.default } = settings;
      const maxFinalCommits = Math.ceil(maxLabelers / maxRosterRows) + moreFinalCommits;
      const mayCommit = (commits: number): boolean => (final ? commits < maxFinalCommits : !stopping.aborted);
      if (!(await storeRoster(store, roster, mayCommit))) return;
      if (cursor) await store.putNote(cursorNote, String(cursor));
      if (position !== null) await store.putDirectoryPosition(position);
    },
  };
}

/**
 * Stores the changes of the roster, and lets other work run between its parts. Asks before each part, with the number
 * of commits so far. Returns true if all changes are stored.
 */
async function storeRoster(
  store: StoreWriter,
  roster: Roster,
  mayCommit: (commits: number) => boolean,
): Promise<boolean> {
  let commits = 0;
  for (const change of roster.changes(maxRosterRows)) {
    if (!mayCommit(commits)) return false;
    if (change !== null) {
      commits += 1;
      if (change.kind === 'evicted') await store.dropRoster(change.dids);
      else await store.putRoster(change.rows);
    }
    await nextTurn();
  }
  return true;
}

/** Background tasks that run until the instrument stops. */
interface Tasks {
  /** Resolves when every task that stops with the signal has ended. */
  readonly ended: Promise<unknown>;
  /**
   * Resolves when upkeep and purges have ended. They end when the store is closed, so that a stop does not wait for a
   * day that is being rewritten.
   */
  readonly endedByClosing: Promise<unknown>;
}

/** Starts all tasks. Calls `fail` when a task fails permanently. */
export function startTasks(
  assembled: Assembled,
  { keep, publish, recorder }: Acts,
  signal: AbortSignal,
  fail: (error: unknown) => void,
): Tasks {
  const { base, labelers, acceptance, ports } = assembled;
  const { settings, store, clocks, log, shares, preconditions, purges } = base;
  const { roster, runner, denials, metadata, services, operations, reachability, add } = labelers;
  const { timings } = settings;
  const clock = clocks.wall;
  type Milliseconds = Parameters<typeof repeat>[0];
  const every = (ms: Milliseconds, work: () => Promise<unknown>): Promise<void> => repeat(ms, work, signal, log, fail);
  /** Repeats work that only the writer of the store does. */
  const everyActive = (ms: Milliseconds, work: () => Promise<unknown>): Promise<void> =>
    every(ms, async () => (isActive(base.role) ? work() : undefined));
  const lookAtClock = clockCheck(assembled);
  const ended = [
    roster.run(signal),
    services?.run(signal) ?? Promise.resolve(),
    operations.run(signal).catch(fail),
    metadata.run(signal).catch(fail),
    ...discoveries(base, add, every, signal),
    // This task is separate from the heartbeat, because a denial must take effect even if the heartbeat fails on a
    // full disk.
    every(timings.heartbeatMs / 2, () => denials.refresh()),
    everyActive(deniedGapMs, () => denials.recordGaps()),
    everyActive(settings.publishSeconds * 1000, sourcesReporter(assembled)),
    every(timings.heartbeatMs, async () => {
      await lookAtClock();
      await preconditions.checkDisk();
      reachability.look(roster.labelers, clock());
      await keep();
    }),
    everyActive(...publications({ store, monotonic: clocks.monotonic, publish: () => publish(signal) }, settings)),
    every(timings.tailMs, async () => {
      for (const labeler of roster.labelers) {
        const absence = absenceOf(labeler, runner.presence(labeler), clock());
        if (absence) await note(labeler.tracker, ports.gaps, absence);
      }
      runner.fillSlots();
    }),
    // This task is separate from the heartbeat, because this task waits while acceptance is paused.
    every(forgetMs, () => forgetEvicted(assembled)),
    every(gapTickMs, () => shares.gaps.tick()),
    every(recordMs, () => recorder.update()),
  ];
  const upkeep = everyActive(timings.upkeepMs, async () => {
    // Check the clock first, because no day may expire after a clock step or while the clock is unconfirmed.
    await lookAtClock();
    if (preconditions.ageKnown) await maintainStore(store, clock(), log);
  });
  // On a full disk, purge without waiting for readers, because only the purge frees space. During a pause, acceptance does
  // not store the pages of denied labelers.
  const idle = (did: string): boolean => !runner.reads(did) || (acceptance.paused !== null && !acceptance.isCommitting);
  const purging = everyActive(timings.heartbeatMs, () => purges.remove({ list: denials.list, idle }, signal));
  return { ended: Promise.all(ended), endedByClosing: Promise.all([upkeep, purging]) };
}

/**
 * Returns the interval and the work of the task that publishes: immediately, as soon as the store has an accepted page,
 * and `publishSeconds` after each publication.
 */
export function publications(
  { store, monotonic, publish }: PublicationParts,
  { publishSeconds }: { readonly publishSeconds: number },
): [() => number, () => Promise<void>] {
  const intervalMs = publishSeconds * 1000;
  let hasPage = false;
  let published: number | null = null;
  return [
    () => (hasPage ? intervalMs : Math.min(intervalMs, firstPageMs)),
    async () => {
      // `monotonic` is in microseconds.
      const isDue = published === null || monotonic() - published >= intervalMs * 1000;
      try {
        if (!hasPage) hasPage = (await store.frontier()).observedThrough !== null;
      } catch (error) {
        // A publication that is due reports a temporary failure.
        if (!isDue || !(error instanceof StoreError && error.retry)) throw error;
      }
      if (!hasPage && !isDue) return;
      await publish();
      published = monotonic();
    },
  ];
}

/** Parts that `publications` uses. */
interface PublicationParts {
  readonly store: Pick<StoreReader, 'frontier'>;
  readonly monotonic: Clocks['monotonic'];
  readonly publish: () => Promise<void>;
}

/**
 * Returns a function that checks the clock. It records the gap of a clock step; if the store rejects the gap, the next
 * call records it. It corrects the times of each labeler once an upstream has confirmed the clock: a clock that was not
 * confirmed may be wrong, and then corrects nothing. The first confirmation of a run corrects the times that an earlier
 * run stored.
 */
export function clockCheck({
  base: { store, clocks, preconditions, shares },
  labelers: { roster },
}: {
  readonly base: {
    readonly store: Pick<StoreWriter, 'recordGap'>;
    readonly clocks: Pick<Clocks, 'wall'>;
    readonly preconditions: Pick<Preconditions, 'look' | 'clockGeneration' | 'clockRight'>;
    readonly shares: { readonly cap: Pick<DailyCap, 'clockCorrected'> };
  };
  readonly labelers: { readonly roster: Pick<Roster, 'labelers'> };
}): () => Promise<void> {
  let corrected: number | null = null;
  /** Gaps that are not recorded yet, because the store may reject a gap, and a step is returned only once. */
  const pending: StoredGap[] = [];
  return async () => {
    const { gap } = preconditions.look();
    if (gap) pending.push({ source: null, ...gap, reason: 'ingest_paused' });
    for (let [first] = pending; first !== undefined; [first] = pending) {
      await store.recordGap(first);
      // Another check at the same time may have recorded and removed this gap.
      if (pending[0] === first) pending.shift();
    }
    const generation = preconditions.clockGeneration;
    if (generation === corrected || preconditions.clockRight !== true) return;
    corrected = generation;
    const now = clocks.wall();
    for (const { tracker } of roster.labelers) tracker.apply({ kind: 'clock_corrected', now });
    shares.cap.clockCorrected();
  };
}

/**
 * Removes the positions of the labelers that left the roster, and forgets when they were read late. The stored times stay,
 * because the hours include the labels of these labelers.
 */
async function forgetEvicted({ base, labelers: { roster, runner }, ports }: Assembled): Promise<void> {
  const isKnown = (did: string): boolean => roster.labeler(did) !== undefined;
  await runner.forgetUnknown(isKnown);
  // A standby that takes over loads the times of labelers before it knows them.
  if (isActive(base.role)) ports.acceptance.filledIn.forgetUnknown((did) => isKnown(did) || runner.reads(did));
}

/**
 * Returns a function that writes the resource use of each known source for `almanac labels sources`. Use is counted
 * from the time of this call.
 */
function sourcesReporter({ base, labelers: { roster, runner } }: Assembled): () => Promise<void> {
  const { settings, shares, clocks } = base;
  const startedAt = timestamp(clocks.wall());
  return async () => {
    const sources = [...roster.labelers].map((labeler): ReportedSource => {
      const { did, endpoint, denied, tracker } = labeler;
      return {
        ...{ did, endpoint, denied, state: tracker.state, domains: domainsOfLabeler(labeler) },
        standing: priorityOf(priorityInput(labeler), clocks.wall()),
        // Count one slot per reader, because a reader holds either its stream or the request of a poll.
        slots: runner.reads(did) ? 1 : 0,
        ...shares.usage.of(did),
      };
    });
    const report = makeSourcesReport(sources, { startedAt, generatedAt: timestamp(clocks.wall()) });
    await writeSourcesReport(settings.folder, report);
  };
}

/** Starts one task per relay, because a relay that fails is asked several times and must not delay the others. */
function discoveries(
  { settings, outbound, log }: Pick<Foundation, 'settings' | 'outbound' | 'log'>,
  add: Labelers['add'],
  every: (ms: number, work: () => Promise<unknown>) => Promise<void>,
  signal: AbortSignal,
): Promise<void>[] {
  return settings.relays.map((relay) => {
    const { host } = new URL(relay);
    return every(settings.discoverySeconds * 1000, async () => {
      const { dids, complete } = await listLabelers(outbound.directory, relay, { timeoutMs: 30_000, wait, signal });
      for (const did of dids) add(did, 'discovered', `relay ${host}`);
      if (!complete && !signal.aborted) log.warn('a relay did not list all labelers', { relay: host });
    });
  });
}

/** Runs the store's upkeep, and logs days that could not be sealed. */
export async function maintainStore(store: Pick<StoreWriter, 'maintain'>, at: Micros, log: Log): Promise<void> {
  const { postponed } = await store.maintain(at);
  if (postponed.length > 0)
    log.warn('some days of the store could not be sealed; sealing will be retried', { days: postponed.join(' ') });
}
