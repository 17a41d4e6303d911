import { byteWords, spelling } from './byte-words.ts';
import {
  absent,
  type Classifier,
  count,
  EventBody,
  emptyFacts,
  expectedKeys,
  type Level,
  members,
} from './event-body.ts';

import { JsonScan, malformed } from './json-scan.ts';
import { metricIndex } from './metric-names.ts';

const kindWords = byteWords(['commit', 'account', 'identity', 'sync']);
const kindCommit = 0;
const kindAccount = 1;
const kindIdentity = 2;
const kindSync = 3;

/** The most frequent kind of frame, as Jetstream writes it. */
const commonKind = spelling('"commit"');

const topKeys = ['time_us', 'kind', 'commit', 'account', 'cursor'];
const commitKeys = ['operation', 'collection', 'record'];

/**
 * Creates a classifier of the legacy protocol. The classifier returns a result for any bytes, never throws, reads the
 * bytes in one pass, and has no state except the reused result. The result is `parse_error` if and only if `JSON.parse`
 * of the frame as UTF-8 throws, so no invalid frame is counted. If a key is repeated in an object, the last value
 * counts, as in `JSON.parse`.
 */
export function createClassifier(): Classifier {
  const scan = new JsonScan();
  const body = new EventBody(scan);
  const facts = emptyFacts();

  let timeUs = 0;
  let seq = 0;
  let kind = absent;
  let commitSeen = false;

  const topLevel: Level = {
    keys: byteWords(topKeys),
    expected: expectedKeys(topKeys, ['did', 'time_us', 'kind', 'commit']),
    take(key, from) {
      let end: number;
      switch (key) {
        case 0:
          end = scan.integerValue(from);
          timeUs = scan.integer;
          return end;
        case 1:
          if (scan.spells(commonKind, from)) {
            kind = kindCommit;
            return from + commonKind.length;
          }
          end = body.word(from, kindWords);
          kind = body.found;
          return end;
        case 2:
          body.forgetCommit();
          commitSeen = body.isObject(from);
          return commitSeen ? members(scan, from, commitLevel) : scan.value(from);
        case 3:
          return body.takeAccount(from);
        default:
          end = scan.integerValue(from);
          seq = scan.integer;
          return end;
      }
    },
  };

  const commitLevel: Level = {
    keys: byteWords(commitKeys),
    expected: expectedKeys(commitKeys, ['rev', 'operation', 'collection', 'rkey', 'record', 'cid']),
    take(key, from) {
      if (key === 0) return body.takeOperation(from);
      return key === 1 ? body.takeCollection(from) : body.takeRecord(from);
    },
  };

  return (frame) => {
    timeUs = 0;
    seq = 0;
    kind = absent;
    commitSeen = false;
    body.forgetCommit();
    body.forgetAccount();
    facts.timeUs = 0;
    facts.seq = null;
    facts.creates = false;
    facts.metricCount = 0;

    scan.load(frame);
    const first = scan.space(0);
    const end = body.isObject(first) ? members(scan, first, topLevel) : scan.value(first);
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
    if (kind === kindCommit) {
      facts.creates = body.creates;
      if (commitSeen) body.countCommit(facts);
      else count(facts, metricIndex['malformed.commit']);
    } else if (kind === kindAccount) body.countAccount(facts);
    else if (kind === kindIdentity) count(facts, metricIndex['identity.event']);
    else if (kind === kindSync) count(facts, metricIndex['sync.event']);
    else count(facts, metricIndex['unclassified.kind']);
    return facts;
  };
}
