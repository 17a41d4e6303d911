import { hash } from 'node:crypto';
import type { SignatureVerdict, TargetKind } from '../../../contract/vocabulary.ts';
import { StoreError } from '../../errors.ts';
import {
  cidBytes,
  exactMillis,
  identityText,
  packCid,
  postCollection,
  type ReceivedLabel,
  splitUri,
  unpackCid,
} from '../../label.ts';
import type { NewObservation, Observation } from '../../port.ts';
import { micros } from '../../time.ts';

/** Target kinds; the table stores the index. */
export const targets = ['account', 'post', 'record'] as const satisfies readonly TargetKind[];
/** Signature verdicts; `flags` stores the index. */
const verdicts = [
  'verified',
  'invalid',
  'unsigned',
  'unverified',
  'verified_earlier_key',
] as const satisfies readonly SignatureVerdict[];

const negSent = 1;
/** Bit in `flags` that marks a removal, for use in SQL. */
export const removalFlag = 2;
const liveFlag = 4;
/** Bit in `flags` that is set if `rest` contains the complete uri, because the subject key is a hash. */
const hashedFlag = 8;
const verdictShift = 4;
const verdictMask = 7;
/** Bit in `flags` that is set if `body` contains packed fields; in rows of earlier versions it is the signature. */
const packedFlag = 256;

const prefix = 'at://';
const postPrefix = `/${postCollection}/`;
/** DIDs whose subject key is the text after `plcPrefix`. No other subject key lacks a colon. */
const shortened = /^did:plc:[^:]{24}$/;
const plcPrefix = 'did:plc:';
/**
 * Maximum length of a DID that is used unchanged as the subject key. A page of an index has room for few long keys, and
 * a label may name a DID of any length.
 */
const maxKeyLength = 256;

/** Fields in the first byte of a packed body. The fields follow in this order, and the signature ends the body. */
const inBody = { version1: 1, cts: 2, cid: 4, postKey: 8, signature: 16 } as const;
const ctsBytes = 6;
const maxPostKeyBytes = 255;

/** The columns of a row that its label determines. */
interface LabelColumns {
  readonly target: number;
  readonly flags: number;
  readonly ver: number | null;
  readonly subject: string;
  readonly val: string;
  readonly rest: string | null;
  readonly cts: string | null;
  readonly cid: string | null;
  readonly exp: string | null;
  readonly body: Uint8Array | null;
  readonly extra: Uint8Array | null;
}

/** A row as returned by a query, with the key of its subject. */
export interface RowRecord extends Omit<LabelColumns, 'target'> {
  readonly at: number;
  readonly did: string;
  readonly identity: Buffer;
}

/** Columns of a `RowRecord`, from the tables `observation o` and `source s`. */
export const recordColumns =
  'o.at, s.did, o.flags, o.ver, o.subject, o.val, o.rest, o.cts, o.cid, o.exp, o.identity, o.body, o.extra';

/** A row to be stored; `source` is the numeric id of its labeler. */
export interface NewRow extends LabelColumns {
  readonly at: number;
  readonly source: number;
  readonly label: ReceivedLabel;
  readonly identity: Buffer;
}

/** Returns the subject key of an account: its DID, shortened if it is a did:plc, or a hash if it is very long. */
export function subjectKey(did: string): string {
  if (shortened.test(did)) return did.slice(plcPrefix.length);
  return did.length <= maxKeyLength ? did : `sha256:${hash('sha256', did)}`;
}

/** Returns the DID that a subject key denotes; the key itself if it is a hash. */
export function subjectDid(key: string): string {
  return key.includes(':') ? key : plcPrefix + key;
}

/**
 * Returns an SQL condition for the rows of `table` whose subject has the key `$parameter`. Rows of earlier versions have
 * the DID as their key. The hash leads the index, so the condition compares it first. The comparison of the text is a CASE, whose
 * selectivity the planner does not multiply with that of the hash: it would otherwise expect so few rows that it reads and
 * sorts all rows of an account for each page.
 */
export function ofSubject(table: string, parameter: number): string {
  const key = `$${parameter}::text`;
  return `subject_hash(${table}.subject) = subject_hash(${key})
   AND CASE WHEN ${table}.subject IN (${key}, '${plcPrefix}' || ${key}) THEN true END`;
}

/** Encodes an observation as a row. Throws `invalid_observation` if its label has no subject. */
export function encodeRow(at: number, source: number, observation: NewObservation, identity: Buffer): NewRow {
  const { label } = observation;
  const { target, flags, ver, subject, val, rest, cts, cid, exp, body, extra } = packed(plainColumns(observation));
  return { at, source, label, identity, target, flags, ver, subject, val, rest, cts, cid, exp, body, extra };
}

/** Columns that are derived from a label and that its identity does not cover. */
const derived = ['target', 'flags', 'subject', 'rest', 'cts', 'cid', 'ver'] as const;

/** Returns true if the columns of a row are those of an observation, in the form of this version or an earlier one. */
export function isStoredForm(row: Pick<LabelColumns, (typeof derived)[number]>, observation: NewObservation): boolean {
  const plain = plainColumns(observation);
  const expected = (row.flags & packedFlag) === 0 ? plain : packed(plain);
  return derived.every((name) => expected[name] === row[name]);
}

/** Returns the columns of a label in the form of earlier versions, in which `body` is the signature. */
function plainColumns({ label, signature, live = false }: NewObservation): LabelColumns {
  const { uri, neg, ver = null, val, cts, cid = null, exp = null, sig = null, extra = null } = label;
  const parts = splitUri(uri);
  if (!parts) throw new StoreError('invalid_observation', 'the uri of a label contains no DID');
  const { did } = parts;
  const isHashed = did.length > maxKeyLength;
  const isAccount = parts.kind === 'account';
  const isPost = parts.kind === 'record' && parts.collection === postCollection;
  return {
    target: targets.indexOf(isAccount ? 'account' : isPost ? 'post' : 'record'),
    flags:
      (neg === undefined ? 0 : negSent) |
      (neg === true ? removalFlag : 0) |
      (live ? liveFlag : 0) |
      (isHashed ? hashedFlag : 0) |
      (verdicts.indexOf(signature) << verdictShift),
    subject: isHashed ? subjectKey(did) : did,
    rest: isHashed ? uri : isAccount ? null : uri.slice(prefix.length + did.length),
    ver,
    val,
    cts,
    cid,
    exp,
    body: sig,
    extra,
  };
}

/** Moves fields in their usual form from their columns to the body, where they take less room. */
function packed(plain: LabelColumns): LabelColumns {
  const { ver, subject, rest, cts, cid, body: sig } = plain;
  const millis = cts === null ? null : exactMillis(cts);
  // Six bytes hold the times from 1970 to the year 9999.
  const time = millis !== null && millis >= 0 ? millis : null;
  const cidPart = cid === null ? null : packCid(cid);
  const key = rest?.startsWith(postPrefix) === true ? rest.slice(postPrefix.length) : null;
  const keyPart = key === null || Buffer.byteLength(key) > maxPostKeyBytes ? null : key;
  const keyRoom = keyPart === null ? 0 : 3 * keyPart.length;
  const body = Buffer.allocUnsafe(2 + ctsBytes + cidBytes + keyRoom + (sig?.length ?? 0));
  let tag = ver === 1 ? inBody.version1 : 0;
  let end = 1;
  if (time !== null) {
    tag |= inBody.cts;
    end = body.writeUIntBE(time, end, ctsBytes);
  }
  if (cidPart !== null) {
    tag |= inBody.cid;
    end += cidPart.copy(body, end);
  }
  if (keyPart !== null) {
    tag |= inBody.postKey;
    const length = body.write(keyPart, end + 1);
    body.writeUInt8(length, end);
    end += 1 + length;
  }
  if (sig !== null) {
    tag |= inBody.signature;
    body.set(sig, end);
    end += sig.length;
  }
  body.writeUInt8(tag, 0);
  const { target, flags, val, exp, extra } = plain;
  return {
    target,
    flags: flags | packedFlag,
    val,
    exp,
    extra,
    ver: ver === 1 ? null : ver,
    subject: subjectKey(subject),
    rest: keyPart === null ? rest : null,
    cts: time === null ? cts : null,
    cid: cidPart === null ? cid : null,
    body: body.subarray(0, end),
  };
}

/** Restores the columns of a row to the form of earlier versions. */
function unpacked(row: RowRecord): RowRecord {
  const { flags, body } = row;
  if ((flags & packedFlag) === 0) return row;
  const bytes = Buffer.from(body ?? [0]);
  const tag = bytes[0] ?? 0;
  let end = 1;
  const take = (length: number): Buffer => {
    end += length;
    return bytes.subarray(end - length, end);
  };
  const has = (field: keyof typeof inBody): boolean => (tag & inBody[field]) !== 0;
  return {
    ...row,
    ver: has('version1') ? 1 : row.ver,
    subject: subjectDid(row.subject),
    cts: has('cts') ? timeOf(take(ctsBytes)) : row.cts,
    cid: has('cid') ? unpackCid(take(cidBytes)) : row.cid,
    rest: has('postKey') ? postPrefix + take(take(1)[0] ?? 0).toString() : row.rest,
    body: has('signature') ? bytes.subarray(end) : null,
  };
}

/** Returns the text of a packed time. A damaged time has no text that its label could have. */
function timeOf(bytes: Buffer): string | null {
  const millis = bytes.length === ctsBytes ? bytes.readUIntBE(0, ctsBytes) : Number.NaN;
  const time = new Date(millis);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

/** Decodes a row. Throws `damaged` if its content is not the label that was accepted. */
export function decodeRow(record: RowRecord): Observation {
  const { at, flags, ver, subject, rest, cts, cid, exp, body: sig, extra } = unpacked(record);
  // Assign the optional fields one by one, which takes a third of the time of spreading an object for each.
  const label: { -readonly [Name in keyof ReceivedLabel]: ReceivedLabel[Name] } = {
    src: record.did,
    uri: (flags & hashedFlag) !== 0 ? (rest ?? '') : rest === null ? subject : `${prefix}${subject}${rest}`,
    val: record.val,
    cts: cts ?? '',
  };
  if (ver !== null) label.ver = ver;
  if (cid !== null) label.cid = cid;
  if ((flags & negSent) !== 0) label.neg = isRemoval(flags);
  if (exp !== null) label.exp = exp;
  if (sig !== null) label.sig = sig;
  if (extra !== null) label.extra = extra;
  if (identityText(label) !== record.identity.toString('latin1')) {
    throw new StoreError('damaged', `row ${at} differs from the label that was accepted`);
  }
  return { observedAt: micros(at), label, signature: verdictOf(flags) };
}

/** Returns true if the flags of a row mark a removal. */
export function isRemoval(flags: number): boolean {
  return (flags & removalFlag) !== 0;
}

/** Returns true if the flags of a row mark a live label. */
export function isLive(flags: number): boolean {
  return (flags & liveFlag) !== 0;
}

/** Returns the signature verdict in the flags of a row. */
export function verdictOf(flags: number): SignatureVerdict {
  return verdicts[(flags >> verdictShift) & verdictMask] ?? 'unverified';
}
