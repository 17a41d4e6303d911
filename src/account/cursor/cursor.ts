import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { chmodSync, closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Micros } from '../../contract/timestamp.ts';
import { labelActions, targetKinds } from '../../contract/vocabulary.ts';
import { inputLimits } from '../../input/limits.ts';
import { makeFolder, OperatorError, systemCode, systemWords } from '../../ops/errors.ts';
import type { Frontier } from '../../store/port.ts';
import { type Interval, micros } from '../../store/time.ts';
import type { AccountFilters } from '../query/query.ts';

/** Content of a cursor: an export at its next page, or the snapshot of a download. */
export type Cursor =
  | { readonly kind: 'export'; readonly snapshot: Snapshot; readonly progress: Progress }
  | { readonly kind: 'snapshot'; readonly snapshot: Snapshot };

/**
 * Snapshot of an account, which fixes the content of an export when it is created. It contains all parameters that the
 * pages and the manifest depend on. Snapshots are stored only in cursors, so that any process can continue an export
 * without further state.
 */
export interface Snapshot extends Interval {
  /** DID of the account. */
  readonly account: string;
  /** Start of the requested interval before it was clipped to the window. */
  readonly askedStart: Micros;
  readonly clipped: boolean;
  readonly filters: AccountFilters;
  /** Mark of the store's generation and revision when the export was created. */
  readonly generation: GenerationMark;
  /** Acceptance time from which rows are excluded. */
  readonly frontier: Micros;
  /**
   * Time of the latest accepted page, or null if there was none. Only the snapshot of a download has it, because its
   * manifest is created later, and the cursor of an export has no space for it. Downloads of earlier versions lack it.
   */
  readonly observedThrough?: Micros | null;
  /** Number of the account's rows in the interval, before the filters are applied. */
  readonly countBound: number;
  /** Maximum number of rows on a page. */
  readonly pageRows: number;
  /** Creation time, in milliseconds since 1970. */
  readonly createdAt: number;
  /** Expiry time, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Sixteen hex digits that identify a generation and revision of the store; see `markOf`. */
type GenerationMark = string & { readonly __mark: 'generation' };

/** Progress of an export. */
export interface Progress {
  /** Stamp of the last row that was read, or null before the first row. */
  readonly position: Micros | null;
  /** Number of rows returned so far. */
  readonly count: number;
  /** Digest of the manifest and the rows returned so far: 32 bytes. */
  readonly digest: Buffer;
}

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** Encrypts and decrypts cursors. A process can open the cursors of any other process with the same secrets. */
export interface Cursors {
  /** Encrypts a cursor and returns it as text. Equal cursors have equal text. */
  seal(cursor: Cursor): string;
  /** Decrypts a cursor. Returns null unless one of the secrets sealed exactly this text. */
  open(text: string): Cursor | null;
}

interface Keys {
  readonly cipher: Buffer;
  readonly nonce: Buffer;
}

/** Creates a `Cursors` from secrets of 32 bytes each. The first secret seals cursors; all secrets open them. */
export function createCursors(secrets: readonly [Buffer, ...Buffer[]]): Cursors {
  const [current, ...others] = secrets.map(keysOf) as [Keys, ...Keys[]];
  return {
    seal: (cursor) => seal(current, cursorBytes(cursor)).toString('base64url'),
    open(text) {
      if (text.length > inputLimits.cursor.bytes) return null;
      const bytes = Buffer.from(text, 'base64url');
      // Refuse a different base64 encoding of the same bytes, because this service never issues it.
      if (bytes.length <= nonceBytes + tagBytes || bytes.toString('base64url') !== text) return null;
      for (const keys of [current, ...others]) {
        const plain = unseal(keys, bytes);
        if (plain) return cursorOfBytes(plain);
      }
      return null;
    },
  };
}

function keysOf(secret: Buffer): Keys {
  const derive = (use: string): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, '', `almanac account cursor v1 ${use}`, 32));
  return { cipher: derive('cipher'), nonce: derive('nonce') };
}

/**
 * Encrypts a cursor with a nonce that is derived from its content, so that equal cursors have equal text and different
 * cursors have different nonces.
 */
function seal(keys: Keys, plain: Buffer): Buffer {
  const nonce = createHmac('sha256', keys.nonce).update(plain).digest().subarray(0, nonceBytes);
  const sealing = createCipheriv(cipher, keys.cipher, nonce);
  const sealed = Buffer.concat([sealing.update(plain), sealing.final()]);
  return Buffer.concat([nonce, sealed, sealing.getAuthTag()]);
}

function unseal(keys: Keys, bytes: Buffer): Buffer | null {
  const opening = createDecipheriv(cipher, keys.cipher, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
  opening.setAuthTag(bytes.subarray(-tagBytes));
  try {
    return Buffer.concat([opening.update(bytes.subarray(nonceBytes, -tagBytes)), opening.final()]);
  } catch {
    // The text was altered or was sealed with another secret; the two cases cannot be distinguished.
    return null;
  }
}

/** Returns the mark of a store's generation and revision. A cursor with a different mark is no longer valid. */
export function markOf({ generationId, revision }: Pick<Frontier, 'generationId' | 'revision'>): GenerationMark {
  // Omit revision 0, so that cursors that were issued before revisions existed keep their mark.
  const text = revision === 0 ? generationId : `${generationId} ${revision}`;
  return createHash('sha256').update(text).digest('hex').slice(0, 16) as GenerationMark;
}

/** Secrets that encrypt cursors, the current one first. */
type Secrets = readonly [Buffer, ...Buffer[]];

/** Maximum number of secrets: the current one and the previous one. */
const maxSecrets = 2;

/**
 * Reads the secrets from a file with 64 hex digits per line, the current secret first. Creates a missing file with a
 * new secret, readable only by its owner; if two processes do so concurrently, both use the same secret. Throws an
 * OperatorError if the file cannot be read or created, or has any other content.
 */
export function readSecrets(path: string): Secrets {
  try {
    return parseSecrets(path, readOrMake(path));
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`cannot read or create the secret file ${path}: ${systemWords(error)}`);
  }
}

function readOrMake(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
  make(path);
  return readFileSync(path, 'utf8');
}

/**
 * Creates a secret file with a new secret, atomically: it is written under a temporary name, so that no process reads a
 * partial file.
 */
function make(path: string): void {
  makeFolder(dirname(path));
  const growing = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const file = openSync(growing, 'wx', 0o600);
  try {
    // Set the mode again: the umask may have removed permissions when the file was created.
    chmodSync(growing, 0o600);
    writeSync(file, `${randomBytes(32).toString('hex')}\n`);
    fsyncSync(file);
    linkSync(growing, path);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  } finally {
    closeSync(file);
    rmSync(growing, { force: true });
  }
}

function parseSecrets(path: string, text: string): Secrets {
  const lines = text.split('\n').flatMap((line) => line.trim() || []);
  const [first, ...rest] = lines.filter((line) => /^[0-9a-f]{64}$/i.test(line)).map((line) => Buffer.from(line, 'hex'));
  if (first === undefined || lines.length > maxSecrets || rest.length + 1 !== lines.length) {
    throw new OperatorError(
      `the secret file ${path} must have one or two lines of 64 hex digits each, the current secret first`,
    );
  }
  return [first, ...rest];
}

/**
 * Binary encoding of cursors. It is compact because the text of a cursor must fit into 1 KiB even with two DIDs and a
 * label value of maximum length. Integers are big-endian; instants are microseconds since 1970 in 7 bytes.
 */

const kinds = ['export', 'snapshot'] as const;
const clippedFlag = 1;
const labelerFlag = 2;
const valueFlag = 4;
/** Follows the three flags above and two numbers of two bits each. */
const observedFlag = 128;
const prefixes = ['did:plc:', 'did:web:'] as const;
const digestBytes = 32;
/**
 * Instant that encodes the position of an export whose first row has not been read, and the time of the latest page if
 * none was accepted.
 */
const noInstant = 0;

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
        (snapshot.observedThrough === undefined ? 0 : observedFlag) |
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
    parts.push(instant(position ?? noInstant), whole(count, 4), digest);
  }
  // At the end, where earlier versions ignore it: during an upgrade, processes of two versions may open the same cursors.
  if (snapshot.observedThrough !== undefined) parts.push(instant(snapshot.observedThrough ?? noInstant));
  return Buffer.concat(parts);
}

/** Decodes the result of `cursorBytes`. Throws a RangeError if the bytes are truncated. */
function cursorOfBytes(bytes: Buffer): Cursor {
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
  const progress = kind === 'export' ? progressOf(read) : null;
  const observed = flags & observedFlag ? { observedThrough: orNull(read.instant()) } : {};
  const clipped = (flags & clippedFlag) !== 0;
  const snapshot: Snapshot = { ...fixed, account, generation, filters, clipped, ...observed };
  return progress === null ? { kind: 'snapshot', snapshot } : { kind: 'export', snapshot, progress };
}

function progressOf(read: ReturnType<typeof reader>): Progress {
  return { position: orNull(read.instant()), count: read.whole(4), digest: read.bytes(digestBytes) };
}

function orNull(value: number): Micros | null {
  return value === noInstant ? null : micros(value);
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
