import { hash } from 'node:crypto';
import type { TargetKind } from '../../../contract/vocabulary.ts';
import { StoreError } from '../../errors.ts';
import { identityOf, type ReceivedLabel, type SignatureVerdict } from '../../label.ts';
import type { NewObservation, Observation } from '../../port.ts';
import { postCollection, splitUri } from '../../subject.ts';
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

const prefix = 'at://';
/**
 * Maximum length of a DID that is used unchanged as the subject key. An index entry has at most 2,700 bytes, and a
 * label may name a DID of any length.
 */
const maxKeyLength = 256;

/** A row as returned by a query, with the key of its subject. */
export interface RowRecord {
  readonly at: number;
  readonly did: string;
  readonly flags: number;
  readonly ver: number | null;
  readonly subject: string;
  readonly val: string;
  readonly rest: string | null;
  readonly cts: string;
  readonly cid: string | null;
  readonly exp: string | null;
  readonly identity: Buffer;
  readonly sig: Buffer | null;
  readonly extra: Buffer | null;
}

/** Columns of a `RowRecord`, from the tables `observation o` and `source s`. */
export const recordColumns =
  'o.at, s.did, o.flags, o.ver, o.subject, o.val, o.rest, o.cts, o.cid, o.exp, o.identity, o.sig, o.extra';

/** A row to be stored; `source` is the numeric id of its labeler. */
export interface NewRow {
  readonly at: number;
  readonly source: number;
  readonly target: number;
  readonly flags: number;
  readonly subject: string;
  readonly rest: string | null;
  readonly label: ReceivedLabel;
  readonly identity: Buffer;
}

/** Returns the subject key of an account: its DID, or a hash if the DID is very long. */
export function subjectKey(did: string): string {
  return did.length <= maxKeyLength ? did : `sha256:${hash('sha256', did)}`;
}

/** Encodes an observation as a row. Throws `invalid_observation` if its label has no subject. */
export function encodeRow(at: number, source: number, observation: NewObservation, identity: Buffer): NewRow {
  const { label, signature, live = false } = observation;
  const parts = splitUri(label.uri);
  if (!parts) throw new StoreError('invalid_observation', 'the uri of a label contains no DID');
  const subject = subjectKey(parts.did);
  const isHashed = subject !== parts.did;
  const isAccount = parts.kind === 'account';
  const isPost = parts.kind === 'record' && parts.collection === postCollection;
  return {
    at,
    source,
    target: targets.indexOf(isAccount ? 'account' : isPost ? 'post' : 'record'),
    flags:
      (label.neg === undefined ? 0 : negSent) |
      (label.neg === true ? removalFlag : 0) |
      (live ? liveFlag : 0) |
      (isHashed ? hashedFlag : 0) |
      (verdicts.indexOf(signature) << verdictShift),
    subject,
    rest: isHashed ? label.uri : isAccount ? null : label.uri.slice(prefix.length + parts.did.length),
    label,
    identity,
  };
}

/** Decodes a row. Throws `damaged` if its content is not the label that was accepted. */
export function decodeRow(row: RowRecord): Observation {
  const { at, flags, ver, subject, rest, cid, exp, sig, extra } = row;
  const label: ReceivedLabel = {
    ...(ver === null ? {} : { ver }),
    src: row.did,
    uri: (flags & hashedFlag) !== 0 ? (rest ?? '') : rest === null ? subject : `${prefix}${subject}${rest}`,
    ...(cid === null ? {} : { cid }),
    val: row.val,
    ...((flags & negSent) === 0 ? {} : { neg: isRemoval(flags) }),
    cts: row.cts,
    ...(exp === null ? {} : { exp }),
    ...(sig === null ? {} : { sig }),
    ...(extra === null ? {} : { extra }),
  };
  if (!identityOf(label).equals(row.identity)) {
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
  return verdicts[flags >> verdictShift] ?? 'unverified';
}
