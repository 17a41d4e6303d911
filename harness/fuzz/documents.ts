import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { encode } from '@atcute/cbor';
import type { Dice } from '../../sim/random.ts';
import { inputLimits } from '../../src/input/limits.ts';
import { hostileCbor, hostileJson, mutated, sizeOf } from './shapes.ts';

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
export const templates = {
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
