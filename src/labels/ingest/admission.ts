import { isDid } from '../../contract/identifiers.ts';
import type { Micros } from '../../contract/timestamp.ts';
import { isObject } from '../../input/json-budget.ts';
import { isSpaceUri, labelBytes, type ReceivedLabel } from '../../store/label.ts';
import type { RefusalReason } from '../../store/port.ts';
import { hour, second } from '../../store/time.ts';
import { parseAuthored, readLabel } from '../label/label-fields.ts';

/** Limits of a label that is admitted. */
export const admissionLimits = {
  /** Maximum age of a label at its acceptance, in microseconds (48 h); an older label is refused as late. */
  maxLateness: 48 * hour,
  /**
   * Maximum lead of a label's authored time over the local clock, in microseconds (300 s). A label with a larger lead is
   * refused.
   */
  maxAhead: 300 * second,
  /**
   * Maximum size of an admitted label: 4 KiB. A record address of the protocol is at most 2.9 KB long, and a real label
   * has about 200 bytes. A larger limit would let a labeler store additional data in the disk space that all labelers
   * share.
   */
  maxBytes: 4_096,
};
/** Reason for refusing a label at admission. Duplicates are found later, by the store. */
export type AdmissionReason = Exclude<RefusalReason, 'duplicate'>;

/** Result of admitting one label. */
type Admission =
  | { readonly kind: 'accepted'; readonly label: ReceivedLabel; readonly authored: Micros }
  | { readonly kind: 'refused'; readonly reason: AdmissionReason };

/** Rules for admitting a label. */
interface AdmissionRules {
  /** DID of the labeler that is read; labels of other labelers are refused. */
  readonly source: string;
  /** Start of the observation of the labeler: the epoch, or the last request to remove its rows if that is later. */
  readonly since: Micros;
  /** Current time of the local clock. */
  readonly now: Micros;
}

/**
 * Judges one decoded label of a frame (CBOR) or a page (JSON). Never throws. If several reasons for a refusal apply,
 * returns the first one in the order of `refusalReasons`. Form and size are checked together.
 */
export function admit(value: unknown, { source, since, now }: AdmissionRules): Admission {
  if (!isObject(value) || typeof value.src !== 'string') return refused('malformed');
  if (value.src !== source) return refused(isDid(value.src) ? 'foreign_src' : 'malformed');
  const label = readLabel(value);
  if (typeof label === 'string') return refused(label);
  if (labelBytes(label) > admissionLimits.maxBytes) return refused('oversized');
  if (isSpaceUri(label.uri)) return refused('space_uri');
  const authored = parseAuthored(label.cts);
  if (authored === null) return refused('undated');
  if (authored > now + admissionLimits.maxAhead) return refused('future');
  if (authored < since) return refused('pre_epoch');
  if (authored < now - admissionLimits.maxLateness) return refused('late');
  return { kind: 'accepted', label, authored };
}

function refused(reason: AdmissionReason): Admission {
  return { kind: 'refused', reason };
}
