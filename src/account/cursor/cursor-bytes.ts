import { labelActions, targetKinds } from '../../contract/vocabulary.ts';
import { micros } from '../../store/time.ts';
import type { AccountFilters } from '../query/row.ts';
import type { Cursor, GenerationMark, Progress, Snapshot } from '../query/snapshot.ts';

/**
 * Binary encoding of cursors. It is compact because the text of a cursor must fit into 1 KiB even with two DIDs and a
 * label value of maximum length. Integers are big-endian; instants are microseconds since 1970 in 7 bytes.
 */

const kinds = ['export', 'snapshot'] as const;
const clippedFlag = 1;
const labelerFlag = 2;
const valueFlag = 4;
const prefixes = ['did:plc:', 'did:web:'] as const;
const digestBytes = 32;
/** Instant that encodes the position of an export whose first row has not been read. */
const noPosition = 0;

/** Encodes a cursor as bytes. */
export function cursorBytes(cursor: Cursor): Buffer {
  const { snapshot } = cursor;
  const { filters } = snapshot;
  const parts = [
    byte(kinds.indexOf(cursor.kind)),
    byte(
      (snapshot.clipped ? clippedFlag : 0) |
        (filters.labeler === undefined ? 0 : labelerFlag) |
        (filters.value === undefined ? 0 : valueFlag) |
        ((filters.action === undefined ? 0 : labelActions.indexOf(filters.action) + 1) << 3) |
        ((filters.target_kind === undefined ? 0 : targetKinds.indexOf(filters.target_kind) + 1) << 5),
    ),
    Buffer.from(snapshot.generation, 'hex'),
    instant(snapshot.start),
    instant(snapshot.end),
    instant(snapshot.askedStart),
    instant(snapshot.frontier),
    whole(snapshot.countBound, 4),
    whole(snapshot.pageRows, 2),
    whole(snapshot.createdAt, 6),
    whole(snapshot.expiresAt, 6),
    did(snapshot.account),
  ];
  if (filters.labeler !== undefined) parts.push(did(filters.labeler));
  if (filters.value !== undefined) parts.push(sized(filters.value));
  if (cursor.kind === 'export') {
    const { position, count, digest } = cursor.progress;
    parts.push(instant(position ?? noPosition), whole(count, 4), digest);
  }
  return Buffer.concat(parts);
}

/** Decodes the result of `cursorBytes`. Throws a RangeError if the bytes are truncated. */
export function cursorOfBytes(bytes: Buffer): Cursor {
  const read = reader(bytes);
  const kind = kinds[read.whole(1)];
  const flags = read.whole(1);
  const generation = read.bytes(8).toString('hex') as GenerationMark;
  const fixed = {
    start: micros(read.instant()),
    end: micros(read.instant()),
    askedStart: micros(read.instant()),
    frontier: micros(read.instant()),
    countBound: read.whole(4),
    pageRows: read.whole(2),
    createdAt: read.whole(6),
    expiresAt: read.whole(6),
  };
  const account = read.did();
  const filters = filtersOf(flags, read);
  const snapshot: Snapshot = { ...fixed, account, generation, filters, clipped: (flags & clippedFlag) !== 0 };
  if (kind === 'snapshot') return { kind, snapshot };
  const position = read.instant();
  const progress: Progress = {
    position: position === noPosition ? null : micros(position),
    count: read.whole(4),
    digest: read.bytes(digestBytes),
  };
  return { kind: 'export', snapshot, progress };
}

function filtersOf(flags: number, read: ReturnType<typeof reader>): AccountFilters {
  const action = labelActions[((flags >> 3) & 3) - 1];
  const kind = targetKinds[((flags >> 5) & 3) - 1];
  return {
    ...(flags & labelerFlag ? { labeler: read.did() } : {}),
    ...(flags & valueFlag ? { value: read.sized() } : {}),
    ...(action ? { action } : {}),
    ...(kind ? { target_kind: kind } : {}),
  };
}

function byte(value: number): Buffer {
  return Buffer.from([value]);
}

function whole(value: number, size: 2 | 4 | 6): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntBE(value, 0, size);
  return bytes;
}

function instant(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes.subarray(1);
}

function sized(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([byte(bytes.length), bytes]);
}

function did(text: string): Buffer {
  const method = prefixes.findIndex((prefix) => text.startsWith(prefix));
  return Buffer.concat([byte(method), sized(text.slice(prefixes[method]?.length))]);
}

function reader(bytes: Buffer) {
  let at = 0;
  function take(size: number): Buffer {
    if (at + size > bytes.length) throw new RangeError('the cursor is truncated');
    at += size;
    return bytes.subarray(at - size, at);
  }
  function text(): string {
    return take(take(1).readUInt8()).toString();
  }
  return {
    bytes: (size: number): Buffer => Buffer.from(take(size)),
    whole: (size: 1 | 2 | 4 | 6): number => take(size).readUIntBE(0, size),
    instant: (): number => Number(Buffer.concat([byte(0), take(7)]).readBigUInt64BE()),
    sized: text,
    did: (): string => `${prefixes[take(1).readUInt8()] ?? ''}${text()}`,
  };
}
