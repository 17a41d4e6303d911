import { byteWords, spelling } from './byte-words.ts';
import {
  absent,
  type Classifier,
  count,
  EventBody,
  emptyFacts,
  expectedKeys,
  type FrameFacts,
  type Level,
  members,
  other,
} from './event-body.ts';
import { EventTime, MinuteTime, quotedTimeLength } from './event-time.ts';
import { JsonScan, malformed } from './json-scan.ts';
import { metricIndex } from './metric-names.ts';

/**
 * Minimum difference, in microseconds, by which a create must be older than the first event to count as a row of an
 * earlier re-sync.
 */
const slackUs = 5_000_000;

const quote = 0x22;
const zero = 0x30;
const method = 'network.bsky.jetstream.subscribeEvents';
const frameWords = byteWords(['message', 'error']);
const frameMessage = 0;
const frameError = 1;
const payloadWords = byteWords(['commit', 'account', 'identity', 'sync', 'info'].map((kind) => `${method}#${kind}`));
const payloadCommit = 0;
const payloadAccount = 1;
const payloadIdentity = 2;
const payloadSync = 3;
const payloadInfo = 4;
const infoWords = byteWords(['FutureCursor', 'OutdatedCursor']);
const infoNotices = ['future_cursor', 'outdated_cursor'] as const;
const errorWords = byteWords(['ConsumerTooSlow']);

/** The most frequent type of frame and of payload, as Jetstream writes them. */
const commonFrame = spelling('"message"');
const commonPayload = spelling(`"${method}#commit"`);

const topKeys = ['$type', 'payload', 'error'];
const payloadKeys = [
  '$type',
  'seq',
  'time',
  'witnessedAt',
  'did',
  'operation',
  'collection',
  'record',
  'account',
  'name',
  'sync',
];
const syncKeys = ['seq'];
const payloadOrder = [
  '$type',
  'cid',
  'collection',
  'did',
  'operation',
  'record',
  'rev',
  'rkey',
  'seq',
  'time',
  'witnessedAt',
];

/**
 * Creates a classifier for the `subscribeEvents` method, with the same guarantees as the classifier of the legacy
 * protocol. An event requires a sequence number and a time. The time of an event is `witnessedAt`, or `time` if
 * `witnessedAt` is absent. A frame of an unknown kind is an event if it has a number and a time, and a notice if it has
 * neither, because the protocol requires readers to ignore such frames.
 */
export function createEventsClassifier(memory: ResyncMemory): Classifier {
  const scan = new JsonScan();
  const body = new EventBody(scan);
  const clock = new EventTime();
  const minute = new MinuteTime();
  const facts = emptyFacts();

  let frame = absent;
  let error = absent;
  let payloadSeen = false;
  let payload = absent;
  /**
   * Large numbers, held in one object, because V8 updates number fields in place but allocates each new value of a
   * closure variable.
   */
  const read = { seq: 0, timeUs: 0, witnessedUs: 0, us: 0, firstUs: 0 };
  let info = absent;
  let didFrom = 0;
  let didTo = 0;
  let settled = false;
  /** True if the number of the relay in a `sync` is 0, because the host has made the `sync` itself. */
  let isOwnSync = false;

  function forgetPayload(): void {
    payload = absent;
    read.seq = 0;
    read.timeUs = 0;
    read.witnessedUs = 0;
    info = absent;
    isOwnSync = false;
    didFrom = 0;
    didTo = 0;
    body.forgetCommit();
    body.forgetAccount();
  }

  const topLevel: Level = {
    keys: byteWords(topKeys),
    expected: expectedKeys(topKeys, ['$type', 'payload']),
    take(key, from) {
      if (key === 0) {
        if (scan.spells(commonFrame, from)) {
          frame = frameMessage;
          return from + commonFrame.length;
        }
        const end = body.word(from, frameWords);
        frame = body.found;
        return end;
      }
      if (key === 2) {
        const end = body.word(from, errorWords);
        error = body.found;
        return end;
      }
      forgetPayload();
      payloadSeen = body.isObject(from);
      return payloadSeen ? members(scan, from, payloadLevel) : scan.value(from);
    },
  };

  /**
   * Parses a datetime and returns the index after it. Sets `read.us` to the time in microseconds, or to 0 if the
   * datetime is invalid.
   */
  function takeTime(from: number): number {
    read.us = 0;
    if (scan.bytes[from] !== quote) return scan.value(from);
    read.us = minute.read(scan.view, from);
    if (read.us > 0) return from + quotedTimeLength;
    const end = scan.string(from + 1);
    if (end === malformed || scan.escaped) return end;
    read.us = clock.read(scan.bytes, from + 1, end - 1);
    if (read.us > 0 && end - from === quotedTimeLength) minute.remember(scan.view, from, read.us);
    return end;
  }

  function takeDid(from: number): number {
    didFrom = 0;
    didTo = 0;
    const end = scan.value(from);
    if (end === malformed || scan.bytes[from] !== quote) return end;
    didFrom = from + 1;
    didTo = end - 1;
    return end;
  }

  const syncLevel: Level = {
    keys: byteWords(syncKeys),
    expected: expectedKeys(syncKeys, ['blocks', 'did', 'rev', 'seq', 'time']),
    take(_, from) {
      const end = scan.value(from);
      isOwnSync = scan.bytes[from] === zero && end === from + 1;
      return end;
    },
  };

  const payloadLevel: Level = {
    keys: byteWords(payloadKeys),
    expected: expectedKeys(payloadKeys, payloadOrder),
    take(key, from) {
      let end: number;
      switch (key) {
        case 0:
          if (scan.spells(commonPayload, from)) {
            payload = payloadCommit;
            return from + commonPayload.length;
          }
          end = body.word(from, payloadWords);
          payload = body.found;
          return end;
        case 1:
          end = scan.integerValue(from);
          read.seq = scan.integer;
          return end;
        case 2:
          end = takeTime(from);
          read.timeUs = read.us;
          return end;
        case 3:
          end = takeTime(from);
          read.witnessedUs = read.us;
          return end;
        case 4:
          return takeDid(from);
        case 5:
          return body.takeOperation(from);
        case 6:
          return body.takeCollection(from);
        case 7:
          return body.takeRecord(from);
        case 8:
          return body.takeAccount(from);
        case 10:
          isOwnSync = false;
          return body.isObject(from) ? members(scan, from, syncLevel) : scan.value(from);
        default:
          end = body.word(from, infoWords);
          info = body.found;
          return end;
      }
    },
  };

  function judge(): void {
    if (frame === frameError) {
      facts.outcome = 'notice';
      facts.notice = error === 0 ? 'too_slow' : 'error';
    } else if (frame === other) {
      facts.outcome = 'notice';
      facts.notice = 'unknown';
    } else if (frame === absent || !payloadSeen || payload === absent) facts.outcome = 'no_time_us';
    else if (payload === payloadInfo) {
      facts.outcome = 'notice';
      facts.notice = infoNotices[info] ?? 'unknown';
    } else judgeEvent();
  }

  function judgeEvent(): void {
    const us = read.witnessedUs > 0 ? read.witnessedUs : read.timeUs;
    if (read.seq > 0) facts.seq = read.seq;
    if (read.seq === 0 || us === 0) {
      facts.outcome = payload === other && read.seq === 0 && us === 0 ? 'notice' : 'no_time_us';
      facts.notice = facts.outcome === 'notice' ? 'unknown' : 'none';
      return;
    }
    facts.timeUs = us;
    facts.creates = payload === payloadCommit && body.creates;
    learn(us, facts.creates);
    if (payload === payloadSync) memory.sync(scan.bytes, didFrom, didTo, read.timeUs);
    if ((payload === payloadCommit && isRow()) || (payload === payloadSync && isOwnSync)) {
      facts.outcome = 'resync';
      return;
    }
    facts.outcome = 'counted';
    countEvent(facts);
  }

  /**
   * Updates the estimated start of reading from an event's time. The estimate is the maximum time of all events up to
   * and including the first one that is not a create, because only creates can have old times. Afterwards, an event
   * that is not a create lowers the estimate if its time is earlier.
   */
  function learn(us: number, creates: boolean): void {
    if (!settled) read.firstUs = Math.max(read.firstUs, us);
    else if (!creates && us < read.firstUs) read.firstUs = us;
    if (!creates) settled = true;
  }

  /** Returns true if the event is a row of a re-sync. Such a row has the `time` of its `sync`. */
  function isRow(): boolean {
    if (!body.creates || read.timeUs === 0) return false;
    return memory.isRow(
      scan.bytes,
      didFrom,
      didTo,
      read.timeUs,
      read.timeUs < read.firstUs - slackUs,
      read.witnessedUs > 0,
    );
  }

  function countEvent(counted: FrameFacts): void {
    if (payload === payloadCommit) {
      if (body.isBare) count(counted, metricIndex['malformed.commit']);
      else body.countCommit(counted);
    } else if (payload === payloadAccount) body.countAccount(counted);
    else if (payload === payloadIdentity) count(counted, metricIndex['identity.event']);
    else if (payload === payloadSync) count(counted, metricIndex['sync.event']);
    else count(counted, metricIndex['unclassified.kind']);
  }

  return (bytes) => {
    frame = absent;
    error = absent;
    payloadSeen = false;
    forgetPayload();
    facts.notice = 'none';
    facts.timeUs = 0;
    facts.seq = null;
    facts.creates = false;
    facts.metricCount = 0;
    scan.load(bytes);
    const first = scan.space(0);
    const end = body.isObject(first) ? members(scan, first, topLevel) : scan.value(first);
    if (end === malformed || scan.space(end) !== scan.length) facts.outcome = 'parse_error';
    else judge();
    return facts;
  };
}

/** Maximum number of remembered pairs of account and time. The oldest pairs are dropped first. */
const maxPairs = 32_768;

/**
 * Detects rows that repeat a repository after a `sync`. The rows are not marked as such, but they have the account and
 * the time of the `sync`. Only a salted hash of each pair is kept, in memory: it reveals no account and is never
 * stored.
 */
export class ResyncMemory {
  readonly #pairs = new Set<number>();
  readonly #salt: number;

  /** Creates a detector that remembers no pairs yet. `salt` is 32 random bits. */
  constructor(salt: number) {
    this.#salt = salt;
  }

  /** Records a `sync` of the account whose DID is in `[from, to)`. */
  sync(bytes: Uint8Array, from: number, to: number, timeUs: number): void {
    this.#add(this.#pair(bytes, from, to, timeUs));
  }

  /**
   * Returns true if a create is a row of a re-sync. A create is a row if its `sync` was read. An `old` create, whose
   * time precedes the first event of this reader, is also a row, because its `sync` may have been missed. Hosts
   * without `witnessedAt` also send imported creates with old times: on these hosts, the first old create with a
   * given account and time counts as an event, and all further ones count as rows.
   */
  isRow(bytes: Uint8Array, from: number, to: number, timeUs: number, old: boolean, witnessed: boolean): boolean {
    if (this.#pairs.size === 0 && !old) return false;
    const pair = this.#pair(bytes, from, to, timeUs);
    if (this.#pairs.has(pair)) return true;
    if (!old) return false;
    this.#add(pair);
    return witnessed;
  }

  #add(pair: number): void {
    this.#pairs.add(pair);
    if (this.#pairs.size <= maxPairs) return;
    for (const oldest of this.#pairs) {
      this.#pairs.delete(oldest);
      return;
    }
  }

  /** Computes 53 bits from two FNV-1a hashes. A collision among the remembered pairs is improbable. */
  #pair(bytes: Uint8Array, from: number, to: number, timeUs: number): number {
    let high = 0x811c9dc5 ^ this.#salt;
    let low = 0x9e3779b9 ^ this.#salt;
    for (let i = from; i < to; i += 1) {
      const byte = bytes[i] ?? 0;
      high = Math.imul(high ^ byte, 0x01000193);
      low = Math.imul(low ^ byte, 0x85ebca6b);
      low ^= low >>> 13;
    }
    for (const part of [timeUs % 0x1_0000_0000, Math.floor(timeUs / 0x1_0000_0000)]) {
      high = Math.imul(high ^ (part >>> 0), 0x01000193);
      high ^= high >>> 15;
      low = Math.imul(low ^ (part >>> 0), 0x85ebca6b);
      low ^= low >>> 13;
    }
    return (high >>> 0) * 0x20_0000 + (low >>> 11);
  }
}
