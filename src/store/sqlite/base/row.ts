import { type SignatureVerdict, signatureVerdicts } from '../../../contract/vocabulary.ts';
import { StoreError } from '../../errors.ts';
import {
  decodeBase32,
  encodeBase32,
  exactMillis,
  identityText,
  joinUri,
  packCid,
  type ReceivedLabel,
  splitUri,
  type UriParts,
  unpackCid,
} from '../../label.ts';
import type { NewObservation, Observation } from '../../port.ts';
import { micros } from '../../time.ts';
import type { Sqlite } from './connection.ts';

/** Tables in which a day stores each distinct labeler, value and collection name once. */
export type NameTable = 'source' | 'val' | 'collection';
/** Returns the numeric id of a text in a day's file, and adds the text if it is new. */
export type Intern = (table: NameTable, name: string) => number;
/** Returns the text with a numeric id in a day's file. */
export type NameOf = (table: NameTable, id: number) => string;

/** Stored form of a subject: bytes for a did:plc, text for any other DID. */
export type SubjectKey = Buffer | string;

/** A row as open and sealed days store it, in the order of `rowColumns`. */
export type StoredRow = readonly [
  id: number,
  subject: SubjectKey,
  source: number,
  val: number,
  collection: number | null,
  rest: string | null,
  flags: number,
  ver: number | null,
  cts: number | null,
  ctsText: string | null,
  cid: Buffer | string | null,
  exp: string | null,
  sig: Uint8Array | null,
  extra: Uint8Array | null,
];

/** Columns of a row in open and sealed days, in the order of `StoredRow`. */
export const rowColumns = 'id, subject, source, val, collection, rest, flags, ver, cts, cts_text, cid, exp, sig, extra';
const rowLength = 14;

/**
 * Bits of `flags`. Bits 0 and 1 state whether `neg` was sent and whether it was true, bits 2, 3 and 6 the signature
 * verdict, and bits 4 and 5 the kind of `uri`. Bit 7 is set if the label was live; earlier versions did not store it.
 */
const negSent = 1;
const negTrue = 2;
/**
 * Bits of `flags` for each verdict. Earlier versions, which ignore bit 6, read `verified_earlier_key` as `verified`.
 */
const verdictFlags: Readonly<Record<SignatureVerdict, number>> = {
  verified: 0,
  invalid: 1 << 2,
  unsigned: 2 << 2,
  unverified: 3 << 2,
  verified_earlier_key: 1 << 6,
};
const verdictBits = (3 << 2) | (1 << 6);
const verdictOf: ReadonlyMap<number, SignatureVerdict> = new Map(
  signatureVerdicts.map((verdict) => [verdictFlags[verdict], verdict]),
);
const kindShift = 4;
const kinds = ['account', 'record', 'other'] as const;
/** Bit of `flags` that is set for a removal, for use in SQL. */
export const removalFlag = negTrue;

/** Bit of `flags` that is set for a live label. */
export const liveFlag = 1 << 7;

/** Bits of `flags` that are zero only if the label is about the account itself, for use in SQL. */
export const recordBits = 3 << kindShift;

const plcPrefix = 'did:plc:';
const plcLength = plcPrefix.length + 24;

/** Returns the key by which an account's rows are sorted. */
export function subjectKey(did: string): SubjectKey {
  if (did.length !== plcLength || !did.startsWith(plcPrefix)) return did;
  return decodeBase32(did, plcPrefix.length) ?? did;
}

/** Returns the DID of the account that a subject key denotes. */
export function subjectDid(key: SubjectKey): string {
  return typeof key === 'string' ? key : plcPrefix + encodeBase32(key);
}

/** Returns a text that is unique to a subject key. The texts of byte keys and of text keys never collide. */
export function subjectName(key: SubjectKey): string {
  return typeof key === 'string' ? `text ${key}` : `bytes ${key.toString('latin1')}`;
}

/** Returns true if two keys denote the same subject. */
export function sameKey(a: SubjectKey, b: SubjectKey): boolean {
  return typeof a === 'string' || typeof b === 'string' ? a === b : a.equals(b);
}

/** Encodes an observation as a row. Throws `invalid_observation` if its label has no subject. */
export function encodeRow(id: number, { label, signature, live = false }: NewObservation, intern: Intern): StoredRow {
  const parts = splitUri(label.uri);
  if (!parts) throw new StoreError('invalid_observation', 'the uri of a label contains no DID');
  const milliseconds = exactMillis(label.cts);
  return [
    id,
    subjectKey(parts.did),
    intern('source', label.src),
    intern('val', label.val),
    parts.kind === 'record' ? intern('collection', parts.collection) : null,
    parts.kind === 'record' ? parts.rkey : parts.kind === 'other' ? parts.rest : null,
    flagsOf(label, signature, parts) | (live ? liveFlag : 0),
    label.ver ?? null,
    milliseconds,
    milliseconds === null ? label.cts : null,
    label.cid === undefined ? null : (packCid(label.cid) ?? label.cid),
    label.exp ?? null,
    label.sig ?? null,
    label.extra ?? null,
  ];
}

/**
 * Decodes a stored row. Every field of the label has the value that was received. `did` is the DID of the row's subject,
 * if the caller knows it.
 */
export function decodeRow(row: StoredRow, nameOf: NameOf, did = subjectDid(row[1])): Observation {
  const [id, , source, val, collection, rest, flags, ver, cts, ctsText, cid, exp, sig, extra] = row;
  // Assign the optional fields one by one, which takes a third of the time of spreading an object for each.
  const label: { -readonly [Name in keyof ReceivedLabel]: ReceivedLabel[Name] } = {
    src: nameOf('source', source),
    uri: joinUri(partsOf(did, (flags >> kindShift) & 3, collection, rest, nameOf)),
    val: nameOf('val', val),
    cts: ctsText ?? new Date(cts ?? Number.NaN).toISOString(),
  };
  if (ver !== null) label.ver = ver;
  if (cid !== null) label.cid = typeof cid === 'string' ? cid : unpackCid(cid);
  if ((flags & negSent) !== 0) label.neg = (flags & negTrue) !== 0;
  if (exp !== null) label.exp = exp;
  if (sig !== null) label.sig = sig;
  if (extra !== null) label.extra = extra;
  return { observedAt: micros(id), label, signature: verdictIn(flags) };
}

/**
 * Decodes a row of an open day, which has the identity as an additional column. Throws `damaged` if the identity does
 * not match the label.
 */
export function decodeOpenRow(row: StoredRow, nameOf: NameOf, path: string, did?: string): Observation {
  const observation = decodeRow(row, nameOf, did);
  const identity: unknown = row.at(rowLength);
  if (Buffer.isBuffer(identity) && identityText(observation.label) === identity.toString('latin1')) return observation;
  throw new StoreError('damaged', `${path}: row ${row[0]} differs from the label that was accepted`);
}

/** Returns the signature verdict in the `flags` of a row. */
export function verdictIn(flags: number): SignatureVerdict {
  return verdictOf.get(flags & verdictBits) ?? 'unverified';
}

function flagsOf(label: ReceivedLabel, signature: SignatureVerdict, parts: UriParts): number {
  const neg = label.neg === undefined ? 0 : label.neg ? negSent | negTrue : negSent;
  return neg | verdictFlags[signature] | (kinds.indexOf(parts.kind) << kindShift);
}

function partsOf(did: string, kind: number, collection: number | null, rest: string | null, nameOf: NameOf): UriParts {
  const name = kinds[kind];
  if (name === 'record' && collection !== null) {
    return { kind: 'record', did, collection: nameOf('collection', collection), rkey: rest ?? '' };
  }
  return name === 'account' ? { kind: 'account', did } : { kind: 'other', did, rest: rest ?? '' };
}

/**
 * Packed acceptance times of one source's rows in one minute. Each row is a varint: the difference between its offset
 * and the previous row's offset in microseconds, shifted left by one, plus one bit that marks a removal. With the
 * stamps, rows at the edges of a window can be counted exactly, so that a sealed day needs no index by time.
 */

/** Offset of one accepted row within its minute, in microseconds. */
export interface Stamp {
  readonly offset: number;
  readonly removed: boolean;
}

/** Packs the stamps of a minute. The offsets must not decrease. */
export function packStamps(stamps: readonly Stamp[]): Buffer {
  const bytes: number[] = [];
  let before = 0;
  for (const { offset, removed } of stamps) {
    let value = (offset - before) * 2 + (removed ? 1 : 0);
    before = offset;
    while (value >= 0x80) {
      bytes.push((value & 0x7f) | 0x80);
      value = value >>> 7;
    }
    bytes.push(value);
  }
  return Buffer.from(bytes);
}

/** Unpacks the stamps of a minute. */
export function* unpackStamps(bytes: Uint8Array): Generator<Stamp> {
  let offset = 0;
  let value = 0;
  let shift = 0;
  for (const byte of bytes) {
    value += (byte & 0x7f) * 2 ** shift;
    shift += 7;
    if (byte < 0x80) {
      offset += value >>> 1;
      yield { offset, removed: (value & 1) === 1 };
      value = 0;
      shift = 0;
    }
  }
}

/** Functions that write one commit's changes to each table, with prepared statements, in the caller's transaction. */

/** An accepted observation with its stamp and identity. */
export interface AcceptedRow {
  readonly observation: NewObservation;
  readonly at: number;
  readonly identity: Buffer;
}

/** Stores rows in an open day, in the caller's transaction. The caller must call `forget` if the transaction fails. */
export class RowWriter {
  /** Returns the numeric id of a text in the day's file, and adds the text if it is new. */
  readonly intern: Intern;
  readonly #names = new RememberedNames();
  readonly #insert: (row: StoredRow, identity: Buffer) => void;

  constructor(db: Sqlite) {
    const statements = new Map(
      (['source', 'val', 'collection'] as const).map((table) => [
        table,
        {
          find: db.prepare<[string], number>(`SELECT id FROM ${table} WHERE name = ?`).pluck(),
          insert: db.prepare<[string], number>(`INSERT INTO ${table}(name) VALUES (?) RETURNING id`).pluck(),
        },
      ]),
    );
    this.intern = (table, name) => {
      const known = this.#names.get(table, name);
      if (known !== undefined) return known;
      const { find, insert } = statements.get(table) ?? {};
      const id = find?.get(name) ?? insert?.get(name);
      if (id === undefined) throw new StoreError('damaged', `${db.name}: the table ${table} assigned no id`);
      this.#names.set(table, name, id);
      return id;
    };
    const insert = db.prepare(
      `INSERT INTO observation(${rowColumns}, identity) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#insert = (row, identity) => void insert.run(...row, identity);
  }

  /** Stores observations, and returns the stored rows. */
  write(accepted: readonly AcceptedRow[]): StoredRow[] {
    return accepted.map(({ observation, at, identity }) => {
      const row = encodeRow(at, observation, this.intern);
      this.#insert(row, identity);
      return row;
    });
  }

  /** Discards the cached ids: a rolled-back transaction may have assigned ids that do not exist in the file. */
  forget(): void {
    this.#names.clear();
  }
}

/** Maximum number of cached texts. Above this number, the cache is emptied. */
const maxRemembered = 100_000;
/** Maximum memory of the cache, in bytes. Above this size, the cache is emptied. */
const maxRememberedBytes = 16 * 1024 * 1024;
/** Estimated memory per entry without its text, in bytes. */
const entryBytes = 64;

/** Cache of the numeric ids of texts in a day's file, bounded in entries and memory. */
export class RememberedNames {
  readonly #names = new Map<string, number>();
  #bytes = 0;

  get(table: NameTable, name: string): number | undefined {
    return this.#names.get(keyOf(table, name));
  }

  set(table: NameTable, name: string, id: number): void {
    const key = keyOf(table, name);
    // Assume the maximum of two bytes per character. A text with only Latin-1 characters takes one byte per
    // character.
    const bytes = 2 * key.length + entryBytes;
    if (this.#names.size >= maxRemembered || this.#bytes + bytes > maxRememberedBytes) this.clear();
    this.#names.set(key, id);
    this.#bytes += bytes;
  }

  clear(): void {
    this.#names.clear();
    this.#bytes = 0;
  }

  /** Upper bound of the memory in use, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }
}

function keyOf(table: NameTable, name: string): string {
  return `${table} ${name}`;
}
