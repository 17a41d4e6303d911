import { canonicalDid } from '../../contract/identifiers.ts';
import { type DenyTarget, domainsOfLabeler, targetText } from './deny-target.ts';

/** Maximum number of entries of the list, which is read and matched as a whole. */
export const maxDenyEntries = 10_000;
/** Maximum length of a reason, in characters. */
export const maxDenyReasonLength = 500;

/** One decision of the operator. */
export interface DenyEntry {
  readonly target: DenyTarget;
  readonly reason: string | null;
  /** Time of the decision, RFC 3339. */
  readonly since: string;
  /**
   * Time at which a purge of the labeler's rows was requested, RFC 3339, or null if no purge was requested. Only an
   * entry with a DID can have this time.
   */
  readonly purge: string | null;
}

/** The labelers that the operator denies. */
export class DenyList {
  readonly entries: readonly DenyEntry[];
  readonly #byTarget: ReadonlyMap<string, DenyEntry>;

  constructor(entries: readonly DenyEntry[]) {
    this.entries = entries;
    this.#byTarget = new Map(entries.map((entry) => [targetText(entry.target), entry]));
  }

  /** Returns the entry that denies a labeler by its DID or a domain, or null if the labeler is not denied. */
  entryFor(labeler: { readonly did: string; readonly endpoint: string | null }): DenyEntry | null {
    if (this.entries.length === 0) return null;
    const own = this.#byTarget.get(canonicalDid(labeler.did));
    if (own) return own;
    for (const domain of domainsOfLabeler(labeler)) {
      const entry = this.#byTarget.get(domain);
      if (entry) return entry;
    }
    return null;
  }

  /** Returns the entry with exactly this target, or null. */
  entryOf(target: DenyTarget): DenyEntry | null {
    return this.#byTarget.get(targetText(target)) ?? null;
  }

  /** Returns the list with this entry, which replaces an older entry with the same target. */
  with(entry: DenyEntry): DenyList {
    return new DenyList([...this.without(entry.target).entries, entry]);
  }

  /** Returns the list without the entry of this target. */
  without(target: DenyTarget): DenyList {
    const text = targetText(target);
    return new DenyList(this.entries.filter((entry) => targetText(entry.target) !== text));
  }
}

/** A list without entries. */
export const emptyDenyList = new DenyList([]);
