import type { Micros } from '../contract/timestamp.ts';
import type { IdentityResolver } from '../network/identity.ts';
import type { LabelKey } from '../network/label-key.ts';
import type { SignatureVerdict } from '../store/label.ts';
import type { StoreWriter } from '../store/port.ts';
import { isObject } from './label-fields.ts';
import type { Verifier } from './verifier.ts';

/** What judging signatures takes. */
export interface SignatureOptions {
  readonly identities: IdentityResolver;
  readonly verifier: Verifier;
  readonly store: Pick<StoreWriter, 'keys' | 'putKey'>;
  readonly clock: () => Micros;
}

/** After a signature that no key fits, a document is read anew at most this often: 10 minutes. */
const askAgain = 600_000_000;
/** Older keys that a label is checked with besides the current one; each costs every label that none of them made. */
const mostOlder = 4;

/** Judges labels of many labelers: finds the keys, remembers them, and looks again when one does not fit. */
export class Signatures {
  readonly #options: SignatureOptions;
  /** Keys by labeler, the current ones first. */
  readonly #keys = new Map<string, readonly LabelKey[]>();
  readonly #askedAt = new Map<string, Micros>();

  constructor(options: SignatureOptions) {
    this.#options = options;
  }

  /** One verdict for each row, in order. `unverified` where no key could be had. */
  async verify(did: string, rows: readonly unknown[], signal: AbortSignal): Promise<readonly SignatureVerdict[]> {
    const { verifier, clock } = this.#options;
    const labels = rows.filter(isObject);
    const keys = this.#keys.get(did) ?? (await this.#learn(did, false, signal));
    const verdicts = await verifier.verify(labels, keys, signal);
    if (!verdicts.some((verdict) => verdict === 'invalid' || verdict === 'unverified')) return verdicts;
    if (clock() - (this.#askedAt.get(did) ?? 0) < askAgain) return verdicts;
    // The key may have been changed since: once more, with what the document says now.
    return verifier.verify(labels, await this.#learn(did, true, signal), signal);
  }

  /** Forgets what is known of a labeler's keys: its document changed. */
  forget(did: string): void {
    this.#keys.delete(did);
  }

  async #learn(did: string, fresh: boolean, signal: AbortSignal): Promise<readonly LabelKey[]> {
    const { identities, store, clock } = this.#options;
    if (fresh) this.#askedAt.set(did, clock());
    const resolution = await identities.resolve(did, { signal, fresh });
    const current = resolution.kind === 'resolved' ? resolution.document.labelKeys : [];
    const now = clock();
    for (const key of current) await store.putKey({ did, key: write(key), firstSeen: now, lastSeen: now });
    const known = await store.keys(did);
    const older = known.toSorted((a, b) => b.lastSeen - a.lastSeen).flatMap(({ key }) => read(key));
    const names = new Set(current.map(write));
    const keys = [...current, ...older.filter((key) => !names.has(write(key))).slice(0, mostOlder)];
    if (keys.length > 0) this.#keys.set(did, keys);
    return keys;
  }
}

function write({ curve, point }: LabelKey): string {
  return `${curve}:${point}`;
}

function read(text: string): LabelKey[] {
  const [curve, point] = text.split(':');
  return (curve === 'k256' || curve === 'p256') && point !== undefined ? [{ curve, point }] : [];
}
