import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { encode } from '@atcute/cbor';
import type { Dice } from '../../sim/random.ts';
import { inputLimits } from '../../src/input/limits.ts';

/** Received bytes, with the content coding that the peer declares. */
export interface FuzzInput {
  readonly bytes: Uint8Array;
  readonly coding: string;
}

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
/** Placeholder in a document for a hostile value. */
const hole = '"%"';

const label = (extra: string) =>
  `{"ver":1,"src":"${did}","uri":"at://did:plc:bbbbbbbbbbbbbbbbbbbbbbbb/app.bsky.feed.post/3k","val":"spam","cts":"2026-07-10T12:00:00Z"${extra}}`;

/** Ordinary documents of each entry point, with placeholders at every kind of position. */
const templates = {
  labelPage: [
    `{"cursor":"12","labels":[${label('')},${label(`,"note":${hole}`)}]}`,
    `{"cursor":${hole},"labels":[${label('')}]}`,
    `{"labels":${hole}}`,
    `{"labels":[{"src":"${did}","uri":${hole},"val":"a","cts":"2026-07-10T12:00:00Z"}]}`,
    `{"labels":[{"src":"${did}","uri":"${did}","val":${hole},"cts":${hole},"sig":${hole}}]}`,
    `{"labels":[${label(`,"sig":${hole},"id":${hole}`)}]}`,
  ],
  labelerRecord: [
    `{"uri":"at://x","value":{"policies":{"labelValues":["spam"],"labelValueDefinitions":${hole}}}}`,
    `{"value":{"policies":{"labelValues":${hole}}}}`,
    `{"value":${hole}}`,
  ],
  didDocument: [
    `{"id":"${did}","alsoKnownAs":["at://a.example.com"],"verificationMethod":${hole},"service":[]}`,
    `{"id":"${did}","alsoKnownAs":${hole},"service":[{"id":"#atproto_labeler","type":"AtprotoLabeler","serviceEndpoint":${hole}}]}`,
    `{"id":"${did}","verificationMethod":[{"id":"#atproto_label","type":"Multikey","publicKeyMultibase":${hole}}],"service":${hole}}`,
  ],
  auditLog: [
    `[{"did":"${did}","nullified":false,"createdAt":"2026-07-10T12:00:00.000Z","operation":{"type":"plc_operation","verificationMethods":{"atproto_label":${hole}}}}]`,
    `[{"did":"${did}","nullified":${hole},"createdAt":${hole},"operation":${hole}},${hole}]`,
  ],
  directoryOperation: [
    `{"type":"sequenced_op","seq":41,"did":"${did}","operation":{"type":"plc_operation","services":{"atproto_labeler":${hole}}}}`,
    `{"type":"sequenced_op","seq":41,"did":"${did}","operation":{"type":"plc_operation","services":{"atproto_labeler":{"type":"AtprotoLabeler","endpoint":${hole}}},"alsoKnownAs":${hole}}}`,
    `{"type":"sequenced_op","seq":${hole},"did":${hole},"createdAt":${hole},"operation":${hole}}`,
  ],
  directoryExport: [
    `{"type":"sequenced_op","seq":41,"did":"${did}","operation":${hole}}\n{"type":"sequenced_op","seq":42,"did":"${did}","operation":${hole}}`,
  ],
  relayList: [`{"repos":[{"did":"${did}"},${hole}],"cursor":""}`, `{"repos":${hole},"cursor":${hole}}`],
  serviceEvent: [
    `{"did":"${did}","time_us":1780000000000000,"kind":"commit","commit":{"operation":"create","collection":"app.bsky.labeler.service","rkey":"self","record":{"policies":{"labelValues":${hole}}}}}`,
    `{"did":${hole},"time_us":${hole},"kind":"identity"}`,
    `{"$type":"message","payload":{"$type":"network.bsky.jetstream.subscribeEvents#commit","did":"${did}","collection":"app.bsky.labeler.service","operation":"create","rkey":"self","time":"2026-08-13T06:47:43.959305Z","record":{"policies":{"labelValues":${hole}}}}}`,
    `{"$type":"message","payload":{"$type":${hole},"did":${hole},"time":${hole},"witnessedAt":${hole}}}`,
  ],
  weatherFrame: [
    `{"did":"${did}","time_us":1780000000000000,"kind":"commit","commit":{"rev":"x","operation":"create","collection":"app.bsky.feed.post","rkey":"3k","record":${hole},"cid":"b"}}`,
    `{"did":${hole},"time_us":${hole},"kind":${hole},"account":${hole}}`,
  ],
  eventFrame: [
    `{"$type":"message","payload":{"$type":"network.bsky.jetstream.subscribeEvents#commit","collection":"app.bsky.feed.post","did":"${did}","operation":"create","record":${hole},"seq":7,"time":"2026-08-13T06:47:43.959305Z"}}`,
    `{"$type":"message","payload":{"$type":${hole},"account":${hole},"did":${hole},"seq":${hole},"time":${hole}}}`,
    `{"$type":${hole},"payload":${hole}}`,
  ],
  artifact: [
    `{"schema":"labels.recent-overview.v1","generated_at":"2026-07-10T12:00:00Z","coverage":${hole},"top_labelers_7d":${hole}}`,
    `{"schema_version":23,"generated_at":"x","alerts_by_rule_7d":${hole},"census":{"visibility_class":${hole}}}`,
    `{"schema":"weather.summary.v1","collections":${hole},"window":${hole}}`,
  ],
  hoursFile: [
    `{"schema":"labels.hours.v1","generated_at":"2026-07-10T12:00:00Z","hours":${hole},"labelers":[{"labeler_did":"${did}","applications":${hole}}]}`,
    `{"schema":"weather.hours.v1","generated_at":"2026-07-10T12:00:00Z","series":[{"hours":${hole},"collections":${hole},"gaps":${hole}}]}`,
  ],
  labelerLine: [
    `{"did":"${did}","handle":${hole},"days":${hole},"values":[{"value":${hole},"events":1}],"gaps":${hole}}`,
    `{"did":"${did}","seen_at":"2026-07-10T12:00:00Z","values":[{"value":"spam","locales":${hole}}],"values_omitted":0}`,
  ],
  otherJson: [hole],
  errorBody: [`{"error":${hole},"message":"x"}`, `{"error":"InvalidRequest","message":${hole}}`],
} as const;

/**
 * Returns a document for an entry point with hostile values in place of its placeholders. The bytes of some documents
 * are mutated.
 */
export function jsonInput(dice: Dice, name: keyof typeof templates): FuzzInput {
  const max = (inputLimits[name].decodedBytes ?? inputLimits[name].bytes) - 1_000;
  const template: string = dice.pick<string>(templates[name]);
  const text = template.replaceAll(hole, () => hostileJson(dice, sizeOf(dice, max)));
  const bytes = Buffer.from(text);
  return { bytes: dice.chance(0.3) ? mutated(dice, bytes) : bytes, coding: '' };
}

/**
 * Returns a hostile JSON document as an HTTP body with a content coding. The body may be mutated or have the wrong
 * coding.
 */
export function bodyInput(dice: Dice, name: keyof typeof templates): FuzzInput {
  const { bytes } = jsonInput(dice, name);
  const coding = dice.pick(['', '', '', 'gzip', 'deflate', 'br', 'zstd']);
  const packed = dice.chance(0.05) ? bytes : compress(bytes, coding);
  return { bytes: dice.chance(0.1) ? mutated(dice, packed) : packed, coding };
}

function compress(bytes: Uint8Array, coding: string): Uint8Array {
  if (coding === 'gzip') return gzipSync(bytes, { level: 1 });
  if (coding === 'deflate') return deflateSync(bytes, { level: 1 });
  if (coding === 'br') return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
  return bytes;
}

/** Returns a label frame with hostile items at one or more positions. The bytes of some frames are mutated. */
export function frameInput(dice: Dice): FuzzInput {
  const max = inputLimits.labelFrame.bytes - 1_000;
  const hostile = () => hostileCbor(dice, sizeOf(dice, max));
  const ordinary = JSON.parse(label('')) as object;
  const fields = (): Uint8Array => {
    // Marker to be replaced: an integer whose encoding occurs nowhere else in the label.
    const bytes = encode({ ...ordinary, [dice.pick(['note', 'sig', 'val', 'uri', 'cts', 'neg', 'x'])]: 48_879 });
    const at = Buffer.from(bytes).indexOf(Buffer.from([0x19, 0xbe, 0xef]));
    return Buffer.concat([bytes.subarray(0, at), hostile(), bytes.subarray(at + 3)]);
  };
  const header = dice.chance(0.05) ? hostile() : encode({ op: dice.pick([1, 1, 1, 1, -1]), t: '#labels' });
  const seq = Buffer.concat([Buffer.from([0xa2, 0x63]), Buffer.from('seq'), encode(dice.below(1_000))]);
  const list = dice.pick(['labels', 'one', 'item', 'many']);
  const count = list === 'many' ? 1 + dice.below(20) : 1;
  const labels = list === 'labels' ? hostile() : Buffer.concat([Buffer.from([0x80 | count]), ...repeat(count, fields)]);
  const name = Buffer.concat([Buffer.from([0x66]), Buffer.from('labels')]);
  const bytes = Buffer.concat([header, seq, name, count < 24 ? labels : hostile()]);
  return { bytes: dice.chance(0.3) ? mutated(dice, bytes) : bytes, coding: '' };
}

function repeat<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}

/**
 * Returns the size of a generated part. Most sizes are small, so that many inputs can be tested; a few reach up to the
 * maximum of the entry point.
 */
export function sizeOf(dice: Dice, max: number): number {
  const kind = dice.below(1_000);
  const bound = kind < 900 ? 60 : kind < 997 ? 4_000 : max;
  return 1 + dice.below(Math.min(bound, max));
}

/**
 * Pieces of JSON that hostile documents repeat. They are as short as possible, so that a document contains the maximum
 * number of values.
 */
const pieces = [
  '[]',
  '{}',
  '0',
  '""',
  '1.5e9',
  'null',
  '[[]]',
  '{"":0}',
  '"\\u0000"',
  '-0',
  '{"a":{}}',
  '"é"',
  '1e400',
];

/**
 * Maximum size in bytes of objects with distinct fields. Larger objects would fill the heap while they are generated.
 */
const maxFieldBytes = 1_000_000;

function fields(count: number, name: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => `"${name(i)}":0`).join();
}

/** Returns a hostile JSON value of approximately `size` bytes. */
function hostileJson(dice: Dice, size: number): string {
  switch (dice.below(11)) {
    case 0:
      return '['.repeat(size / 2) + ']'.repeat(size / 2);
    case 1:
      return `${'{"a":'.repeat(size / 6)}1${'}'.repeat(size / 6)}`;
    case 2: {
      const piece = dice.pick(pieces);
      return `[${`${piece},`.repeat(size / (piece.length + 1))}0]`;
    }
    case 3:
      return `{${fields(Math.min(size, maxFieldBytes) / 8, (i) => i.toString(36))}}`;
    case 4:
      return `{${'"a":0,'.repeat(size / 6)}"a":1}`;
    case 5:
      return `"${dice.pick(['x', '\\u0000', '\\n', 'é', '\\ud800', '😀', '\\\\']).repeat(size / 2)}"`;
    case 6:
      return `${dice.pick(['1', '-9', '0.', '1e'])}${'1'.repeat(size)}`;
    case 7:
      return `${' \n\t\r'.repeat(size / 4)}[]`;
    case 8:
      return `{"$bytes":"${'QUJD'.repeat(size / 4)}${dice.pick(['', '=', '==', '!'])}"}`;
    case 9:
      // Use keys that look like integers: engines store them separately.
      return `{${fields(Math.min(size, maxFieldBytes) / 12, (i) => String(i * 1_023))}}`;
    default:
      return `[${`{"__proto__":[${'0,'.repeat(3)}0],"constructor":{}},`.repeat(size / 40)}0]`;
  }
}

/** Returns a hostile CBOR item of approximately `size` bytes. */
function hostileCbor(dice: Dice, size: number): Uint8Array {
  switch (dice.below(10)) {
    case 0:
      return Buffer.alloc(size, dice.pick([0x81, 0x9f, 0xc1, 0xd8]));
    case 1:
      return Buffer.concat([Buffer.alloc(size - (size % 3), Buffer.from([0xa1, 0x61, 0x61])), Buffer.from([0])]);
    case 2:
      return array(size, Buffer.alloc(size, dice.pick([0x80, 0xa0, 0x00, 0x60, 0x40, 0xf6, 0x20])));
    case 3:
      return array(dice.below(2 ** 31), Buffer.alloc(size, 0x80));
    case 4:
      return sized(0x40, size, Buffer.alloc(size, dice.below(256)));
    case 5:
      return sized(0x60, size, Buffer.alloc(size, dice.pick([0x61, 0x00, 0xff, 0xc3])));
    case 6: {
      const entries = Math.floor(size / 6);
      const bytes = Buffer.alloc(6 * entries, 0x64);
      for (let i = 0; i < entries; i += 1) bytes.write(`${(0x1000 + i).toString(16).slice(-4)}\0`, 6 * i + 1, 'latin1');
      return sized(0xa0, entries, bytes);
    }
    case 7: {
      // Use small integers as keys: engines treat them as array indexes.
      const key = String(dice.below(1_100));
      const map = Buffer.concat([Buffer.from([0xa1, 0x60 | key.length]), Buffer.from(key), Buffer.from([0])]);
      const count = Math.ceil(size / map.length);
      return sized(0x80, count, Buffer.alloc(map.length * count, map));
    }
    case 8:
      return Buffer.from(Array.from({ length: Math.min(size, 4_000) }, () => dice.below(256)));
    default:
      return Buffer.concat([sized(0x40, 2 ** 32 - 1, Buffer.alloc(0)), Buffer.alloc(size)]);
  }
}

function array(claimed: number, items: Uint8Array): Uint8Array {
  return sized(0x80, claimed, items);
}

/** Returns a CBOR head with the given type and length, followed by `rest`. */
function sized(type: number, length: number, rest: Uint8Array): Uint8Array {
  const head = Buffer.alloc(5);
  head[0] = type | 0x1a;
  head.writeUInt32BE(length >>> 0, 1);
  if (length < 24) return Buffer.concat([Buffer.from([type | length]), rest]);
  if (length < 256) return Buffer.concat([Buffer.from([type | 0x18, length]), rest]);
  if (length < 65_536) return Buffer.concat([Buffer.from([type | 0x19, length >> 8, length & 255]), rest]);
  return Buffer.concat([head, rest]);
}

/** Returns a copy of the bytes with some of them changed, omitted, repeated or cut off. */
export function mutated(dice: Dice, bytes: Uint8Array): Uint8Array {
  const at = dice.below(bytes.length + 1);
  switch (dice.below(5)) {
    case 0: {
      const copy = Uint8Array.from(bytes);
      for (let i = dice.below(4); i >= 0; i -= 1) copy[dice.below(Math.max(1, copy.length))] = dice.below(256);
      return copy;
    }
    case 1:
      return bytes.subarray(0, at);
    case 2:
      return Buffer.concat([bytes.subarray(0, at), bytes]);
    case 3:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from([dice.below(256)]), bytes.subarray(at)]);
    default:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.min(bytes.length, at + 1 + dice.below(8)))]);
  }
}
