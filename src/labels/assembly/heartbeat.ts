import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { artifactNames, writeLines } from '../../artifact/write.ts';
import { formatMicros, type Micros, parseTimestamp } from '../../contract/timestamp.ts';
import { isObject } from '../../input/json-budget.ts';
import { makeFolder } from '../../ops/errors.ts';
import type { Log } from '../../ops/log.ts';
import { sweepTemporaries } from '../../ops/temporaries.ts';
import type { StoreReader, StoreWriter } from '../../store/port.ts';
import { type Interval, micros, minute, second } from '../../store/time.ts';
import { readHold } from '../operator/hold.ts';

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

/**
 * Ends the reads of account processes if the store has lost rows since this standby last read it. The standby stores
 * its own copies of those rows again.
 */
export async function endLostReads(store: StoreWriter, artifacts: string, log: Log): Promise<void> {
  const record = await readStoreRecord(artifacts);
  const progress = await progressOf(store, store.tokens?.former ?? null);
  if (record === null || !hasLost(progress, record)) return;
  await store.endReads(Math.max(progress.revision, record.revision));
  log.warn('the store has lost commits, for example in a failover: this standby stores its copies of the lost rows', {
    lostFrom: formatMicros(progress.end),
    recordedThrough: formatMicros(record.end),
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

/** Progress of a store at the time at which an instrument read it. */
interface StoreProgress {
  readonly generationId: string;
  /** Fencing token of the last writer; null if the store has no tokens, or the instrument does not know the token. */
  readonly token: number | null;
  readonly revision: number;
  /** Time immediately after the last row. */
  readonly end: Micros;
  readonly observedThrough: Micros | null;
  readonly heartbeat: Micros | null;
}

/**
 * Name of the record. The record is next to the artifact and not in the store, so that it survives a failover of the
 * store.
 */
const recordName = 'labels-store.json';
/** Maximum size of a record, in bytes. */
const maxBytes = 4_096;

/** Reads the progress of a store. `token` is the fencing token of the last writer. */
async function progressOf(
  store: Pick<StoreReader, 'frontier' | 'heartbeat'>,
  token: number | null,
): Promise<StoreProgress> {
  const [{ generationId, revision, end, observedThrough }, heartbeat] = await Promise.all([
    store.frontier(),
    store.heartbeat(),
  ]);
  return { generationId, token, revision, end, observedThrough, heartbeat };
}

/**
 * Returns true if a store lacks data that it contained when the record was written, because of a failover with
 * asynchronous replication or a restore of an older copy. Returns false if the record belongs to another store.
 */
export function hasLost(found: StoreProgress, record: StoreProgress | null): boolean {
  if (record === null || record.generationId !== found.generationId) return false;
  return (
    found.end < record.end ||
    found.revision < record.revision ||
    isBefore(found.observedThrough, record.observedThrough) ||
    isBefore(found.heartbeat, record.heartbeat) ||
    // Ignore the token if the store has none: such a store does not count its writers.
    (found.token !== null && isBefore(found.token, record.token))
  );
}

function isBefore(found: number | null, recorded: number | null): boolean {
  return recorded !== null && (found === null || found < recorded);
}

/** Reads the record next to the artifact. Returns null if the file does not exist or is not a valid record. */
export async function readStoreRecord(artifacts: string): Promise<StoreProgress | null> {
  const text = await readFile(join(artifacts, recordName), 'utf8').catch(() => null);
  if (text === null || text.length > maxBytes) return null;
  try {
    return progressIn(JSON.parse(text));
  } catch {
    return null;
  }
}

function progressIn(value: unknown): StoreProgress | null {
  if (!isObject(value)) return null;
  const { generation_id: generationId, token, revision } = value;
  const end = parseTimestamp(value.end);
  const isNumbered = Number.isSafeInteger(revision) && (token === null || Number.isSafeInteger(token));
  if (typeof generationId !== 'string' || end === null || !isNumbered) return null;
  return {
    generationId,
    token: token as number | null,
    revision: revision as number,
    end,
    observedThrough: parseTimestamp(value.observed_through),
    heartbeat: parseTimestamp(value.heartbeat),
  };
}

/** Writes the store record of a running instrument. */
export class StoreRecorder {
  readonly #artifacts: string;
  readonly #store: Pick<StoreWriter, 'frontier' | 'heartbeat' | 'tokens'>;
  #last: StoreProgress | null = null;
  /** Text of the last record that this object wrote. */
  #text = '';

  constructor(artifacts: string, store: Pick<StoreWriter, 'frontier' | 'heartbeat' | 'tokens'>) {
    this.#artifacts = artifacts;
    this.#store = store;
  }

  /**
   * Writes the progress of the store if it changed. Keeps a record that is ahead of the store, so that the next start
   * detects the lost data.
   */
  async update(): Promise<void> {
    this.#last ??= await readStoreRecord(this.#artifacts);
    const found = await progressOf(this.#store, this.#store.tokens?.own ?? this.#last?.token ?? null);
    if (!hasLost(found, this.#last)) await this.#replace(found);
  }

  /** Writes the progress of a store that this instrument begins to write, even if the existing record is ahead of it. */
  async begin(store = this.#store): Promise<void> {
    await this.#replace(await progressOf(store, store.tokens?.own ?? null));
  }

  async #replace(found: StoreProgress): Promise<void> {
    const { generationId, token, revision, end, observedThrough, heartbeat } = found;
    const text = JSON.stringify({
      ...{ generation_id: generationId, token, revision, end: formatMicros(end) },
      observed_through: observedThrough === null ? null : formatMicros(observedThrough),
      heartbeat: heartbeat === null ? null : formatMicros(heartbeat),
    });
    if (text === this.#text) return;
    makeFolder(this.#artifacts);
    await writeLines(join(this.#artifacts, recordName), [text]);
    this.#last = found;
    this.#text = text;
  }
}

/**
 * Files of the instrument. `almanac labels hold` and `release` replace two of them, and try again if their temporary
 * file was removed. The temporary files of `labels-hold.json` stay.
 */
const replacedNames = [
  ...[artifactNames.labels, artifactNames.labelers, artifactNames.labelerDefinitions, artifactNames.labelsHours],
  recordName,
];

/**
 * Removes the temporary files that a killed instrument left in the directory of the artifacts. The caller must be the
 * writer of the store. Never rejects.
 */
export function sweepArtifactTemporaries(artifacts: string, log: Log): Promise<void> {
  return sweepTemporaries(artifacts, replacedNames, log);
}
