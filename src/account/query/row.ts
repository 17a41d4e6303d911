import { hash } from 'node:crypto';
import type { AccountRow, ExportManifest } from '../../contract/account.ts';
import { canonicalJson } from '../../contract/encodings.ts';
import { formatMicros } from '../../contract/timestamp.ts';
import type { LabelAction, TargetKind } from '../../contract/vocabulary.ts';
import type { AccountFilter, Observation } from '../../store/port.ts';

/**
 * Returns the published row of an observation. Only the fields named here are published. The keys are in canonical
 * order, so that a single serialization serves both the response and the digest.
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

/** Filters of an account's rows; a row must match every given filter. */
export interface AccountFilters {
  /** DID of the labeler. */
  readonly labeler?: string;
  /** Exact label value. */
  readonly value?: string;
  readonly action?: LabelAction;
  readonly target_kind?: TargetKind;
}

/** Converts filters to the form that the store expects. */
export function storeFilter({ labeler, value, action, target_kind }: AccountFilters): AccountFilter {
  return {
    ...(labeler === undefined ? {} : { labeler }),
    ...(value === undefined ? {} : { value }),
    ...(action === undefined ? {} : { removed: action === 'removal_observed' }),
    ...(target_kind === undefined ? {} : { target: target_kind }),
  };
}

/**
 * Digest of an export: a chain over the manifest and then each row. The last digest of the chain covers the whole
 * export, regardless of its division into pages.
 */

/** Returns the first digest of the chain: the SHA-256 of the canonical manifest, 32 bytes. */
export function firstDigest(manifest: ExportManifest): Buffer {
  return hash('sha256', canonicalJson(manifest), 'buffer');
}

/**
 * Returns the next digest of the chain: the SHA-256 of the previous digest (32 bytes) followed by the row as canonical
 * JSON.
 */
export function nextDigest(digest: Buffer, row: string): Buffer {
  return hash('sha256', Buffer.concat([digest, Buffer.from(row)]), 'buffer');
}
