import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Micros } from '../../contract/timestamp.ts';
import type { Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import { clip, coalesce } from '../../store/gaps.ts';
import { claimOrigin } from '../../store/origin.ts';
import { type GapChange, maxBatchRows, type Position, type StoredGap, type StoreWriter } from '../../store/port.ts';
import type { RosterRow } from '../../store/roster.ts';
import { type Interval, micros } from '../../store/time.ts';
import { wait } from '../clock/clock.ts';
import { labelerFromRow } from '../roster/known-labeler.ts';
import { definitionShares } from '../shares/fair-queue.ts';
import type { Kept } from '../standby/kept.ts';
import { replay } from '../standby/replay.ts';
import type { InstrumentRole } from '../standby/standby-store.ts';
import { endLostReads, recordDowntime, sweepArtifactTemporaries, writeHeartbeat } from './heartbeat.ts';
import { loadPositions } from './labelers.ts';
import type { Acts, Assembled } from './tasks.ts';

/** Last state that the former writer stored. */
interface FormerState {
  /** Roster rows by DID. */
  readonly rows: ReadonlyMap<string, RosterRow>;
  /** Time of the last accepted page of each source. */
  readonly answered: ReadonlyMap<string, Micros>;
  /** Stored gaps by source. */
  readonly gaps: ReadonlyMap<string | null, readonly StoredGap[]>;
}

/** A standby that replaces the former writer, and the store that it has opened for writing. */
interface TakeOverOptions {
  readonly role: InstrumentRole;
  readonly writer: StoreWriter;
  readonly watched: Watched;
  readonly signal: AbortSignal;
}

/**
 * Stores the data that this standby kept in memory: first the gaps that both instruments have in common, then the
 * kept rows, and then the positions. From then on, the opened store receives all changes. A crash between two steps
 * overstates a gap or repeats rows, but never hides a gap.
 */
export async function takeOver(
  { base, labelers, ports }: Assembled,
  acts: Acts,
  { role, writer: opened, watched, signal }: TakeOverOptions,
): Promise<void> {
  const { clocks, log, settings, shares } = base;
  const writer = patientStore(opened, { log, wait, signal });
  const { roster, runner, reachability } = labelers;
  const clock = clocks.wall;
  const { kept } = role.kept;
  // Check the origin again, because the former writer may have set it after this standby started.
  await claimOrigin(writer, settings.origin);
  const startedAt = (await writer.epoch()).startedAt;
  await sweepArtifactTemporaries(settings.artifacts, log);
  await endLostReads(writer, settings.artifacts, log);
  const missed = await missedChanges(writer, kept.gaps.of(null), watched);
  // Flush the gaps that the readers have caused so far, because these gaps derive from this standby's own progress.
  await shares.gaps.flush();
  role.kept.hold(opened);
  // Let the readers record the refused labels of the pages that were kept last.
  await nextTurn();
  const [positions, rows, gaps] = await Promise.all([
    writer.positions(),
    writer.roster(),
    gapsBySource(writer, clock()),
  ]);
  const known = new Set([...roster.labelers].map(({ did }) => did));
  const answered = loadStored(positions, known, { runner, acceptance: ports.acceptance });
  const former = { rows: new Map(rows.map((row) => [row.did, row])), answered, gaps };
  const { records, withdrawals } = joined(labelers, former, { kept: kept.gaps, watched, startedAt });
  if (watched.aliveAt === null || watched.aliveAt < watched.observedSince) {
    await recordDowntime(writer, { artifacts: settings.artifacts, clock: () => watched.observedSince, log }, startedAt);
  }
  // Record gaps before the positions, and withdraw gaps only after the rows are stored.
  await changeGaps(writer, [...missed, ...records]);
  const theirs = await writer.refusedRows();
  const refused = ports.acceptance.refused.merge(theirs, clock(), (source) => known.has(source));
  // The merged refused labels apply to all pages that are not kept yet, so the readers must judge these pages again.
  role.generation += 1;
  const stored = await replay(kept, writer, {
    clock,
    refused,
    ...{ repeats: ports.acceptance.repeats, filledIn: ports.acceptance.filledIn },
    isKnown: (did) => known.has(did) || former.rows.has(did),
    ...{ shares: definitionShares(shares.shareOf), stored: positions },
  });
  await changeGaps(writer, withdrawals);
  const strangers = rows.filter(({ did }) => !known.has(did));
  roster.load(strangers, answered);
  reachability.load(rows, (did) => roster.labeler(did), clock());
  role.kept.activate();
  roster.rewriteAll();
  log.info('this instrument is now active', { ...stored });
  await writeHeartbeat(opened, clock);
  await acts.recorder.begin(opened);
  await acts.keep();
}

/**
 * Loads the stored positions of the labelers that this standby does not know, and what is stored with all positions; the
 * readers keep their own positions. Returns the time of the last accepted page of each source.
 */
function loadStored(
  positions: readonly Position[],
  known: ReadonlySet<string>,
  { runner, acceptance }: { runner: Assembled['labelers']['runner']; acceptance: Assembled['ports']['acceptance'] },
): Map<string, Micros> {
  const { own = [], others = [] } = Object.groupBy(positions, ({ source }) => (known.has(source) ? 'own' : 'others'));
  const readersOwn = { keep: () => undefined };
  return new Map([...loadPositions(others, runner, acceptance), ...loadPositions(own, readersOwn, acceptance)]);
}

/** Returns the changes that record the interruptions of this standby since the last heartbeat of the former writer. */
async function missedChanges(
  writer: StoreWriter,
  own: readonly StoredGap[],
  { aliveAt }: Watched,
): Promise<readonly GapChange[]> {
  const heartbeat = (await writer.heartbeat()) ?? micros(0);
  const storedThrough = micros(Math.max(heartbeat, aliveAt ?? 0));
  return jointChanges({ stored: [], storedThrough, own, live: null }).records;
}

async function gapsBySource(writer: StoreWriter, now: Micros): Promise<Map<string | null, StoredGap[]>> {
  const { floor } = await writer.frontier();
  if (floor >= now) return new Map();
  return Map.groupBy(await writer.gaps({ start: floor, end: now }), ({ source }) => source);
}

/** Merges the progress of both instruments for each source. Returns the gaps to record and to withdraw. */
function joined(
  { roster }: Assembled['labelers'],
  { rows, answered, gaps }: FormerState,
  { kept, watched, startedAt }: { readonly kept: Kept['gaps']; readonly watched: Watched; readonly startedAt: Micros },
): { readonly records: readonly GapChange[]; readonly withdrawals: readonly GapChange[] } {
  const records: GapChange[] = [];
  const withdrawals: GapChange[] = [];
  for (const { did, tracker, denied } of roster.labelers) {
    const row = rows.get(did);
    const stored = row ? labelerFromRow(row, answered.get(did) ?? null).tracker.tracked : null;
    const through = tracker.unreadSince;
    // Ignore the labels that this standby read of a denied labeler: the former writer stopped reading it first, and a
    // purge may have removed those labels.
    const readSince = (from: Micros | undefined): Interval | null =>
      denied || from === undefined || through === null || from >= through ? null : { start: from, end: through };
    const changes = jointChanges({
      stored: gaps.get(did) ?? [],
      storedThrough: stored?.completeThrough ?? startedAt,
      own: kept.of(did),
      interruptions: kept.of(null),
      live: readSince(watched.liveSince.get(did)),
      read: readSince(watched.readFrom.get(did)),
    });
    records.push(...changes.records);
    withdrawals.push(...changes.withdrawals);
    tracker.apply({
      kind: 'taken_over',
      completeThrough: stored?.completeThrough ?? null,
      lastAnswered: stored?.lastAnswered ?? null,
    });
  }
  return { records, withdrawals };
}

async function changeGaps(writer: StoreWriter, changes: readonly GapChange[]): Promise<void> {
  for (let at = 0; at < changes.length; at += maxBatchRows)
    await writer.changeGaps(changes.slice(at, at + maxBatchRows));
}

/** Interval between two attempts, in milliseconds. */
const retryMs = 500;

/** Dependencies of `patientStore`. */
interface PatientStoreOptions {
  readonly log: Log;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Wraps a store and repeats those changes of a takeover that the store rejects temporarily, as it does on a full disk,
 * until the signal aborts. Without the repetition, a takeover would lose the rows that the standby kept.
 */
export function patientStore(store: StoreWriter, { log, wait, signal }: PatientStoreOptions): StoreWriter {
  const repeated = async <T>(change: () => Promise<T>): Promise<T> => {
    for (let told = false; ; told = true) {
      try {
        return await change();
      } catch (error) {
        if (!(error instanceof StoreError && error.retry) || signal.aborted) throw error;
        if (!told)
          log.warn('the labels that this standby kept cannot be stored yet; storing them will be retried', {
            reason: error.code,
          });
        await wait(retryMs, signal);
      }
    }
  };
  return {
    ...store,
    append: (batch) => repeated(() => store.append(batch)),
    recordGap: (gap) => repeated(() => store.recordGap(gap)),
    changeGaps: (changes) => repeated(() => store.changeGaps(changes)),
    putKeys: (keys) => repeated(() => store.putKeys(keys)),
    putDefinitions: (revisions, shares) => repeated(() => store.putDefinitions(revisions, shares)),
  };
}

/** Gaps and progress of the former writer and the standby, for one source or for the whole instrument. */
interface JointReading {
  /** Gaps that the former writer recorded. */
  readonly stored: readonly StoredGap[];
  /** Time up to which the former writer had stored all labels or recorded a gap; null if there is no such time. */
  readonly storedThrough: Micros | null;
  /** Gaps of the standby. */
  readonly own: readonly StoredGap[];
  /** Interruptions of the whole standby; given only if the changes for one source are computed. */
  readonly interruptions?: readonly StoredGap[];
  /**
   * Interval in which the standby read live, except in its gaps. The interval begins when the standby had read all
   * earlier labels. Null if the standby never read live.
   */
  readonly live: Interval | null;
  /**
   * Interval whose labels the standby read live or filled in, except in its gaps; null or absent if there is no such
   * interval.
   */
  readonly read?: Interval | null;
}

/**
 * Returns changes after which the recorded gaps are exactly the time that neither instrument read. Records gaps of
 * the standby for the time that the former writer had not stored. Withdraws gaps of the former writer for the time in
 * which the standby read live, and the gap of an outage also for the time whose labels the standby filled in. Never
 * withdraws an `unknown` gap, which replaces several gaps, or a `maintenance` gap, whose rows were removed on
 * request.
 */
export function jointChanges({ stored, storedThrough, own, interruptions = [], live, read = null }: JointReading): {
  readonly records: readonly GapChange[];
  readonly withdrawals: readonly GapChange[];
} {
  const from = storedThrough ?? micros(0);
  const records = clip(own, { start: from, end: micros(Number.MAX_SAFE_INTEGER) });
  const readLive = live === null ? [] : without(live, [...own, ...interruptions]);
  const withdrawals = stored
    .filter(({ reason }) => reason !== 'unknown' && reason !== 'maintenance')
    .flatMap((gap) => readLive.flatMap((interval) => clip([gap], interval)));
  // Outages of the former writer that the standby has filled in.
  const filledIn = read === null ? [] : without(read, own);
  const outages = stored.filter(({ reason }) => reason === 'source_unavailable');
  withdrawals.push(...outages.flatMap((gap) => filledIn.flatMap((interval) => clip([gap], interval))));
  return {
    records: records.map((gap) => ({ kind: 'record', gap })),
    withdrawals: withdrawals.map((gap) => ({ kind: 'withdraw', gap })),
  };
}

/** Returns the parts of an interval that no gap covers. */
function without(interval: Interval, gaps: readonly StoredGap[]): Interval[] {
  const free: Interval[] = [];
  let { start } = interval;
  for (const gap of coalesce(gaps)) {
    if (gap.start > start) free.push({ start, end: micros(Math.min(gap.start, interval.end)) });
    start = micros(Math.max(start, gap.end));
  }
  free.push({ start, end: interval.end });
  return free.filter((one) => one.start < one.end && one.start >= interval.start);
}

/** Times that a standby has recorded, used to determine the gaps at the takeover. */
interface Watched {
  /** Time at which this instrument began to observe. */
  readonly observedSince: Micros;
  /**
   * Last check at which the heartbeat of the former writer had changed, or at which that writer had no heartbeat; null if
   * there was no such check.
   */
  readonly aliveAt: Micros | null;
  /** For each DID, the time at which this instrument had first read all labels of the source. */
  readonly liveSince: ReadonlyMap<string, Micros>;
  /**
   * For each DID, the time up to which the source was complete when this instrument began to read it from the stored
   * position.
   */
  readonly readFrom: ReadonlyMap<string, Micros>;
}
