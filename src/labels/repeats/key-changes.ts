import type { Micros } from '../../contract/timestamp.ts';
import type { StoreReader } from '../../store/port.ts';
import type { LabelerKey } from '../../store/roster.ts';
import { micros } from '../../store/time.ts';

/** Maximum number of labelers whose last key change is remembered. */
const maxRemembered = 20_000;

/** Dependencies of `KeyChanges`. */
interface KeyChangesOptions {
  readonly store: Pick<StoreReader, 'keys'>;
  /**
   * Returns true if `forget` is called for every key that is stored. False for a standby, and during a takeover, which
   * stores the kept keys itself.
   */
  readonly isComplete: () => boolean;
}

/**
 * Times of the labelers' last key changes. Every page needs this time, and a remote store would spend most of its
 * requests on it, so the keys of a labeler are read once, and again after `forget`.
 */
export class KeyChanges {
  readonly #options: KeyChangesOptions;
  readonly #known = new Map<string, Promise<Micros | null>>();

  constructor(options: KeyChangesOptions) {
    this.#options = options;
  }

  /**
   * Resolves with the time of a labeler's last key change, or with null if the labeler never changed its key. Rejects
   * with a `StoreError` if the store cannot be read.
   */
  timeOf(did: string): Promise<Micros | null> {
    const known = this.#known.get(did);
    if (known !== undefined) return known;
    const pending = this.#options.store.keys(did).then(lastKeyChange);
    if (!this.#options.isComplete()) return pending;
    if (this.#known.size >= maxRemembered) this.#known.clear();
    this.#known.set(did, pending);
    pending.catch(() => {
      if (this.#known.get(did) === pending) this.#known.delete(did);
    });
    return pending;
  }

  /** Must be called after a key of the labeler was stored or its keys were removed. */
  forget(did: string): void {
    this.#known.delete(did);
  }
}

/**
 * Returns the time of a labeler's last key change, or null if all its keys were first seen at the same time. The key
 * changed when the newest key was first seen. If the labeler returned to an earlier key, the key changed when a later
 * key was last seen.
 */
export function lastKeyChange(keys: readonly LabelerKey[]): Micros | null {
  const [first, ...later] = keys.map(({ firstSeen }) => firstSeen).sort((a, b) => a - b);
  const newest = later.at(-1);
  if (first === undefined || newest === undefined || first === newest) return null;
  const lastSeen = Math.max(...keys.map((one) => one.lastSeen));
  const present = keys.filter((one) => one.lastSeen === lastSeen);
  if (present.some(({ firstSeen }) => firstSeen === newest)) return newest;
  return micros(Math.max(newest, ...keys.filter((one) => one.lastSeen < lastSeen).map((one) => one.lastSeen)));
}
