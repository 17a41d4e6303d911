import { type ByteWords, byteWords, type Spelling, spelling } from './byte-words.ts';
import { JsonScan, malformed } from './json-scan.ts';
import { metricIndex, operations, trackedCollections, trackedEmbeds, trackedStatuses } from './metric-names.ts';

/**
 * All that is known of one frame. One object, reused by the next call of the same classifier: copy what must last.
 * Its type is the privacy rule: no DID, key, text or record fits into it.
 */
export interface FrameFacts {
  /**
   * `parse_error`: not JSON. `no_time_us`: JSON, but no object with a `time_us` that is an integer literal from
   * 1 to 2^53 - 1; such a frame belongs to no window. `counted`: everything else, whatever its kind.
   */
  outcome: 'counted' | 'parse_error' | 'no_time_us';
  /** The stream's clock, microseconds since 1970; 0 unless counted. */
  timeUs: number;
  /** Jetstream v2's `cursor`, an integer literal from 1 to 2^53 - 1; null where the frame carries none. */
  seq: number | null;
  /** Indexes into `metricNames`: the first `metricCount` entries, each at most once. */
  metrics: Uint8Array;
  /** 0 unless counted, then at least 1. */
  metricCount: number;
}

/** Most metrics of one frame: a post's operation, reply, embed, quote. */
const mostMetrics = 4;

const kindWords = byteWords(['commit', 'account', 'identity', 'sync']);
const kindCommit = 0;
const kindAccount = 1;
const kindIdentity = 2;
const kindSync = 3;
const operationWords = byteWords(operations);
const created = operations.indexOf('create');
const deleted = operations.indexOf('delete');
const collectionWords = byteWords(trackedCollections.map(([, nsid]) => nsid));
const post = trackedCollections.findIndex(([alias]) => alias === 'post');
const embedWords = byteWords(trackedEmbeds.map(([, type]) => type));
const embedRecord = trackedEmbeds.findIndex(([alias]) => alias === 'record');
const embedRecordWithMedia = trackedEmbeds.findIndex(([alias]) => alias === 'recordWithMedia');
const statusWords = byteWords(trackedStatuses);
/** Index in `metricNames` at which the shapes of a post begin, by operation. */
const shapesOf = [metricIndex['post.create.reply'], metricIndex['post.update.reply']];

/** The values that most frames have, as they are spelled there. */
const usualKind = spelling('"commit"');
const usualOperation = spelling('"create"');

/** In place of a word's place: a string that is no known word. */
const other = -1;
/** In place of a word's place: not there, not a string, or empty. */
const absent = -2;

/** Steps from `account.active.true` in `metricNames`. */
const activeTrue = 0;
const activeFalse = 1;
const activeUnknown = 2;

const topKeys = ['time_us', 'kind', 'commit', 'account', 'cursor'];
const commitKeys = ['operation', 'collection', 'record'];

const quote = 0x22;
const comma = 0x2c;
const letterF = 0x66;
const letterT = 0x74;
const openObject = 0x7b;
const closeObject = 0x7d;

/** Reader of one level of the frame: its keys, and a function that reads past the value of each key. */
interface Level {
  readonly keys: ByteWords;
  /** In the order in which they stand; another order, or another key between them, only costs time. */
  readonly usual: readonly UsualKey[];
  readonly take: (key: number, from: number) => number;
}

/** A key as Jetstream writes it, where it nearly always stands: recognised without walking it. */
interface UsualKey {
  readonly spelling: Spelling;
  /** Its place among the level's keys, or -1. */
  readonly key: number;
}

function usualKeys(keys: readonly string[], order: readonly string[]): UsualKey[] {
  return order.map((name) => ({ spelling: spelling(`"${name}":`), key: keys.indexOf(name) }));
}

/**
 * Makes a classifier: total (any bytes have an answer, none throws), pure but for the object it reuses, and in one
 * pass over the bytes. Where the frame is malformed it says `parse_error` exactly when `JSON.parse` of the frame as
 * UTF-8 throws: nothing that a full parse refuses is counted, however far behind the counted parts the fault lies.
 * Of a key that stands twice in one object the last counts, as in `JSON.parse`.
 */
export function createClassifier(): (frame: Uint8Array) => FrameFacts {
  const scan = new JsonScan();
  const metrics = new Uint8Array(mostMetrics);
  const facts: FrameFacts = { outcome: 'counted', timeUs: 0, seq: null, metrics, metricCount: 0 };

  let timeUs = 0;
  let seq = 0;
  let kind = absent;
  let commitSeen = false;
  let operation = absent;
  let collection = absent;
  let recordSeen = false;
  let reply = false;
  let embed = absent;
  let active = activeUnknown;
  let status = absent;

  /** The last string read by `word`: its place, `other` or `absent`. */
  let found = absent;

  function isObject(from: number): boolean {
    return scan.bytes[from] === openObject;
  }

  function word(from: number, words: ByteWords): number {
    if (scan.bytes[from] !== quote) {
      found = absent;
      return scan.value(from);
    }
    const end = scan.string(from + 1);
    if (end !== malformed) found = end === from + 2 ? absent : scan.find(words, from + 1, end - 1);
    return end;
  }

  function forgetCommit(): void {
    commitSeen = false;
    operation = absent;
    collection = absent;
    forgetRecord();
  }

  function forgetRecord(): void {
    recordSeen = false;
    reply = false;
    embed = absent;
  }

  function forgetAccount(): void {
    active = activeUnknown;
    status = absent;
  }

  const topLevel: Level = {
    keys: byteWords(topKeys),
    usual: usualKeys(topKeys, ['did', 'time_us', 'kind', 'commit']),
    take(key, from) {
      let end: number;
      switch (key) {
        case 0:
          end = scan.integerValue(from);
          timeUs = scan.integer;
          return end;
        case 1:
          if (scan.spells(usualKind, from)) {
            kind = kindCommit;
            return from + usualKind.length;
          }
          end = word(from, kindWords);
          kind = found;
          return end;
        case 2:
          forgetCommit();
          commitSeen = isObject(from);
          return commitSeen ? members(from, commitLevel) : scan.value(from);
        case 3:
          forgetAccount();
          return isObject(from) ? members(from, accountLevel) : scan.value(from);
        default:
          end = scan.integerValue(from);
          seq = scan.integer;
          return end;
      }
    },
  };

  const commitLevel: Level = {
    keys: byteWords(commitKeys),
    usual: usualKeys(commitKeys, ['rev', 'operation', 'collection', 'rkey', 'record', 'cid']),
    take(key, from) {
      let end: number;
      switch (key) {
        case 0:
          if (scan.spells(usualOperation, from)) {
            operation = created;
            return from + usualOperation.length;
          }
          end = word(from, operationWords);
          operation = found;
          return end;
        case 1:
          end = word(from, collectionWords);
          collection = found;
          return end;
        default:
          forgetRecord();
          recordSeen = isObject(from);
          return recordSeen ? members(from, recordLevel) : scan.value(from);
      }
    },
  };

  const recordLevel: Level = {
    keys: byteWords(['reply', 'embed']),
    usual: usualKeys([], ['$type', 'createdAt']),
    take(key, from) {
      if (key === 0) {
        reply = isObject(from);
        return scan.value(from);
      }
      embed = isObject(from) ? other : absent;
      return embed === other ? members(from, embedLevel) : scan.value(from);
    },
  };

  const embedLevel: Level = {
    keys: byteWords(['$type']),
    usual: [],
    take(_key, from) {
      const end = word(from, embedWords);
      embed = found < 0 ? other : found;
      return end;
    },
  };

  const accountLevel: Level = {
    keys: byteWords(['active', 'status']),
    usual: [],
    take(key, from) {
      if (key === 1) {
        const end = word(from, statusWords);
        status = found;
        return end;
      }
      const first = scan.bytes[from];
      active = first === letterT ? activeTrue : first === letterF ? activeFalse : activeUnknown;
      return scan.value(from);
    },
  };

  function members(from: number, level: Level): number {
    let i = scan.space(from + 1);
    if (scan.bytes[i] === closeObject) return i + 1;
    /** Number of usual keys found. */
    let met = 0;
    for (;;) {
      let key: number;
      let value: number;
      const usual = level.usual[met];
      if (usual !== undefined && scan.spells(usual.spelling, i)) {
        met += 1;
        key = usual.key;
        value = scan.space(i + usual.spelling.length);
      } else {
        if (scan.bytes[i] !== quote) return malformed;
        const keyEnd = scan.string(i + 1);
        if (keyEnd === malformed) return malformed;
        key = scan.find(level.keys, i + 1, keyEnd - 1);
        value = scan.afterKey(keyEnd);
        if (value === malformed) return malformed;
      }
      i = key < 0 ? scan.value(value) : level.take(key, value);
      if (i === malformed) return malformed;
      i = scan.space(i);
      if (scan.bytes[i] !== comma) return scan.bytes[i] === closeObject ? i + 1 : malformed;
      i = scan.space(i + 1);
    }
  }

  function count(index: number): void {
    metrics[facts.metricCount] = index;
    facts.metricCount += 1;
  }

  function countCommit(): void {
    if (!commitSeen) count(metricIndex['malformed.commit']);
    else if (operation < 0) count(metricIndex['unclassified.operation']);
    else if (collection === absent) count(metricIndex['malformed.collection']);
    else if (collection === other) count(metricIndex['untracked.collection']);
    else {
      // The order of `metricNames`: collection by operation.
      count(collection * operations.length + operation);
      // What a deleted post was cannot be known, even where a delete carries a record.
      if (collection === post && recordSeen && operation !== deleted) countShapes(shapesOf[operation] ?? 0);
    }
  }

  function countShapes(first: number): void {
    if (reply) count(first);
    if (embed === absent) return;
    if (embed === embedRecord || embed === embedRecordWithMedia) count(first + 1);
    count(first + 2 + (embed === other ? trackedEmbeds.length : embed));
  }

  function countAccount(): void {
    count(metricIndex['account.event']);
    count(metricIndex['account.active.true'] + active);
    if (status === absent) return;
    count(metricIndex['account.status.deleted'] + (status === other ? trackedStatuses.length : status));
  }

  return (frame) => {
    timeUs = 0;
    seq = 0;
    kind = absent;
    forgetCommit();
    forgetAccount();
    facts.timeUs = 0;
    facts.seq = null;
    facts.metricCount = 0;

    scan.load(frame);
    const first = scan.space(0);
    const end = isObject(first) ? members(first, topLevel) : scan.value(first);
    if (end === malformed || scan.space(end) !== scan.length) {
      facts.outcome = 'parse_error';
      return facts;
    }
    if (seq > 0) facts.seq = seq;
    if (timeUs === 0) {
      facts.outcome = 'no_time_us';
      return facts;
    }
    facts.outcome = 'counted';
    facts.timeUs = timeUs;
    if (kind === kindCommit) countCommit();
    else if (kind === kindAccount) countAccount();
    else if (kind === kindIdentity) count(metricIndex['identity.event']);
    else if (kind === kindSync) count(metricIndex['sync.event']);
    else count(metricIndex['unclassified.kind']);
    return facts;
  };
}
