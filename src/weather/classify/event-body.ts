import { type ByteWords, byteWords, type Spelling, spelling } from './byte-words.ts';
import { type JsonScan, malformed } from './json-scan.ts';
import { metricIndex, tracked } from './metric-names.ts';

const operationWords = byteWords(tracked.operations);
const created = tracked.operations.indexOf('create');
const deleted = tracked.operations.indexOf('delete');
const collectionWords = byteWords(tracked.collections.map(([, nsid]) => nsid));
const like = tracked.collections.findIndex(([alias]) => alias === 'like');
const post = tracked.collections.findIndex(([alias]) => alias === 'post');
const embedWords = byteWords(tracked.embeds.map(([, type]) => type));
const embedRecord = tracked.embeds.findIndex(([alias]) => alias === 'record');
const embedRecordWithMedia = tracked.embeds.findIndex(([alias]) => alias === 'recordWithMedia');
const statusWords = byteWords(tracked.statuses);
/** Index in `metricNames` of the first shape of a post, by operation. */
const shapesOf = [metricIndex['post.create.reply'], metricIndex['post.update.reply']];

/** The most frequent operation and collection of a commit, as Jetstream writes them. */
const commonOperation = spelling('"create"');
const commonCollection = spelling('"app.bsky.feed.like"');

/** Value of `found` for a string that is not among the given words. */
export const other = -1;
/** Value of `found` for a value that is missing, empty, or not a string. */
export const absent = -2;

/** Offsets in `metricNames`, relative to `account.active.true`. */
const activeTrue = 0;
const activeFalse = 1;
const activeUnknown = 2;

const quote = 0x22;
const comma = 0x2c;
const closeObject = 0x7d;
const letterF = 0x66;
const letterT = 0x74;
const openObject = 0x7b;

/**
 * Reads the parts of an event that are the same in both protocols: a commit's operation and record, and an account's
 * state.
 */
export class EventBody {
  /**
   * Result of the last `word`: index of the string among the given words, `other` if it is not among them, or `absent`
   * if the value is empty or not a string.
   */
  found = absent;
  readonly #scan: JsonScan;
  #operation = absent;
  #collection = absent;
  #recordSeen = false;
  /** Start of a record whose shape has not been read, or -1 if there is none. */
  #unreadRecord = -1;
  #reply = false;
  #embed = absent;
  #active = activeUnknown;
  #status = absent;
  readonly #recordLevel: Level;
  readonly #embedLevel: Level;
  readonly #accountLevel: Level;

  constructor(scan: JsonScan) {
    this.#scan = scan;
    this.#recordLevel = {
      keys: byteWords(['reply', 'embed']),
      expected: expectedKeys([], ['$type', 'createdAt']),
      take: (key, from) => (key === 0 ? this.#takeReply(from) : this.#takeEmbed(from)),
    };
    this.#embedLevel = {
      keys: byteWords(['$type']),
      expected: [],
      take: (_key, from) => {
        const end = this.word(from, embedWords);
        this.#embed = this.found < 0 ? other : this.found;
        return end;
      },
    };
    this.#accountLevel = {
      keys: byteWords(['active', 'status']),
      expected: [],
      take: (key, from) => (key === 0 ? this.#takeActive(from) : this.#takeStatus(from)),
    };
  }

  /** Returns true if an object begins at the index. */
  isObject(from: number): boolean {
    return this.#scan.bytes[from] === openObject;
  }

  /** Returns the index after a value, or `malformed`. Sets `found`, unless the value is a malformed string. */
  word(from: number, words: ByteWords): number {
    const scan = this.#scan;
    if (scan.bytes[from] !== quote) {
      this.found = absent;
      return scan.value(from);
    }
    const end = scan.string(from + 1);
    if (end !== malformed) this.found = end === from + 2 ? absent : scan.find(words, from + 1, end - 1);
    return end;
  }

  forgetCommit(): void {
    this.#operation = absent;
    this.#collection = absent;
    this.#forgetRecord();
  }

  forgetAccount(): void {
    this.#active = activeUnknown;
    this.#status = absent;
  }

  /** True if the commit creates a record. */
  get creates(): boolean {
    return this.#operation === created;
  }

  /** True if the commit has neither an operation nor a collection. */
  get isBare(): boolean {
    return this.#operation === absent && this.#collection === absent;
  }

  takeOperation(from: number): number {
    if (this.#scan.spells(commonOperation, from)) {
      this.#operation = created;
      return from + commonOperation.length;
    }
    const end = this.word(from, operationWords);
    this.#operation = this.found;
    return end;
  }

  takeCollection(from: number): number {
    if (this.#scan.spells(commonCollection, from)) {
      this.#collection = like;
      return from + commonCollection.length;
    }
    const end = this.word(from, collectionWords);
    this.#collection = this.found;
    return end;
  }

  takeRecord(from: number): number {
    this.#forgetRecord();
    this.#recordSeen = this.isObject(from);
    if (!this.#recordSeen) return this.#scan.value(from);
    // Hosts send the collection before the record, and only a post has a shape.
    if (this.#collection === post) return members(this.#scan, from, this.#recordLevel);
    this.#unreadRecord = from;
    return this.#scan.value(from);
  }

  takeAccount(from: number): number {
    this.forgetAccount();
    return this.isObject(from) ? members(this.#scan, from, this.#accountLevel) : this.#scan.value(from);
  }

  countCommit(facts: FrameFacts): void {
    if (this.#operation < 0) count(facts, metricIndex['unclassified.operation']);
    else if (this.#collection === absent) count(facts, metricIndex['malformed.collection']);
    else if (this.#collection === other) count(facts, metricIndex['untracked.collection']);
    else {
      // `metricNames` begins with all operations of each collection, in order.
      count(facts, this.#collection * tracked.operations.length + this.#operation);
      // The shape of a deleted post is unknown, even if the delete contains a record.
      if (this.#collection === post && this.#recordSeen && this.#operation !== deleted) {
        if (this.#unreadRecord >= 0) members(this.#scan, this.#unreadRecord, this.#recordLevel);
        this.#countShapes(facts, shapesOf[this.#operation] ?? 0);
      }
    }
  }

  countAccount(facts: FrameFacts): void {
    count(facts, metricIndex['account.event']);
    count(facts, metricIndex['account.active.true'] + this.#active);
    if (this.#status === absent) return;
    count(
      facts,
      metricIndex['account.status.deleted'] + (this.#status === other ? tracked.statuses.length : this.#status),
    );
  }

  #countShapes(facts: FrameFacts, first: number): void {
    const embed = this.#embed;
    if (this.#reply) count(facts, first);
    if (embed === absent) return;
    if (embed === embedRecord || embed === embedRecordWithMedia) count(facts, first + 1);
    count(facts, first + 2 + (embed === other ? tracked.embeds.length : embed));
  }

  #forgetRecord(): void {
    this.#recordSeen = false;
    this.#unreadRecord = -1;
    this.#reply = false;
    this.#embed = absent;
  }

  #takeReply(from: number): number {
    this.#reply = this.isObject(from);
    return this.#scan.value(from);
  }

  #takeEmbed(from: number): number {
    this.#embed = this.isObject(from) ? other : absent;
    return this.#embed === other ? members(this.#scan, from, this.#embedLevel) : this.#scan.value(from);
  }

  #takeActive(from: number): number {
    const first = this.#scan.bytes[from];
    this.#active = first === letterT ? activeTrue : first === letterF ? activeFalse : activeUnknown;
    return this.#scan.value(from);
  }

  #takeStatus(from: number): number {
    const end = this.word(from, statusWords);
    this.#status = this.found;
    return end;
  }
}

/** Kind of notice that the host sends in a frame that is not an event. Every other frame has the kind `none`. */
export type Notice = 'none' | 'future_cursor' | 'outdated_cursor' | 'too_slow' | 'error' | 'unknown';

/**
 * Result of classifying one frame. The next call of the same classifier reuses the object, so callers must copy the
 * values that they keep. The type enforces privacy, because it cannot hold a DID, key, text or record.
 */
export interface FrameFacts {
  /**
   * Outcome of classifying the frame. `parse_error`: the frame is not JSON. `no_time_us`: the frame belongs to no
   * window, because it has no usable time or, in the `subscribeEvents` method, no number. `resync`: the frame is a row
   * that repeats a repository after a `sync`, or a `sync` that the host has made itself, not an action of an account.
   * `notice`: the frame is a notice of the host. `counted`: every other frame, of any kind.
   */
  outcome: 'counted' | 'parse_error' | 'no_time_us' | 'resync' | 'notice';
  notice: Notice;
  /**
   * Time of the event on the stream's clock, in microseconds since 1970. It is 0 unless the frame is counted or is a
   * row of a re-sync.
   */
  timeUs: number;
  /** The host's sequence number of the event, an integer from 1 to 2^53 - 1, or null if the frame has none. */
  seq: number | null;
  /**
   * True if the event creates a record, so that it may be a row of a download: a host that downloads all repositories
   * sends its copy as creates without a mark.
   */
  creates: boolean;
  /** Indexes into `metricNames`. Only the first `metricCount` entries are valid, and each index occurs at most once. */
  metrics: Uint8Array;
  /** Number of metrics: at least 1 for a counted frame, 0 for any other frame. */
  metricCount: number;
}

/** A function that classifies one frame and never throws. */
export type Classifier = (frame: Uint8Array) => FrameFacts;

/** Maximum number of metrics of one frame: a post's operation, reply, embed and quote. */
const maxMetrics = 4;

/** Creates the facts about a frame, with no metrics. */
export function emptyFacts(): FrameFacts {
  const metrics = new Uint8Array(maxMetrics);
  return { outcome: 'counted', notice: 'none', timeUs: 0, seq: null, creates: false, metrics, metricCount: 0 };
}

/** Adds a metric to the facts about a frame. */
export function count(facts: FrameFacts, index: number): void {
  facts.metrics[facts.metricCount] = index;
  facts.metricCount += 1;
}

/** Describes how to read one level of a frame. `take` parses the value of a key and returns the index after it. */
export interface Level {
  readonly keys: ByteWords;
  /** Keys in their most frequent order. A different order, or another key between them, only costs time. */
  readonly expected: readonly ExpectedKey[];
  readonly take: (key: number, from: number) => number;
}

/** A key as Jetstream writes it. It is detected at its expected index without scanning. */
interface ExpectedKey {
  readonly spelling: Spelling;
  /** Index of the key among the level's keys, or -1. */
  readonly key: number;
}

/** Returns the expected keys in the given order, with their indexes among the keys that are read. */
export function expectedKeys(keys: readonly string[], order: readonly string[]): ExpectedKey[] {
  return order.map((name) => ({ spelling: spelling(`"${name}":`), key: keys.indexOf(name) }));
}

/** Returns the index after the object that begins at `from`, or `malformed` if no valid object begins there. */
export function members(scan: JsonScan, from: number, level: Level): number {
  const { bytes } = scan;
  const { expected: inOrder } = level;
  let i = scan.space(from + 1);
  if (bytes[i] === closeObject) return i + 1;
  /** Number of expected keys found in this object so far. */
  let met = 0;
  for (;;) {
    let key: number;
    let value: number;
    const expected = inOrder[met];
    if (expected !== undefined && scan.spells(expected.spelling, i)) {
      met += 1;
      key = expected.key;
      value = scan.space(i + expected.spelling.length);
    } else {
      if (bytes[i] !== quote) return malformed;
      const keyEnd = scan.string(i + 1);
      if (keyEnd === malformed) return malformed;
      key = scan.find(level.keys, i + 1, keyEnd - 1);
      value = scan.afterKey(keyEnd);
      if (value === malformed) return malformed;
    }
    i = key < 0 ? scan.value(value) : level.take(key, value);
    if (i === malformed) return malformed;
    if (bytes[i] !== comma) {
      i = scan.space(i);
      if (bytes[i] !== comma) return bytes[i] === closeObject ? i + 1 : malformed;
    }
    i = scan.space(i + 1);
  }
}
