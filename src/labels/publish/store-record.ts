import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../artifact/write.ts';
import { formatMicros, type Micros, parseTimestamp } from '../../contract/timestamp.ts';
import { isObject } from '../../input/json-budget.ts';
import { makeFolder } from '../../ops/errors.ts';
import type { StoreReader, StoreWriter } from '../../store/port.ts';

/** Progress of a store at the time at which an instrument read it. */
export interface StoreProgress {
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
export async function progressOf(
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
    if (!hasLost(found, this.#last)) await this.replace(found);
  }

  /** Writes the progress of the store, even if the existing record is ahead of it. */
  async replace(found: StoreProgress): Promise<void> {
    const { generationId, token, revision, end, observedThrough, heartbeat } = found;
    const text = JSON.stringify({
      ...{ generation_id: generationId, token, revision, end: formatMicros(end) },
      observed_through: observedThrough === null ? null : formatMicros(observedThrough),
      heartbeat: heartbeat === null ? null : formatMicros(heartbeat),
    });
    if (text === this.#text) return;
    makeFolder(this.#artifacts);
    await replaceFile(join(this.#artifacts, recordName), (file) => file.writeFile(`${text}\n`));
    this.#last = found;
    this.#text = text;
  }
}
