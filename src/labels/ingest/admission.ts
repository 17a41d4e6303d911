import { isDid } from '../../contract/identifiers.ts';
import type { Micros } from '../../contract/timestamp.ts';
import { isObject } from '../../input/json-object.ts';
import { labelBytes, type ReceivedLabel } from '../../store/label.ts';
import type { RefusalReason } from '../../store/port.ts';
import { isSpaceUri } from '../../store/subject.ts';
import { hour, second } from '../../store/time.ts';
import { parseAuthored } from '../label/authored-time.ts';
import { readLabel } from '../label/label-fields.ts';

/** Labels authored longer before their acceptance are refused, in microseconds: 48 h. */
export const maxLateness = 48 * hour;
/** Labels authored further ahead of our clock are refused, in microseconds: 300 s. */
export const maxAhead = 300 * second;
/**
 * Most bytes of a label that is admitted: 4 KiB. The longest address of a record that the protocol's syntax leaves room for
 * takes 2.9 KB, and real labels take 200 bytes; what else a labeler adds to one is its own, and shares the disk with all.
 */
export const maxAdmittedBytes = 4_096;
/** Why a label was refused here; duplicates are found by the store. */
export type AdmissionReason = Exclude<RefusalReason, 'duplicate'>;

/** Result of admitting one label. */
export type Admission =
  | { readonly kind: 'accepted'; readonly label: ReceivedLabel; readonly authored: Micros }
  | { readonly kind: 'refused'; readonly reason: AdmissionReason };

/** Rules for admitting a label. */
export interface AdmissionRules {
  /** DID of the labeler that is read: only its own labels are its to give. */
  readonly source: string;
  /** Start of our epoch. */
  readonly epoch: Micros;
  /** The acceptance clock now. */
  readonly now: Micros;
}

/**
 * Judges one label as it came out of a frame or a page (CBOR or JSON, decoded). It never throws: whatever a labeler
 * sends is a label or a reason. The first reason that applies counts: its shape, whose it is, its size, its date.
 */
export function admit(value: unknown, { source, epoch, now }: AdmissionRules): Admission {
  if (!isObject(value) || typeof value.src !== 'string') return refused('malformed');
  if (value.src !== source) return refused(isDid(value.src) ? 'foreign_src' : 'malformed');
  const label = readLabel(value);
  if (typeof label === 'string') return refused(label);
  if (isSpaceUri(label.uri)) return refused('space_uri');
  if (labelBytes(label) > maxAdmittedBytes) return refused('oversized');
  const authored = parseAuthored(label.cts);
  if (authored === null) return refused('undated');
  if (authored > now + maxAhead) return refused('future');
  if (authored < epoch) return refused('pre_epoch');
  if (authored < now - maxLateness) return refused('late');
  return { kind: 'accepted', label, authored };
}

function refused(reason: AdmissionReason): Admission {
  return { kind: 'refused', reason };
}
