import type { LoggedLabel } from './label-log.ts';
import type { Labeler } from './labeler.ts';

/**
 * Reasons why an instrument does not store a label. Reasons that are published as counts have the name of the
 * count.
 */
export const refusals = [
  'foreign',
  'malformed',
  'oversized',
  'space_uri',
  'undated',
  'pre_epoch',
  'late',
  'future',
  'duplicate',
] as const;
/** Reason why an instrument does not store a label. */
type Refusal = (typeof refusals)[number];

/** A label that a labeler emitted. */
export interface EmittedLabel extends LoggedLabel {
  readonly labeler: string;
  /** Current `seq` of the label in the database, or null if the database lost the label. */
  readonly seq: number | null;
  /** True if any consumer has received the label. */
  readonly served: boolean;
}

/** Labels that an instrument could have accepted, and the labels that it must have refused. */
export interface Expected {
  readonly accepted: number;
  readonly refused: Readonly<Record<Refusal, number>>;
  /** Number of accepted labels by labeler. */
  readonly byLabeler: ReadonlyMap<string, number>;
  /** Number of accepted labels by labeler and action. */
  readonly byAction: ReadonlyMap<string, { readonly applied: number; readonly removed: number }>;
  /** Number of accepted labels by account. */
  readonly byAccount: ReadonlyMap<string, number>;
}

/** Selects emitted labels. */
interface Question {
  /** Start of the instrument's epoch, in microseconds. */
  readonly epochUs: number;
  /** Earliest emission time, in microseconds; by default unlimited. */
  readonly fromUs?: number;
  /** End of the emission times, exclusive, in microseconds; by default unlimited. */
  readonly toUs?: number;
  /** `served` (default) selects the labels that a consumer received, `emitted` all labels. */
  readonly which?: 'served' | 'emitted';
  /** Returns the time at which the instrument accepted a label; defaults to the emission time. */
  readonly acceptedUs?: (label: EmittedLabel) => number;
}

const lateUs = 48 * 3_600_000_000;
const futureUs = 300_000_000;

/** Record of emitted labels and their delivery, computed on demand from the labelers. */
export class LabelTruth {
  readonly #labelers: readonly Labeler[];

  constructor(labelers: readonly Labeler[]) {
    this.#labelers = labelers;
  }

  /**
   * Yields the labels that one labeler, or every labeler, emitted within an interval, ordered by labeler and then by
   * time.
   */
  *emitted(fromUs = 0, toUs = Number.POSITIVE_INFINITY, labeler?: string): Generator<EmittedLabel> {
    for (const one of this.#labelers) {
      if (labeler !== undefined && one.did !== labeler) continue;
      const { pace } = one.log;
      const edge = Math.min(one.edge, toUs === Number.POSITIVE_INFINITY ? one.edge : pace.edge(toUs - 1));
      for (let n = pace.edge(fromUs - 1) + 1; n <= edge; n++) {
        yield { ...one.log.label(n), labeler: one.did, seq: one.database.seqOf(n), served: one.served.has(n) };
      }
    }
  }

  /**
   * Returns the labels that an instrument could have accepted, and how many of the others it must have refused for each
   * reason.
   */
  expected(question: Question): Expected {
    const { epochUs, fromUs = 0, toUs = Number.POSITIVE_INFINITY, which = 'served', acceptedUs } = question;
    const refused = Object.fromEntries(refusals.map((name) => [name, 0])) as Record<Refusal, number>;
    const byLabeler = new Map<string, number>();
    const byAction = new Map<string, { applied: number; removed: number }>();
    const byAccount = new Map<string, number>();
    let accepted = 0;
    // Originals of the duplicates seen so far. Of several duplicates, an instrument stores only the first one that was
    // served.
    const met = new Set<string>();
    for (const emitted of this.emitted(fromUs, toUs)) {
      if (which === 'served' && !emitted.served) continue;
      const reason =
        verdict(emitted, epochUs, acceptedUs?.(emitted) ?? emitted.emittedUs) ?? this.#repeated(emitted, met);
      if (reason !== null) {
        refused[reason] += 1;
        continue;
      }
      accepted += 1;
      const { labeler } = emitted;
      const { uri, neg } = fieldsOf(emitted.label);
      byLabeler.set(labeler, (byLabeler.get(labeler) ?? 0) + 1);
      const actions = byAction.get(labeler) ?? { applied: 0, removed: 0 };
      actions[neg === true ? 'removed' : 'applied'] += 1;
      byAction.set(labeler, actions);
      const account = accountOf(String(uri));
      byAccount.set(account, (byAccount.get(account) ?? 0) + 1);
    }
    return { accepted, refused, byLabeler, byAction, byAccount };
  }

  #repeated(emitted: EmittedLabel, met: Set<string>): 'duplicate' | null {
    if (emitted.odd !== 'duplicate') return null;
    const one = this.#labelers.find(({ did }) => did === emitted.labeler);
    const key = `${emitted.labeler} ${emitted.original}`;
    const known = met.has(key) || one?.served.has(emitted.original) === true;
    met.add(key);
    return known ? 'duplicate' : null;
  }
}

/**
 * Returns the reason why a label's form or dates make it unacceptable, or null if it can be accepted. Duplicates
 * are not considered.
 */
export function verdict({ label, flaw }: LoggedLabel, epochUs: number, acceptedUs: number): Refusal | null {
  if (flaw !== null) return flaw;
  const authoredUs = authored(fieldsOf(label).cts);
  if (authoredUs === null) return 'undated';
  if (authoredUs < epochUs) return 'pre_epoch';
  if (authoredUs < acceptedUs - lateUs) return 'late';
  if (authoredUs > acceptedUs + futureUs) return 'future';
  return null;
}

/** Returns the fields of a label that make it different from another one, as one string. */
export function labelKey(label: unknown): string {
  const { src, uri, cid = null, val, neg = false, cts, exp = null } = fieldsOf(label);
  return JSON.stringify([src, uri, cid, val, neg, cts, exp]);
}

/**
 * Returns the DID of the account that a label concerns: the subject itself, or the repository of the labeled record.
 */
export function accountOf(uri: string): string {
  return uri.startsWith('at://') ? (uri.split('/')[2] ?? '') : uri;
}

function authored(cts: unknown): number | null {
  if (typeof cts !== 'string') return null;
  const ms = Date.parse(cts);
  return Number.isNaN(ms) ? null : ms * 1000;
}

/** Returns the fields of a label, or none if it is not an object. */
export function fieldsOf(label: unknown): Readonly<Record<string, unknown>> {
  return typeof label === 'object' && label !== null ? (label as Readonly<Record<string, unknown>>) : {};
}
