import { randomFillSync } from 'node:crypto';
import { hour } from '../time.ts';

/** Unit of age of an identity, in microseconds: 6 h. A longer unit would keep identities longer. */
const span = 6 * hour;
/** Number of bits of an entry that state its span. */
const spanBits = 4;
const spans = 1 << spanBits;
/**
 * Maximum number of spans between the oldest and the newest identity. A span number in an entry is used again after 16
 * spans, so that the removal of expired entries may lag by the rest.
 */
const maxAge = 12;
const segmentBits = 14;
const segments = 1 << segmentBits;
/** A slab is the array of 128 segments with equal room. One array per segment would waste memory. */
const slabBits = 7;
const slabSegments = 1 << slabBits;
/** Maximum number of bytes of a slab: address space that is reserved, not memory. Enough for two billion identities. */
const maxSlabBytes = 2 ** 28;
/** Number of bytes of an identity. */
const identityBytes = 16;
/** Number of 32-bit words per entry. */
const entryWords = 2;

/**
 * Set of the identities of the last two days, in memory: a keyed hash of 74 bits each, in about 8.5 bytes.
 *
 * The hash is a tabulation hash (Carter and Wegman, 1979) with random tables that no sender can know. Two
 * different identities therefore have the same hash with a probability of 2^-74, even if a sender chose them.
 * With the 35 million identities of ten times today's network, the set takes a new identity for a known one once in
 * 100,000 years.
 *
 * 14 bits of the hash select a segment, and the other 60 bits are stored with the age of the identity. A segment
 * is a sorted array without gaps. A search starts at the position where a uniform distribution would place the entry,
 * so it takes few steps. 128 segments share a slab, which grows in place by a sixty-fourth: an operation moves at most
 * the entries of one slab, 2 MB at ten times today's network.
 *
 * An identity is kept for at least the horizon, in spans of six hours. When the first identity of a new span is added,
 * all spans that ended at least the horizon before it expire at once. After that, each call of `add` removes the expired
 * entries of one segment.
 *
 * `parts` and `restored` carry the set from one process to the next, with the tables of the hash.
 */
export class IdentitySet {
  readonly #horizon: number;
  readonly #hash: KeyedHash;
  readonly #slabs = Array.from(
    { length: segments >> slabBits },
    () => new Uint32Array(new ArrayBuffer(0, { maxByteLength: maxSlabBytes })),
  );
  /** Number of entries of each segment. */
  readonly #counts = new Uint32Array(segments);
  /** Number of entries of each span. */
  readonly #bySpan = new Uint32Array(spans);
  #oldest = 0;
  #newest = -1;
  /** Next segment whose expired entries are to be removed. */
  #swept = segments;

  /** `horizon` is in microseconds. `fillRandom` fills the tables of the hash; tests may pass a deterministic one. */
  constructor(horizon: number, fillRandom: (words: Uint32Array) => void = randomFillSync) {
    if (horizon > (maxAge - 1) * span) throw new RangeError(`the horizon is longer than ${maxAge - 1} spans`);
    this.#horizon = horizon;
    this.#hash = new KeyedHash(fillRandom);
  }

  /**
   * Creates the set whose `parts` another process yielded. Calls `fill` with each part in the same order, and throws
   * RangeError if the parts cannot belong to a set.
   */
  static restored(horizon: number, fill: (part: Uint8Array) => void): IdentitySet {
    const set = new IdentitySet(horizon, (tables) => fill(bytesOf(tables)));
    const [ages, sizes] = [new Float64Array(3), new Uint32Array(set.#slabs.length)];
    for (const part of [ages, sizes, set.#counts, set.#bySpan]) fill(bytesOf(part));
    [set.#oldest = 0, set.#newest = 0, set.#swept = 0] = ages;
    for (const [i, slab] of set.#slabs.entries()) {
      slab.buffer.resize(sizes[i] ?? 0);
      fill(bytesOf(slab));
    }
    return set;
  }

  /** Yields the memory of the set, from which `restored` creates an equal one. The set must not change meanwhile. */
  *parts(): Generator<Uint8Array> {
    yield bytesOf(this.#hash.tables);
    yield bytesOf(Float64Array.of(this.#oldest, this.#newest, this.#swept));
    yield bytesOf(Uint32Array.from(this.#slabs, ({ byteLength }) => byteLength));
    yield* [this.#counts, this.#bySpan, ...this.#slabs].map(bytesOf);
  }

  /** Number of identities in the set. */
  get size(): number {
    return this.#bySpan.reduce((sum, count, tag) => (this.#isLive(tag) ? sum + count : sum), 0);
  }

  /** Memory of the entries, in bytes. */
  get bytes(): number {
    return this.#slabs.reduce((sum, slab) => sum + slab.byteLength, 0);
  }

  /** Returns true if the set contains the identity. */
  has(identity: Buffer): boolean {
    this.#hash.read(identity);
    const slab = this.#slabOf(this.#hash.segment);
    const at = this.#find(slab);
    return at >= 0 && this.#isLive(tagOf(slab, at));
  }

  /**
   * Adds an identity with its acceptance time in microseconds. Has no effect if that time is more than the horizon
   * before the newest identity.
   */
  add(identity: Buffer, at: number): void {
    const number = Math.floor(at / span);
    if (number > this.#newest) this.#begin(number, at);
    if (number < this.#oldest) return;
    this.#hash.read(identity);
    const slab = this.#slabOf(this.#hash.segment);
    const found = this.#find(slab);
    if (found < 0) this.#insert(slab, -found - 1 - startOf(slab, this.#hash.segment), number % spans);
    else this.#renew(slab, found, number);
    if (this.#swept < segments) this.#sweepNext();
  }

  /** Deletes an identity; has no effect if the set does not contain it. */
  delete(identity: Buffer): void {
    this.#hash.read(identity);
    const { segment } = this.#hash;
    const slab = this.#slabOf(segment);
    const at = this.#find(slab);
    if (at < 0) return;
    this.#count(tagOf(slab, at), -1);
    const count = this.#counts[segment] ?? 0;
    slab.copyWithin(at, at + entryWords, startOf(slab, segment) + count * entryWords);
    this.#counts[segment] = count - 1;
  }

  /** Begins a new span, whose first identity has the time `at`. */
  #begin(number: number, at: number): void {
    // Span numbers in entries repeat, so the entries that expired earlier must be gone before the next span begins.
    this.#sweepAll();
    this.#oldest = Math.max(0, Math.floor((at - this.#horizon) / span));
    this.#swept = 0;
    // After a long pause, the number of the new span may be that of an expired entry. Such entries go first.
    if (number - this.#newest > spans - maxAge) this.#sweepAll();
    this.#newest = number;
  }

  /** Returns true if entries with this span number have not expired. */
  #isLive(tag: number): boolean {
    return ((this.#newest - tag) & (spans - 1)) <= this.#newest - this.#oldest;
  }

  /**
   * Searches the hash in its slab. Returns the index of the entry, or `-index - 1` with the index at which the
   * entry would be inserted.
   */
  #find(slab: Uint32Array): number {
    const { segment, high, low } = this.#hash;
    const count = this.#counts[segment] ?? 0;
    const start = startOf(slab, segment);
    const end = start + count * entryWords;
    let at = start + Math.floor((high / 2 ** 32) * count) * entryWords;
    while (at > start && !isBelow(slab, at - entryWords, high, low)) at -= entryWords;
    while (at < end && isBelow(slab, at, high, low)) at += entryWords;
    return at < end && slab[at] === high && (slab[at + 1] ?? 0) >>> spanBits === low ? at : -at - 1;
  }

  /** Moves the entry that was just found to a later span. */
  #renew(slab: Uint32Array, at: number, number: number): void {
    const old = tagOf(slab, at);
    if (this.#isLive(old) && ((this.#newest - old) & (spans - 1)) <= this.#newest - number) return;
    this.#count(old, -1);
    this.#count(number % spans, 1);
    slab[at + 1] = (this.#hash.low << spanBits) | (number % spans);
  }

  /** Inserts the hash that was just searched. */
  #insert(slab: Uint32Array, offset: number, tag: number): void {
    const { segment, high, low } = this.#hash;
    const count = this.#counts[segment] ?? 0;
    if (count * entryWords === slab.length >> slabBits) this.#resize(segment >> slabBits);
    const start = startOf(slab, segment);
    const at = start + offset;
    slab.copyWithin(at + entryWords, at, start + count * entryWords);
    slab[at] = high;
    slab[at + 1] = (low << spanBits) | tag;
    this.#counts[segment] = count + 1;
    this.#count(tag, 1);
  }

  /**
   * Gives each segment of a slab room for a sixty-fourth more entries than the largest one has. Moves the segments in
   * place: a copy would need twice the memory until the garbage collector frees the old array.
   */
  #resize(number: number): void {
    const slab = this.#slabs[number] ?? none;
    const counts = this.#counts.subarray(number << slabBits, (number + 1) << slabBits);
    const most = counts.reduce((most, count) => Math.max(most, count), 0);
    const [before, after] = [slab.length >> slabBits, (most + Math.max(2, most >> 6)) * entryWords];
    const move = (count: number, i: number): unknown =>
      slab.copyWithin(i * after, i * before, i * before + count * entryWords);
    if (after > before) {
      slab.buffer.resize(after * slabSegments * Uint32Array.BYTES_PER_ELEMENT);
      for (const [i, count] of [...counts.entries()].toReversed()) move(count, i);
    } else {
      counts.forEach(move);
      slab.buffer.resize(after * slabSegments * Uint32Array.BYTES_PER_ELEMENT);
    }
  }

  #sweepAll(): void {
    while (this.#swept < segments) this.#sweepNext();
  }

  /** Removes the expired entries of the next segment, and after the last segment of a slab the room that they took. */
  #sweepNext(): void {
    const segment = this.#swept++;
    const slab = this.#slabOf(segment);
    const start = startOf(slab, segment);
    const end = start + (this.#counts[segment] ?? 0) * entryWords;
    let to = start;
    for (let at = start; at < end; at += entryWords) {
      const tag = tagOf(slab, at);
      if (!this.#isLive(tag)) {
        this.#count(tag, -1);
        continue;
      }
      slab[to] = slab[at] ?? 0;
      slab[to + 1] = slab[at + 1] ?? 0;
      to += entryWords;
    }
    this.#counts[segment] = (to - start) / entryWords;
    if (this.#swept % slabSegments === 0) this.#resize(segment >> slabBits);
  }

  #slabOf(segment: number): Uint32Array {
    return this.#slabs[segment >> slabBits] ?? none;
  }

  #count(tag: number, change: 1 | -1): void {
    this.#bySpan[tag] = (this.#bySpan[tag] ?? 0) + change;
  }
}

/** Identities of the rows for which a store detects duplicates, up to a given stamp. */
export interface KnownIdentities {
  readonly identities: IdentitySet;
  /** Stamp up to which all rows are included. */
  readonly through: number;
}

const none = new Uint32Array(0);

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Returns the index of the first entry of a segment in its slab. */
function startOf(slab: Uint32Array, segment: number): number {
  return (slab.length >> slabBits) * (segment & (slabSegments - 1));
}

function tagOf(slab: Uint32Array, at: number): number {
  return (slab[at + 1] ?? 0) & (spans - 1);
}

function isBelow(slab: Uint32Array, at: number, high: number, low: number): boolean {
  const other = slab[at] ?? 0;
  return other < high || (other === high && (slab[at + 1] ?? 0) >>> spanBits < low);
}

/** Keyed hash of an identity. `read` writes its result to the fields, because an object per call would cost time. */
class KeyedHash {
  /** Three random words for each value of each byte of an identity. */
  readonly tables = new Uint32Array(identityBytes * 256 * 3);
  segment = 0;
  /** First 32 of the 60 bits that are stored. */
  high = 0;
  /** Last 28 of the 60 bits that are stored. */
  low = 0;

  constructor(fillRandom: (bytes: Uint32Array) => void) {
    fillRandom(this.tables);
  }

  read(identity: Buffer): void {
    const { tables } = this;
    let [segment, high, low] = [0, 0, 0];
    for (let i = 0; i < identityBytes; i++) {
      const at = ((i << 8) | (identity[i] ?? 0)) * 3;
      segment ^= tables[at] ?? 0;
      high ^= tables[at + 1] ?? 0;
      low ^= tables[at + 2] ?? 0;
    }
    this.segment = segment >>> (32 - segmentBits);
    this.high = high >>> 0;
    this.low = low >>> spanBits;
  }
}
