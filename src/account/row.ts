import { formatMicros } from '../contract/timestamp.ts';
import type { SignatureVerdict } from '../store/label.ts';
import type { Observation } from '../store/port.ts';
import { splitUri } from '../store/subject.ts';

/** What an observation is: that a label was applied, or that it was taken back. */
export const actions = ['application_observed', 'removal_observed'] as const;
/** What an observation is. */
export type Action = (typeof actions)[number];

/** What a label is about: the account itself, one of its posts, or another of its records. */
export const targetKinds = ['account', 'post', 'record'] as const;
/** What a label is about. */
export type TargetKind = (typeof targetKinds)[number];

/** The collection of posts. */
const postCollection = 'app.bsky.feed.post';

/** An observation as it is handed out: the allow-list of its fields. */
export interface AccountRow {
  readonly labeler_did: string;
  /** A DID or an AT-URI, as the labeler wrote it. */
  readonly uri: string;
  readonly cid?: string;
  /** The label's value: foreign text, whatever it holds. */
  readonly value: string;
  readonly action: Action;
  /** When the labeler says that it made the label, verbatim. */
  readonly source_timestamp: string;
  /** Our acceptance clock, six decimals: unique in the store and increasing in the order of acceptance. */
  readonly observed_at: string;
  /** Verbatim, where the label has an expiry. */
  readonly expires_at?: string;
  readonly signature: SignatureVerdict;
}

/** The row of an observation: nothing of it goes out that this function does not name. */
export function rowOf({ label, observedAt, signature }: Observation): AccountRow {
  return {
    labeler_did: label.src,
    uri: label.uri,
    ...(label.cid === undefined ? {} : { cid: label.cid }),
    value: label.val,
    action: actionOf(label.neg),
    source_timestamp: label.cts,
    observed_at: formatMicros(observedAt),
    ...(label.exp === undefined ? {} : { expires_at: label.exp }),
    signature,
  };
}

function actionOf(neg: boolean | undefined): Action {
  return neg === true ? 'removal_observed' : 'application_observed';
}

/** What the label with this `uri` is about. An AT-URI that names no single record counts as a record. */
export function targetKindOf(uri: string): TargetKind {
  const parts = splitUri(uri);
  if (parts?.kind === 'account') return 'account';
  return parts?.kind === 'record' && parts.collection === postCollection ? 'post' : 'record';
}

/** Which rows are wanted: those that agree with every filter that is given. */
export interface AccountFilters {
  /** DID of the labeler. */
  readonly labeler?: string;
  /** The label's value, exactly. */
  readonly value?: string;
  readonly action?: Action;
  readonly target_kind?: TargetKind;
}

/** Whether an observation agrees with the filters. */
export function matches({ label }: Observation, filters: AccountFilters): boolean {
  const { labeler, value, action, target_kind } = filters;
  if (labeler !== undefined && label.src !== labeler) return false;
  if (value !== undefined && label.val !== value) return false;
  if (action !== undefined && actionOf(label.neg) !== action) return false;
  return target_kind === undefined || targetKindOf(label.uri) === target_kind;
}
