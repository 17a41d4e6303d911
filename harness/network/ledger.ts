import type { AccountRow } from '../../src/contract/account.ts';
import { operationKey } from '../jetstream/firehose-witness.ts';

/** An operation as the API of the host confirmed it. */
interface DoneOperation {
  readonly did: string;
  readonly rev: string;
  readonly collection: string;
  readonly rkey: string;
  readonly operation: 'create' | 'update' | 'delete';
  /** For posts: whether the post is a reply or quotes another record. */
  readonly shape?: 'reply' | 'quote';
}

/** A label as the API of a labeler confirmed it. */
export interface DoneLabel {
  readonly labeler: string;
  readonly uri: string;
  readonly val: string;
  readonly neg: boolean;
  readonly cid?: string;
  readonly exp?: string;
  /** Authored time, or null if the API does not return it. */
  readonly cts: string | null;
}

/** Fields of a row that a label determines. */
type ExpectedRow = Pick<AccountRow, 'labeler_did' | 'uri' | 'value' | 'action'> &
  Partial<Pick<AccountRow, 'cid' | 'expires_at' | 'source_timestamp'>>;

/** Everything that the harness did through the APIs: the truth of a run. */
export class Ledger {
  /** Operations by the key that they also have in the relay's stream and in Jetstream's. */
  readonly operations = new Map<string, DoneOperation>();
  readonly labels: DoneLabel[] = [];
  /** Events other than operations that the changes of accounts must have caused, each as its kind and its account. */
  readonly announced: string[] = [];

  /** Records an operation. */
  operation(done: DoneOperation): void {
    this.operations.set(operationKey(done), done);
  }

  /** Records the events that a change of an account must cause. */
  announce(did: string, ...kinds: readonly ('identity' | 'account')[]): void {
    for (const kind of kinds) this.announced.push(`${kind} ${did}`);
  }

  /** Records a label. */
  label(done: DoneLabel): void {
    this.labels.push(done);
  }

  /** Returns the labels on an account and its records, in the order of each labeler. */
  labelsOn(account: string): DoneLabel[] {
    return this.labels.filter(({ uri }) => uri === account || uri.startsWith(`at://${account}/`));
  }
}

/** Returns the fields of the row that a label must result in. */
function rowOf({ labeler, uri, val, neg, cid, exp, cts }: DoneLabel): ExpectedRow {
  return {
    labeler_did: labeler,
    uri,
    value: val,
    action: neg ? 'removal_observed' : 'application_observed',
    ...(cid === undefined ? {} : { cid }),
    ...(exp === undefined ? {} : { expires_at: exp }),
    ...(cts === null ? {} : { source_timestamp: cts }),
  };
}

/**
 * Compares rows with the labels that they must result in. The order is not compared: labels that a labeler sends while
 * earlier ones are filled in are accepted before them. Returns a line for each difference.
 */
export function rowProblems(labels: readonly DoneLabel[], rows: readonly AccountRow[]): string[] {
  const surplus = [...rows];
  const lacking = labels.map(rowOf).filter((expected) => {
    const at = surplus.findIndex((row) => isRow(expected, row));
    if (at >= 0) surplus.splice(at, 1);
    return at < 0;
  });
  return [
    ...lacking.map((row) => `lacking: ${JSON.stringify(row)}`),
    ...surplus.map((row) => `not done: ${JSON.stringify(row)}`),
  ];
}

/** Returns true if a row has the fields of a label, and no other subject, version or expiry. */
function isRow(expected: ExpectedRow, { signature: _, observed_at: __, ...row }: AccountRow): boolean {
  const { source_timestamp: cts, ...rest } = row;
  const { source_timestamp: wanted, ...others } = expected;
  const sorted = (value: object): string => JSON.stringify(Object.entries(value).sort());
  return sorted(rest) === sorted(others) && (wanted === undefined || wanted === cts);
}
