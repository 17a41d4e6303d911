import type { Labeler } from '../../../sim/labelers/labeler.ts';
import { type EmittedLabel, fieldsOf, labelKey, verdict } from '../../../sim/labelers/truth.ts';
import type { Micros } from '../../../src/contract/timestamp.ts';
import { day, hour, micros } from '../../../src/store/time.ts';
import type { Role } from '../roles.ts';
import type { Course } from './course.ts';

/** Minimum number of labels that a labeler must sign again at once so that they count as repeats, not as events. */
const minRepeats = 100;

/** A label that the instrument must have accepted. */
export interface AcceptedRow {
  readonly value: string;
  readonly removed: boolean;
  /** Earliest possible acceptance time. */
  readonly acceptedUs: Micros;
  /** Time that the labeler wrote into the label (`cts`). */
  readonly authoredUs: Micros;
  readonly signature: 'verified' | 'invalid' | 'unsigned';
}

/** Refusals that do not depend on the labeler, and are therefore no problem of it. */
const harmless: ReadonlySet<string> = new Set(['pre_epoch', 'late', 'space_uri']);

interface AcceptedRows {
  /** Labels without repeats, in order of emission. */
  readonly rows: readonly AcceptedRow[];
  /** Number of labels that count as repeats. */
  readonly repeats: number;
  /** Labels including repeats. */
  readonly all: readonly AcceptedRow[];
  /**
   * Number of labels that were refused because of their form or content in the last 24 hours, the first hour included
   * completely.
   */
  readonly refusedInDay: number;
}

/**
 * Returns the distinct labels that a labeler served and that the admission rules accept. Labels that a late labeler
 * emitted before its discovery count as accepted at its discovery.
 */
export function acceptedRows(labeler: Labeler, role: Role | null, course: Course, now: Micros): AcceptedRows {
  const rows: AcceptedRow[] = [];
  const all: AcceptedRow[] = [];
  const known = new Set<string>();
  const since = Math.floor((now - day) / hour) * hour;
  let refusedInDay = 0;
  for (let n = 1; n <= labeler.edge; n += 1) {
    const label: EmittedLabel = {
      ...labeler.log.label(n),
      labeler: labeler.did,
      seq: labeler.database.seqOf(n),
      served: labeler.served.has(n),
    };
    const foundUs = role?.act === 'found' ? (course.found?.start ?? now) : course.startedUs;
    const acceptedUs = micros(Math.max(label.emittedUs, foundUs));
    if (!label.served || acceptedUs > now) continue;
    const refusal = verdict(label, course.startedUs, acceptedUs);
    if (refusal !== null) {
      if (!harmless.has(refusal) && acceptedUs >= since) refusedInDay += 1;
      continue;
    }
    const { val, neg, cts } = fieldsOf(label.label);
    if (known.has(labelKey(label.label))) continue;
    known.add(labelKey(label.label));
    const row = {
      value: String(val),
      removed: neg === true,
      acceptedUs,
      authoredUs: micros(Date.parse(String(cts)) * 1000),
      signature: ownSignature(label),
    } as const;
    all.push(row);
    if (!isRepeat(labeler, n)) rows.push(row);
  }
  return { rows, all, repeats: all.length - rows.length, refusedInDay };
}

/** Returns the verdict on the signature of a label with the key of its time. */
export function ownSignature({ odd }: EmittedLabel): AcceptedRow['signature'] {
  if (odd === 'unsigned') return 'unsigned';
  return odd === 'bad_signature' || odd === 'high_s' ? 'invalid' : 'verified';
}

/** Returns true if the label is one of many that the labeler signed again after a key change. */
function isRepeat({ faults }: Labeler, n: number): boolean {
  return faults.log.some(
    ({ fault, fromN, toN }) =>
      fault === 'sign_again' && fromN !== null && toN !== null && toN - fromN >= minRepeats && fromN <= n && n < toN,
  );
}
