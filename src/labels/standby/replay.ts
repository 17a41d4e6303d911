import type { Micros } from '../../contract/timestamp.ts';
import { labelBytes, type RefusedRowsChange } from '../../store/label.ts';
import {
  type Batch,
  maxBatchRows,
  type NewObservation,
  type Position,
  type PositionChange,
  type Refusal,
  type StoreWriter,
} from '../../store/port.ts';
import type { Purge } from '../../store/removals.ts';
import type { DefinitionShares, Definitions } from '../../store/roster.ts';
import { micros, second } from '../../store/time.ts';
import type { RefusedMerge } from '../ingest/refused-memory.ts';
import type { RepeatMemory } from '../repeats/repeats.ts';
import { type FilledIn, type PageChanges, shortDelay } from '../state/filled-in.ts';
import type { Kept, KeptRow } from './kept.ts';

/** Maximum total size of the labels, or of the definitions, in one commit, in bytes. */
const maxCommitBytes = 2 * 1024 * 1024;
/**
 * Maximum number of positions, of buckets of refused rows or of definitions in one commit. A position or a bucket has
 * at most 4 KB.
 */
const maxTexts = 200;

/** Dependencies of `replay`. */
interface ReplayOptions {
  readonly clock: () => Micros;
  readonly refused: RefusedMerge;
  /** Returns true for a labeler in the roster of this standby or of the former writer. */
  readonly isKnown: (did: string) => boolean;
  /** Rules for removing definitions when the space for definitions is full. */
  readonly shares: DefinitionShares;
  readonly repeats: Pick<RepeatMemory, 'find'>;
  readonly filledIn: Pick<FilledIn, 'covering'>;
  /** Positions that the former writer stored. */
  readonly stored: readonly Position[];
}

/**
 * Stores the data that a standby kept: the keys, the rows, the counts of refused rows, the positions after all these
 * rows, and the definitions that are newer than those of the store. Pages keep the times at which they were accepted,
 * because storing them is not an observation; a position has the time of its last page in either instrument. Removes the
 * rows from memory. Does not store purged rows, or keys and definitions of labelers that are no longer known. Returns the
 * number of rows that the store did not contain yet, and the number of rows that it already contained.
 */
export async function replay(
  kept: Kept,
  store: Pick<StoreWriter, 'append' | 'purges' | 'putKeys' | 'putDefinitions' | 'definitions'>,
  { clock, refused, repeats, filledIn, isKnown, shares, stored }: ReplayOptions,
): Promise<{ readonly rows: number; readonly known: number }> {
  const result = { rows: 0, known: 0 };
  const append = async (content: Partial<Batch>, at = clock()): Promise<void> => {
    const pagesAt = kept.pagesAt === null ? null : earlier(kept.pagesAt, at);
    const batch = { observations: [], refusals: [], positions: [], ...content, at, pagesAt };
    const { accepted, duplicates } = await store.append(batch);
    result.rows += accepted;
    result.known += duplicates.length;
  };
  // Store the keys before the rows, because repeats are looked for only after a change of key.
  // Nothing would remove the keys or definitions of a labeler that both rosters have evicted.
  await store.putKeys([...kept.keys].filter(({ did }) => isKnown(did)));
  const drained = withoutPurged(kept.rows.drain(), await store.purges());
  // The kept rows are stored together, some time after they arrived.
  const since = micros(drained.reduce<number>((oldest, { acceptedAt }) => Math.min(oldest, acceptedAt), clock()));
  for (const part of parts(drained, ({ observation }) => labelBytes(observation.label), maxBatchRows)) {
    const now = clock();
    const observations = part.map((row) => observationAt(now, row));
    const marks: { readonly one: PageChanges; readonly acceptedAt: Micros }[] = [];
    for (const [source, own] of Map.groupBy(part, ({ observation }) => observation.label.src)) {
      const labels = own.map(({ observation }) => observation);
      const acceptedAt = earlier(own.at(-1)?.acceptedAt ?? now, now);
      marks.push({ one: await repeats.find(source, labels), acceptedAt });
      marks.push({ one: filledIn.covering(source, since), acceptedAt });
    }
    const at = clock();
    const positions = marks.flatMap(({ one, acceptedAt }) =>
      one.changesAt(at).map((change) => ({ ...change, acceptedAt })),
    );
    await append({ observations, positions }, at);
    for (const { one } of marks) one.committed();
  }
  for (const part of refusedParts(refused)) await append(part);
  // Store the counts of refused rows before the positions: after a crash between the two, the rows are read again and
  // are not counted twice.
  for (const positions of chunks(datedPositions(kept, stored, clock()), maxTexts)) await append({ positions });
  const definitions = [...kept.definitions].filter(({ did }) => isKnown(did));
  for (const part of parts(definitions, ({ content }) => content.length, maxTexts)) {
    const newer: Definitions[] = [];
    for (const one of part) {
      const [newest] = await store.definitions(one.did);
      if (newest === undefined || newest.seenAt < one.seenAt) newer.push(one);
    }
    if (newer.length > 0) await store.putDefinitions(newer, shares);
  }
  return result;
}

/**
 * Returns a kept row as it is stored at `now`. A row that was kept for longer than a short delay is not live, because its
 * delay would include the time for which it was kept.
 */
function observationAt(now: Micros, { observation, acceptedAt }: KeptRow): NewObservation {
  return now - acceptedAt > shortDelay ? { ...observation, live: false } : observation;
}

/**
 * Returns the kept positions with the time of the last page of each: that of the standby, or a later one of the writer.
 */
function datedPositions(kept: Kept, stored: readonly Position[], now: Micros): readonly PositionChange[] {
  const writers = new Map(stored.map((one) => [`${one.source} ${one.endpoint}`, one.acceptedAt]));
  return Array.from(kept.positions, (one) => {
    if (one.acceptedAt === undefined) return one;
    const acceptedAt = Math.max(one.acceptedAt, writers.get(`${one.source} ${one.endpoint}`) ?? 0);
    return { ...one, acceptedAt: earlier(micros(acceptedAt), now) };
  });
}

/** Returns the earlier time: a page may be dated ahead if the clock was set back after it was accepted. */
function earlier(acceptedAt: Micros, now: Micros): Micros {
  return micros(Math.min(acceptedAt, now));
}

/** Divides changes into commits, in order. Each commit has at most `maxCommitBytes`, or a single change. */
function* parts<T>(all: readonly T[], bytesOf: (one: T) => number, maxCount: number): Generator<readonly T[]> {
  let part: T[] = [];
  let bytes = 0;
  for (const one of all) {
    const size = bytesOf(one);
    if (part.length >= maxCount || (part.length > 0 && bytes + size > maxCommitBytes)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(one);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

/** Divides refused rows into commits, each with the counts and the remembered rows of the same sources. */
function* refusedParts({ refusals, changes }: RefusedMerge): Generator<RefusedPart> {
  const counted = Map.groupBy(refusals, ({ source }) => source);
  const changed = Map.groupBy(changes, ({ source }) => source);
  let part: RefusedPart = { refusals: [], refusedRows: [] };
  for (const source of new Set([...counted.keys(), ...changed.keys()])) {
    for (const [reason, all] of Map.groupBy(counted.get(source) ?? [], (one) => one.reason)) {
      part.refusals.push({ source, reason, count: all.length });
    }
    part.refusedRows.push(...(changed.get(source) ?? []));
    if (part.refusals.length < maxTexts && part.refusedRows.length < maxTexts) continue;
    yield part;
    part = { refusals: [], refusedRows: [] };
  }
  if (part.refusals.length > 0 || part.refusedRows.length > 0) yield part;
}

interface RefusedPart {
  readonly refusals: Refusal[];
  readonly refusedRows: RefusedRowsChange[];
}

function* chunks<T>(all: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size);
}

/** Time within which a standby notices a denial, in microseconds: twice the interval between its reads of the list. */
const noticedWithin = 10 * second;

/**
 * Returns the kept rows without those that a purge removed from the store, or would have removed. The former writer
 * stops reading a denied labeler before the standby does, so some rows are only in the standby; such rows must not be
 * stored after the purge.
 */
export function withoutPurged(rows: readonly KeptRow[], purges: readonly Purge[]): readonly KeptRow[] {
  const requested = new Map(purges.map(({ source, requestedAt }) => [source, requestedAt]));
  return rows.filter(({ observation, acceptedAt }) => {
    const at = requested.get(observation.label.src);
    return at === undefined || acceptedAt > at + noticedWithin;
  });
}
