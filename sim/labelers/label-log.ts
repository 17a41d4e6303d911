import { accountCount, base32, sortable } from '../events/identifiers.ts';
import { fraction, hash } from '../random.ts';
import { type Flaw, type LabelFields, type OddKind, oddLabel } from './odd-labels.ts';
import { Pace } from './pace.ts';
import type { LabelerProfile } from './profile.ts';

/** A label in a labeler's log. */
export interface LoggedLabel {
  /** Number of the label, counted from 1 over the labeler's lifetime. Unlike a `seq`, it is never reused. */
  readonly n: number;
  /** Emission time, in microseconds of the simulated clock. */
  readonly emittedUs: number;
  /** The label as it is served, but without its signature. */
  readonly label: unknown;
  /** Kind of oddity, or null for an ordinary label. */
  readonly odd: OddKind | null;
  readonly flaw: Flaw | null;
  /** Number of the label that this label duplicates, or its own number if it is not a duplicate. */
  readonly original: number;
}

/**
 * Possible distances, in labels, between a removal or renewed application and the earlier label that it refers to.
 * Duplicates have the distance 1.
 */
const distances = [2, 5, 17, 60, 240, 1000] as const;
/** Share of labels that remove or renew an earlier label. */
const followingShare = 0.12;
/** Minimum share of the labels on records whose record belongs to the dense account; the skew adds more. */
const denseShare = 0.02;
/** Index of the account that all labelers label. */
const denseAccount = 0;

/** Options for a labeler's log. */
interface LogOptions {
  readonly seed: number;
  readonly profile: LabelerProfile;
  /** Earliest time of a label, in microseconds. */
  readonly startUs: number;
  /** For each account of the network, the 24 characters of its did:plc, concatenated. */
  readonly accounts: string;
}

/**
 * Labels of a labeler. Label `n` depends only on the seed, the labeler and `n`, so the log stores nothing but the
 * changes that fault switches made.
 */
export class LabelLog {
  /** DID of the labeler. A DID that contains a port is set once the labeler is listening. */
  did = '';
  readonly pace: Pace;
  readonly #options: LogOptions;
  readonly #seed: number;
  readonly #accounts: string;
  readonly #odd = new Map<number, { readonly kind: OddKind; readonly bytes: number }>();
  readonly #written = new Map<number, LabelFields>();
  /** Maps a label that repeats an earlier label to the number of the earlier label and the fields that differ. */
  readonly #repeated = new Map<number, { readonly of: number; readonly fields: LabelFields }>();

  constructor(options: LogOptions) {
    this.#options = options;
    const { profile, startUs } = options;
    this.#seed = hash(options.seed, 0x1ab, profile.index);
    this.#accounts = options.accounts;
    this.pace = new Pace({ seed: this.#seed, rate: profile.rate, startUs });
  }

  /** Makes labels odd. Must not be called for labels that were already read. */
  alter(fromN: number, count: number, kind: OddKind, bytes: number): void {
    for (let n = fromN; n < fromN + count; n++) this.#odd.set(n, { kind, bytes });
  }

  /** Sets the fields of labels. Must not be called for labels that were already read. */
  write(fromN: number, fields: readonly LabelFields[]): void {
    for (const [at, one] of fields.entries()) this.#written.set(fromN + at, one);
  }

  /**
   * Makes labels repeat earlier ordinary labels with some fields changed. Must not be called for labels that were
   * already read.
   */
  repeat(fromN: number, earlier: readonly number[], fields: LabelFields): void {
    for (const [at, of] of earlier.entries()) this.#repeated.set(fromN + at, { of, fields });
  }

  /** Returns the kind of oddity, or null for an ordinary label. */
  oddity(n: number): OddKind | null {
    const set = this.#odd.get(n);
    if (set) return set.kind === 'duplicate' && n === 1 ? null : set.kind;
    const { oddShare, oddKinds } = this.#options.profile;
    if (n === 1 || oddKinds.length === 0 || fraction(this.#seed, 2, n) >= oddShare) return null;
    return oddKinds[hash(this.#seed, 3, n) % oddKinds.length] ?? null;
  }

  /** Returns the label with the number `n`. */
  label(n: number): LoggedLabel {
    const odd = this.oddity(n);
    const emittedUs = this.pace.emittedUs(n);
    if (odd === 'duplicate') {
      const repeated = this.label(n - 1);
      return { ...repeated, n, emittedUs, odd };
    }
    const repeated = this.#repeated.get(n);
    const fields = repeated
      ? { ...(this.label(repeated.of).label as LabelFields), ...repeated.fields }
      : { ...this.#fields(n, emittedUs), ...this.#written.get(n) };
    if (odd === null) return { n, emittedUs, label: fields, odd, flaw: null, original: n };
    const hugeBytes = this.#odd.get(n)?.bytes ?? 10_000_000;
    const made = oddLabel({ kind: odd, fields, n, emittedMs: Math.floor(emittedUs / 1000), hugeBytes });
    return { n, emittedUs, ...made, odd, original: n };
  }

  /**
   * Returns true if an account-replacing server no longer has a label because a newer one has the same subject and
   * value.
   */
  replaced(n: number, edge: number): boolean {
    return this.#newest(this.#root(n), edge) > n;
  }

  /**
   * Returns true if the label is on the account that all labelers label, or on one of its records, and for some labels on
   * other accounts. An instrument that reads only the newest rows of an account may not find an earlier label there.
   */
  isAboutDenseAccount(n: number): boolean {
    const root = this.#root(n);
    return this.#accountOf(root, hash(this.#seed, 6, root)) === denseAccount;
  }

  #newest(n: number, edge: number): number {
    let newest = n;
    for (const distance of [1, ...distances]) {
      const next = n + distance;
      if (next <= edge && this.#parent(next) === n) newest = Math.max(newest, this.#newest(next, edge));
    }
    return newest;
  }

  #root(n: number): number {
    const parent = this.#parent(n);
    return parent === null ? n : this.#root(parent);
  }

  /** Returns the number of the earlier label that this one removes, renews or duplicates; null if there is none. */
  #parent(n: number): number | null {
    const odd = this.oddity(n);
    if (odd === 'duplicate') return n - 1;
    if (odd !== null || this.pace.atOnce(n) || fraction(this.#seed, 4, n) >= followingShare) return null;
    const parent = n - (distances[hash(this.#seed, 5, n) % distances.length] ?? 0);
    return parent < 1 || this.oddity(parent) !== null || this.pace.atOnce(parent) ? null : parent;
  }

  #negated(n: number): boolean {
    const parent = this.#parent(n);
    return parent !== null && !this.#negated(parent);
  }

  #fields(n: number, emittedUs: number): LabelFields {
    const root = this.#root(n);
    const neg = this.#negated(n);
    const { values, software } = this.#options.profile;
    const chance = hash(this.#seed, 6, root);
    const subject = this.#subject(root, chance);
    const emittedMs = Math.floor(emittedUs / 1000);
    return {
      ver: 1,
      src: this.did,
      ...subject,
      val: values[hash(this.#seed, 7, root) % values.length] ?? 'spam',
      // Ozone omits `neg` from the signed label if it is false; skyware always includes it.
      ...(neg || software === 'skyware' ? { neg } : {}),
      cts: new Date(emittedMs).toISOString(),
      ...(chance % 50 === 0 ? { exp: new Date(emittedMs + 3_600_000 * (1 + (chance % 720))).toISOString() } : {}),
    };
  }

  /**
   * Returns an account or one of its records. Each label of a labeler has a new subject, unless it refers to an earlier
   * label.
   */
  #subject(n: number, chance: number): { readonly uri: string; readonly cid?: string } {
    const account = this.#account(this.#accountOf(n, chance));
    if (isOnAccount(chance)) {
      const lap = Math.floor(n / accountCount);
      return { uri: `did:plc:${lap === 0 ? account : `${account.slice(0, 20)}${digits(lap, base32, 4)}`}` };
    }
    const collection = chance % 10 < 9 ? 'app.bsky.feed.post' : 'app.bsky.graph.list';
    const rkey = `3l${digits(n, sortable, 7)}${digits(hash(this.#seed, 10), sortable, 4)}`;
    const uri = `at://did:plc:${account}/${collection}/${rkey}`;
    return chance % 2 === 0 ? { uri } : { uri, cid: `bafyrei${digits(chance, base32, 26)}${digits(n, base32, 26)}` };
  }

  /** Returns the index of the account that a new subject belongs to. Records belong to few accounts, most to the first. */
  #accountOf(n: number, chance: number): number {
    if (isOnAccount(chance)) return (n * 7919 + this.#options.profile.index * 104_729) % accountCount;
    const skew = fraction(this.#seed, 9, n);
    return fraction(this.#seed, 8, n) < denseShare ? denseAccount : Math.floor(skew * skew * accountCount);
  }

  #account(index: number): string {
    return this.#accounts.slice(index * 24, index * 24 + 24);
  }
}

/** Returns true if a new subject is an account, and not one of its records. */
function isOnAccount(chance: number): boolean {
  return chance % 10 < 3;
}

function digits(number: number, alphabet: string, width: number): string {
  let rest = number;
  let text = '';
  for (let place = 0; place < width; place++) {
    text = alphabet.charAt(rest % alphabet.length) + text;
    rest = Math.floor(rest / alphabet.length);
  }
  return text;
}
