import type { AccountRow } from '../contract/account.ts';
import { formatMicros } from '../contract/timestamp.ts';
import type { LabelAction, TargetKind } from '../contract/vocabulary.ts';
import type { AccountFilter, Observation } from '../store/port.ts';

/**
 * The row of an observation: nothing of it goes out that this function does not name. Its keys are in the order of
 * canonical JSON, so that a row is written once, for its reader and for the digest.
 */
export function rowOf({ label, observedAt, signature }: Observation): AccountRow {
  return {
    action: actionOf(label.neg),
    ...(label.cid === undefined ? {} : { cid: label.cid }),
    ...(label.exp === undefined ? {} : { expires_at: label.exp }),
    labeler_did: label.src,
    observed_at: formatMicros(observedAt),
    signature,
    source_timestamp: label.cts,
    uri: label.uri,
    value: label.val,
  };
}

function actionOf(neg: boolean | undefined): LabelAction {
  return neg === true ? 'removal_observed' : 'application_observed';
}

/** Which rows are wanted: those that agree with every filter that is given. */
export interface AccountFilters {
  /** DID of the labeler. */
  readonly labeler?: string;
  /** The label's value, exactly. */
  readonly value?: string;
  readonly action?: LabelAction;
  readonly target_kind?: TargetKind;
}

/** The filter of the store's words. */
export function storeFilter({ labeler, value, action, target_kind }: AccountFilters): AccountFilter {
  return {
    ...(labeler === undefined ? {} : { labeler }),
    ...(value === undefined ? {} : { value }),
    ...(action === undefined ? {} : { removed: action === 'removal_observed' }),
    ...(target_kind === undefined ? {} : { target: target_kind }),
  };
}
