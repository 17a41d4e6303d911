import { isDid } from '../../contract/identifiers.ts';
import type { Micros } from '../../contract/timestamp.ts';
import { isObject } from '../../input/json-object.ts';
import { labelBytes, type ReceivedLabel } from '../../store/label.ts';
import type { RefusalReason } from '../../store/port.ts';
import { isSpaceUri } from '../../store/subject.ts';
import { hour, second } from '../../store/time.ts';
import { parseAuthored } from '../label/authored-time.ts';
import { readLabel } from '../label/label-fields.ts';

/** Labels authored earlier than this before their acceptance are refused, in microseconds: 48 h. */
export const maxLateness = 48 * hour;
/** Labels authored later than this after our clock are refused, in microseconds: 300 s. */
export const maxAhead = 300 * second;
/**
 * Maximum size of an admitted label: 4 KiB. The longest record address of the protocol has 2.9 KB, and real labels have
 * 200 bytes. Anything else that a labeler adds would use the disk that all labelers share.
 */
export const maxAdmittedBytes = 4_096;
/** Reason of a refusal at admission; the store finds duplicates. */
export type AdmissionReason = Exclude<RefusalReason, 'duplicate'>;

/** Result of admitting one label. */
export type Admission =
  | { readonly kind: 'accepted'; readonly label: ReceivedLabel; readonly authored: Micros }
  | { readonly kind: 'refused'; readonly reason: AdmissionReason };

/** Rules for admitting a label. */
export interface AdmissionRules {
  /** DID of the labeler that is read; labels of other labelers are refused. */
  readonly source: string;
  /** Start of our epoch. */
  readonly epoch: Micros;
  /** Our clock now. */
  readonly now: Micros;
}

/**
 * Judges one decoded label of a frame (CBOR) or a page (JSON). Never throws. If several reasons for a refusal apply, the
 * first of these counts: shape, author, subject, size, date.
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
