import { formatMicros, type Micros } from '../../contract/timestamp.ts';
import type { Log } from '../../ops/log.ts';
import type { StoreWriter } from '../../store/port.ts';
import { type Interval, micros, minute, second } from '../../store/time.ts';
import { readHold } from '../operator/hold.ts';
import { hasLost, progressOf, readStoreRecord } from '../publish/store-record.ts';

const throughNote = 'observed-through';

/**
 * Writes a heartbeat and the time of the last accepted page, so that the next start detects rows that were restored
 * from an older copy.
 */
export async function writeHeartbeat(store: StoreWriter, clock: () => Micros): Promise<void> {
  await store.beat(clock());
  const { observedThrough } = await store.frontier();
  if (observedThrough !== null) await store.putNote(throughNote, String(observedThrough));
}

/** Reads a note as a number. Returns null if the note does not exist or is not a safe integer. */
export async function numberNote(store: Pick<StoreWriter, 'note'>, name: string): Promise<Micros | null> {
  const number = Number((await store.note(name)) ?? Number.NaN);
  return Number.isSafeInteger(number) ? micros(number) : null;
}

/**
 * Records the time since the last heartbeat as a gap, even if the labels of that time are filled in later. Ends the
 * reads that account processes began before the store lost rows.
 */
export async function recordDowntime(
  store: StoreWriter,
  { artifacts, clock, log }: { readonly artifacts: string; readonly clock: () => Micros; readonly log: Log },
  startedAt: Micros,
): Promise<void> {
  const [progress, notedThrough, hold, record] = await Promise.all([
    progressOf(store, store.tokens?.former ?? null),
    numberNote(store, throughNote),
    readHold(artifacts),
    readStoreRecord(artifacts),
  ]);
  const { heartbeat, observedThrough, revision } = progress;
  const lost = hasLost(progress, record);
  const gap = downtime({ startedAt, heartbeat, observedThrough, notedThrough, hasLost: lost }, clock());
  if (lost || gap?.restored === true) await store.endReads(Math.max(revision, record?.revision ?? 0));
  if (gap === null) return;
  const { start, end, restored } = gap;
  await store.recordGap({ source: null, start, end, reason: hold ? 'maintenance' : 'ingest_paused' });
  if (lost) {
    log.warn(
      'the store has lost commits in a failover, or was restored: the time since its last row is recorded as a gap',
      {
        storedThrough: formatMicros(start),
        lostFrom: formatMicros(progress.end),
        recordedThrough: formatMicros(record?.end ?? progress.end),
      },
    );
  } else if (restored) {
    log.warn('parts of the store were restored from an older copy: the time since that copy is recorded as a gap');
  }
  log.info('the network was not observed from this time until this start, which is recorded as a gap', {
    since: formatMicros(start),
    seconds: (end - start) / 1e6,
  });
}

/** Times in the store that show when the last run was observing. */
interface LastObservation {
  readonly startedAt: Micros;
  readonly heartbeat: Micros | null;
  /** Time of the last accepted page according to the rows. */
  readonly observedThrough: Micros | null;
  /** Time of the last accepted page according to the state file, recorded with the last heartbeat. */
  readonly notedThrough: Micros | null;
  /**
   * True if the store lacks rows that the instrument once read from it, according to the record next to the artifact.
   */
  readonly hasLost?: boolean;
}

/** Interval without observation, and whether parts of the store were restored from an older copy. */
interface Downtime extends Interval {
  readonly restored: boolean;
}

/** An epoch without a heartbeat counts as begun by this run up to this age, in microseconds. */
const maxNewEpochAge = 5 * second;
/**
 * Maximum time by which the newest row may be later than the last heartbeat, in microseconds; heartbeats are written
 * every few seconds.
 */
const maxHeartbeatLag = minute;

/**
 * Returns the interval without observation before a start at `now`, or null if there was none. The interval begins at
 * the later of the last heartbeat and the last accepted page. A store that was restored from a backup is detected by
 * contradictions between its rows and its state file: rows that a heartbeat recorded are missing, or the newest row
 * is much later than the last heartbeat, so that gaps recorded after this heartbeat may be missing. `hasLost` detects
 * that a store was restored, or failed over, as a whole. After a restore, the interval begins at the earlier of the
 * two times.
 */
export function downtime(
  { startedAt, heartbeat, observedThrough, notedThrough, hasLost = false }: LastObservation,
  now: Micros,
): Downtime | null {
  if (heartbeat === null && observedThrough === null && now - startedAt < maxNewEpochAge) return null;
  const beat = Math.max(startedAt, heartbeat ?? 0);
  const through = Math.max(startedAt, observedThrough ?? 0);
  const restored = hasLost || through > beat + maxHeartbeatLag || (notedThrough !== null && through < notedThrough);
  const start = (restored ? Math.min(beat, through) : Math.max(beat, through)) as Micros;
  return start < now ? { start, end: now, restored } : null;
}
