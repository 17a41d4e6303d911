import type { Micros } from '../../contract/timestamp.ts';
import type { SignatureVerdict } from '../../contract/vocabulary.ts';
import { isObject } from '../../input/json-budget.ts';
import type { EarlierLabelKey, LabelKey } from '../../network/identity/did-document.ts';
import type { IdentityResolver } from '../../network/identity/identity.ts';
import type { StoreWriter } from '../../store/port.ts';
import type { LabelerKey } from '../../store/roster.ts';
import { micros } from '../../store/time.ts';
import { authoredOf, type RawLabel } from '../label/label-fields.ts';
import type { ShareKey } from '../shares/fair-queue.ts';
import { isPrivileged } from '../state/reading-state.ts';
import { clockTolerance, type LabelerKeys, type Verifier } from './verifier.ts';

/** Dependencies of `Signatures`. */
interface SignatureOptions {
  readonly identities: IdentityResolver;
  readonly verifier: Verifier;
  readonly store: Pick<StoreWriter, 'keys'>;
  /** Stores an observed key. Resolves once the key is durable, or with null if the instrument stops first. */
  readonly putKey: (key: LabelerKey) => Promise<true | null>;
  readonly clock: () => Micros;
  /** Returns the share to which a labeler's signature checks are charged. */
  readonly shareOf: (source: string) => ShareKey;
}

/** Minimum interval between refreshes of a document after a signature that matches no key, in microseconds. */
const askAgain = 600_000_000;
/** The same interval for a readable document of a did:web, whose key can change without an event in any stream. */
const askWebAgain = 60_000_000;
/** Time after which a document that came from a replica of the directory is read again, in microseconds. */
const askReplicaAgain = 60_000_000;
/** Minimum interval between two reads of a labeler's audit log, in microseconds. */
const readLogAgain = 3_600_000_000;
/** Minimum interval between two updates of the time at which a key was last observed, in microseconds. */
const writeAgain = 3_600_000_000;
/** Maximum number of labelers whose last refresh is remembered. */
const maxRemembered = 20_000;

/** Cached keys of a labeler. */
interface Learned {
  readonly keys: LabelerKeys;
  /** Time at which the document is read again because the last read failed or a replica answered, or null. */
  readonly retryAt: Micros | null;
}

/** Checks the signatures of many labelers: finds and caches their keys, and refreshes the keys when no key matches. */
export class Signatures {
  readonly #options: SignatureOptions;
  readonly #keys = new Map<string, Learned>();
  /** Earlier keys by labeler, from the directory's audit log, with the time at which the log was read. */
  readonly #logged = new Map<string, { readonly keys: readonly EarlierLabelKey[]; readonly at: Micros }>();
  readonly #askedAt = new Map<string, Micros>();
  /** Keys that are being read. They are not cached if their document changes meanwhile. */
  readonly #learning = new Set<{ readonly did: string; isOutdated: boolean }>();
  /** Time at which the keys of a labeler were last stored, with the names of the keys. */
  readonly #written = new Map<string, { readonly names: string; readonly at: Micros }>();

  constructor(options: SignatureOptions) {
    this.#options = options;
  }

  /**
   * Returns one verdict for each row, in order; `unverified` if no key is available, or if no key verifies the signature
   * and the document could not be read from the primary directory, or the label of a did:web is newer than the last
   * refresh of its document. Every row must be an object. If no key verifies a signature, refreshes the document at most
   * every 10 minutes (every minute for a did:web that can be read), and reads the audit log at most once an hour (every
   * 10 minutes while it cannot be read).
   */
  async verify(did: string, rows: readonly unknown[], signal: AbortSignal): Promise<readonly SignatureVerdict[]> {
    const { verifier, clock, shareOf } = this.#options;
    const share = shareOf(did);
    const labels = rows.filter(isObject);
    const learned = this.#keys.get(did);
    const isUsable = learned !== undefined && (learned.retryAt === null || clock() < learned.retryAt);
    const known = isUsable ? learned : await this.#learn(did, false, signal);
    const verdicts = await verifier.verify(labels, known.keys, signal, share);
    if (!verdicts.some((verdict) => verdict === 'invalid' || verdict === 'unverified')) return verdicts;
    const askedAt = this.#askedAt.get(did);
    const isWeb = did.startsWith('did:web:');
    const interval = isWeb && known.retryAt === null ? askWebAgain : askAgain;
    if (askedAt !== undefined && isWithin(interval, askedAt, clock())) {
      const proven = provenBy(known, verdicts);
      return isWeb ? unlessNewer(askedAt, labels, proven) : proven;
    }
    // The key may have changed, perhaps before the labeler was first observed. Read the document and the audit log, and
    // check again.
    const fresh = await this.#learn(did, true, signal);
    return provenBy(fresh, await verifier.verify(labels, fresh.keys, signal, share));
  }

  /** Discards a labeler's keys, because its document changed. */
  forget(did: string): void {
    for (const one of this.#learning) if (one.did === did) one.isOutdated = true;
    this.#keys.delete(did);
    this.#logged.delete(did);
  }

  async #learn(did: string, fresh: boolean, signal: AbortSignal): Promise<Learned> {
    const learning = { did, isOutdated: false };
    this.#learning.add(learning);
    try {
      const { keys, retryAt } = await this.#read(did, fresh, signal);
      if (keys.current.length + keys.earlier.length > 0 && !learning.isOutdated) this.#keys.set(did, { keys, retryAt });
      return { keys, retryAt };
    } finally {
      this.#learning.delete(learning);
    }
  }

  /** Reads and stores the keys of a labeler's document, and reads its earlier keys. */
  async #read(did: string, fresh: boolean, signal: AbortSignal): Promise<Learned> {
    const { identities, store, clock, shareOf } = this.#options;
    if (fresh) {
      if (this.#askedAt.size >= maxRemembered) this.#askedAt.clear();
      this.#askedAt.set(did, clock());
    }
    const privileged = isPrivileged(shareOf(did).priority);
    const resolution = await identities.resolve(did, { signal, fresh, privileged });
    const isFailed = resolution.kind === 'failed';
    // If the document cannot be read, assume that the last observed keys are still current.
    const current =
      resolution.kind === 'resolved' ? resolution.document.labelKeys : isFailed ? lastSeen(await store.keys(did)) : [];
    if (!isFailed) await this.#keep(did, current);
    if (fresh) await this.#readLog(did, { signal, privileged });
    const names = new Set(current.map(formatKey));
    // Use the log, because a key may have several periods and the log is more exact than the observed times.
    const logged = (this.#logged.get(did)?.keys ?? []).filter(({ key }) => !names.has(formatKey(key)));
    for (const { key } of logged) names.add(formatKey(key));
    const seen = seenEarlier(await store.keys(did)).filter(({ key }) => !names.has(formatKey(key)));
    const keys = { current, earlier: [...logged, ...seen] };
    const isOfReplica = resolution.kind === 'resolved' && resolution.replica === true;
    const retryAfter = isFailed ? askAgain : isOfReplica ? askReplicaAgain : null;
    return { keys, retryAt: retryAfter === null ? null : micros(clock() + retryAfter) };
  }

  /**
   * Reads the audit log of a labeler, unless it was read in the last hour. If the read fails, the earlier result
   * remains in use.
   */
  async #readLog(did: string, how: { readonly signal: AbortSignal; readonly privileged: boolean }): Promise<void> {
    const now = this.#options.clock();
    const logged = this.#logged.get(did);
    if (isWithin(readLogAgain, logged?.at, now)) return;
    const keys = await this.#options.identities.earlierLabelKeys(did, how);
    if (keys === null) return;
    if (this.#logged.size >= maxRemembered) this.#logged.clear();
    this.#logged.set(did, { keys, at: now });
  }

  /**
   * Stores the keys of a document, unless the same keys were stored recently. Rejects if the instrument stops first,
   * because no label may be stored before the key that verifies it.
   */
  async #keep(did: string, current: readonly LabelKey[]): Promise<void> {
    const now = this.#options.clock();
    const names = current.map(formatKey).join(' ');
    const written = this.#written.get(did);
    if (written?.names === names && isWithin(writeAgain, written.at, now)) return;
    const put = current.map((key) => this.#options.putKey({ did, key: formatKey(key), firstSeen: now, lastSeen: now }));
    if ((await Promise.all(put)).includes(null)) throw new Error('stopped');
    if (this.#written.size >= maxRemembered) this.#written.clear();
    this.#written.set(did, { names, at: now });
  }
}

/** Returns true if an event happened within a time before `now`. A time after `now` is that of a clock that was ahead. */
function isWithin(span: number, at: Micros | undefined, now: Micros): boolean {
  return at !== undefined && now >= at && now - at < span;
}

/**
 * Returns the verdicts that keys prove. Keys that are read again soon may be outdated, so they verify signatures, but do
 * not prove that a signature is invalid.
 */
function provenBy({ retryAt }: Learned, verdicts: readonly SignatureVerdict[]): readonly SignatureVerdict[] {
  return retryAt === null ? verdicts : verdicts.map((verdict) => (verdict === 'invalid' ? 'unverified' : verdict));
}

/**
 * Returns the verdicts of keys that were refreshed at `refreshedAt` and may have been replaced since then. The clock of
 * the labeler may be behind.
 */
function unlessNewer(
  refreshedAt: Micros,
  labels: readonly RawLabel[],
  verdicts: readonly SignatureVerdict[],
): readonly SignatureVerdict[] {
  const isNewer = (authored: Micros | null): boolean => authored === null || authored > refreshedAt - clockTolerance;
  return verdicts.map((verdict, i) =>
    verdict === 'invalid' && isNewer(authoredOf(labels[i])) ? 'unverified' : verdict,
  );
}

/**
 * Returns the keys that observed DID documents named, the most recently seen first; the first may still be in use. A
 * key's validity ends when the next key was first seen after it or, if no key was, when it was last seen. The start of
 * the validity is not known.
 */
function seenEarlier(seen: readonly LabelerKey[]): EarlierLabelKey[] {
  const newestFirst = seen.toSorted((a, b) => b.lastSeen - a.lastSeen);
  return newestFirst.flatMap(({ key: text, lastSeen }) => {
    const next = seen.map(({ firstSeen }) => firstSeen).filter((at) => at > lastSeen);
    const until = next.length === 0 ? lastSeen : micros(Math.min(...next));
    return parseKey(text).map((key) => ({ key, from: null, until }));
  });
}

/** Returns the keys of the last observed document. */
function lastSeen(seen: readonly LabelerKey[]): LabelKey[] {
  const last = Math.max(...seen.map((key) => key.lastSeen));
  return seen.filter((key) => key.lastSeen === last).flatMap(({ key }) => parseKey(key));
}

function formatKey({ curve, point }: LabelKey): string {
  return `${curve}:${point}`;
}

function parseKey(text: string): LabelKey[] {
  const [curve, point] = text.split(':');
  return (curve === 'k256' || curve === 'p256') && point !== undefined ? [{ curve, point }] : [];
}
