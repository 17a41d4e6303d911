import type { JsonLimits } from './json-budget.ts';

const kib = 1024;
const mib = 1024 * kib;

/** Maximum processor time for one input: a fixed part, and a part per byte. */
interface CpuBudget {
  readonly fixedMicroseconds: number;
  readonly nanosecondsPerByte: number;
}

/** Limits of one entry point for untrusted bytes. A limit that does not apply to the kind of input is null. */
export interface InputLimit {
  readonly input: string;
  /** The party that controls the bytes. */
  readonly author: string;
  /** Maximum size in bytes, as received. */
  readonly bytes: number;
  /** Maximum size in bytes after content decoding; `maxDecodedBytes` of this module also limits the ratio. */
  readonly decodedBytes: number | null;
  readonly depth: number | null;
  readonly elements: number | null;
  readonly fields: number | null;
  readonly cpu: CpuBudget;
  /** The file that applies the limits. */
  readonly code: string;
}

/** Limits of an entry point for JSON or DAG-CBOR, including limits on the shape. */
interface ShapedInput extends InputLimit, JsonLimits {
  readonly depth: number;
  readonly elements: number;
  readonly fields: number;
}

const shaped = (input: ShapedInput): ShapedInput => input;
const flat = <const T extends InputLimit>(input: T): T => input;

/**
 * Limits of all entry points for untrusted bytes. The code takes its limits from this table. The resource fuzzer
 * tests every entry. `docs/input-limits.md` is generated from the table.
 */
export const inputLimits = {
  labelFrame: shaped({
    input: 'label frame (`subscribeLabels`)',
    author: 'a labeler',
    // Accept frames with labels of up to 10 MB, so that an oversized label is counted as a refused label.
    bytes: 12 * mib,
    decodedBytes: null,
    depth: 32,
    // A frame of 10,000 labels with every field of the lexicon has 190,000 elements.
    elements: 262_144,
    fields: 256,
    cpu: { fixedMicroseconds: 4_000, nanosecondsPerByte: 120 },
    code: 'src/labels/stream/frame-queue.ts',
  }),
  labelPage: shaped({
    input: 'label page (`queryLabels`) with several labels',
    author: 'a labeler',
    bytes: 2 * mib,
    decodedBytes: 2 * mib,
    depth: 32,
    // A page of 1,000 labels with every field of the lexicon has 19,000 elements.
    elements: 65_536,
    fields: 256,
    cpu: { fixedMicroseconds: 6_000, nanosecondsPerByte: 200 },
    code: 'src/labels/reading/pages.ts',
  }),
  singleLabelPage: shaped({
    input: 'label page (`queryLabels`) with one label',
    author: 'a labeler',
    bytes: 12 * mib,
    decodedBytes: 12 * mib,
    depth: 32,
    elements: 65_536,
    fields: 256,
    cpu: { fixedMicroseconds: 6_000, nanosecondsPerByte: 200 },
    code: 'src/labels/reading/pages.ts',
  }),
  labelerRecord: shaped({
    input: 'labeler record (`getRecord`)',
    author: 'a labeler',
    bytes: mib,
    decodedBytes: mib,
    depth: 32,
    elements: 65_536,
    fields: 1_024,
    cpu: { fixedMicroseconds: 4_000, nanosecondsPerByte: 200 },
    code: 'src/labels/roster/labeler-metadata.ts',
  }),
  didDocument: shaped({
    input: 'DID document',
    author: 'the holder of a DID',
    bytes: 64 * kib,
    decodedBytes: 64 * kib,
    depth: 16,
    elements: 8_192,
    fields: 256,
    cpu: { fixedMicroseconds: 20_000, nanosecondsPerByte: 200 },
    code: 'src/network/identity/identity.ts',
  }),
  auditLog: shaped({
    input: 'audit log of a DID (`/log/audit`)',
    author: 'the holder of a DID, through the directory',
    // An operation is about 1.2 KB long, and the directory limits the number of operations of a DID.
    bytes: mib,
    decodedBytes: mib,
    depth: 16,
    elements: 65_536,
    fields: 256,
    cpu: { fixedMicroseconds: 20_000, nanosecondsPerByte: 200 },
    code: 'src/network/identity/identity.ts',
  }),
  directoryOperation: shaped({
    input: 'operation of the did:plc directory (`/export/stream`)',
    author: 'the holder of any DID, through the directory',
    // The directory limits an operation to 7.5 kB of DAG-CBOR; a byte that JSON must escape takes six bytes.
    bytes: 64 * kib,
    decodedBytes: null,
    depth: 16,
    elements: 8_192,
    fields: 256,
    cpu: { fixedMicroseconds: 4_000, nanosecondsPerByte: 200 },
    code: 'src/network/identity/did-document.ts',
  }),
  directoryExport: flat({
    input: 'page of operations of the did:plc directory (`/export`), each within the limits of one operation',
    author: 'the holders of DIDs, through the directory',
    // A page of 1,000 operations is about 1.2 MB long; the page size is reduced after a larger page.
    bytes: 4 * mib,
    decodedBytes: 4 * mib,
    depth: null,
    elements: null,
    fields: null,
    cpu: { fixedMicroseconds: 20_000, nanosecondsPerByte: 250 },
    code: 'src/labels/discovery/directory-stream.ts',
  }),
  relayList: shaped({
    input: 'relay list (`listReposByCollection`)',
    author: 'a relay',
    bytes: mib,
    decodedBytes: mib,
    depth: 16,
    // A page of 1,000 accounts has 3,000 elements.
    elements: 32_768,
    fields: 256,
    cpu: { fixedMicroseconds: 4_000, nanosecondsPerByte: 200 },
    code: 'src/labels/roster/labeler-lists.ts',
  }),
  serviceEvent: shaped({
    input: 'Jetstream frame of the label instrument',
    author: 'a Jetstream host, and labelers through it',
    bytes: mib,
    decodedBytes: null,
    depth: 32,
    elements: 65_536,
    fields: 1_024,
    cpu: { fixedMicroseconds: 4_000, nanosecondsPerByte: 200 },
    code: 'src/labels/roster/service-events.ts',
  }),
  weatherFrame: flat({
    input: 'Jetstream frame of the weather instrument',
    author: 'a Jetstream host, and every account through it',
    bytes: 10 * mib,
    decodedBytes: 10 * mib,
    // The shape is not limited, because the classifier creates no objects and stores only one byte per open
    // container.
    depth: null,
    elements: null,
    fields: null,
    // The budget includes decompression: a few hundred bytes of zstd may expand to 1 MiB, and each byte after the
    // first 16 KiB may expand to 64 bytes.
    cpu: { fixedMicroseconds: 20_000, nanosecondsPerByte: 700 },
    code: 'src/weather/classify/classify.ts',
  }),
  eventFrame: flat({
    input: 'frame of `subscribeEvents`, of the weather instrument',
    author: 'a Jetstream host, and every account through it',
    // Frames of the upstream are at most 5 MB long.
    bytes: 10 * mib,
    decodedBytes: 10 * mib,
    // The shape is not limited, because the classifier creates no objects and stores only one byte per open
    // container.
    depth: null,
    elements: null,
    fields: null,
    cpu: { fixedMicroseconds: 80_000, nanosecondsPerByte: 60 },
    code: 'src/weather/classify/classify-events.ts',
  }),
  zstdDictionary: flat({
    input: 'zstd dictionary (`getZstdDictionary`)',
    author: 'a Jetstream host',
    // The dictionaries in use are 64 KiB long.
    bytes: mib,
    decodedBytes: mib,
    depth: null,
    elements: null,
    fields: null,
    // The budget is per frame, because the decoder builds the tables of the dictionary for each frame.
    cpu: { fixedMicroseconds: 20_000, nanosecondsPerByte: 60 },
    code: 'src/weather/stream/dictionary.ts',
  }),
  artifact: shaped({
    input: 'artifact, as a file or by URL',
    author: 'an instrument',
    bytes: 4 * mib,
    decodedBytes: 4 * mib,
    depth: 32,
    elements: 262_144,
    fields: 65_536,
    cpu: { fixedMicroseconds: 30_000, nanosecondsPerByte: 200 },
    code: 'src/artifact/reading.ts',
  }),
  hoursFile: shaped({
    input: 'hours file, written by an instrument and read by the archive',
    author: 'an instrument',
    bytes: 4 * mib,
    decodedBytes: 4 * mib,
    depth: 8,
    // 5,000 labelers with three lists of 72 hours have 1.2 million elements.
    elements: 1_310_720,
    fields: 64,
    cpu: { fixedMicroseconds: 30_000, nanosecondsPerByte: 250 },
    code: 'src/artifact/hours/hours.ts',
  }),
  labelerLine: shaped({
    input: 'line of the labelers artifact, as a file or by URL',
    author: 'the label instrument, and labelers through it',
    bytes: 64 * kib,
    decodedBytes: 64 * kib,
    depth: 8,
    // A line of 64 KiB with the shortest definitions has fewer than 10,000 elements.
    elements: 16_384,
    fields: 64,
    cpu: { fixedMicroseconds: 4_000, nanosecondsPerByte: 200 },
    code: 'src/artifact/labelers/labeler-set.ts',
  }),
  otherJson: shaped({
    input: 'any other JSON response',
    author: 'a host that is contacted',
    bytes: mib,
    decodedBytes: mib,
    depth: 32,
    elements: 65_536,
    fields: 1_024,
    cpu: { fixedMicroseconds: 4_000, nanosecondsPerByte: 200 },
    code: 'src/network/http/http-answer.ts',
  }),
  errorBody: shaped({
    input: 'body of an HTTP error',
    author: 'a host that is contacted',
    bytes: 16 * kib,
    decodedBytes: 16 * kib,
    depth: 16,
    elements: 1_024,
    fields: 256,
    cpu: { fixedMicroseconds: 2_000, nanosecondsPerByte: 200 },
    code: 'src/network/http/http-answer.ts',
  }),
  handleAnswer: flat({
    input: 'handle response (`/.well-known/atproto-did`)',
    author: 'the host of a handle',
    bytes: 2 * kib,
    decodedBytes: 2 * kib,
    depth: null,
    elements: null,
    fields: null,
    cpu: { fixedMicroseconds: 2_000, nanosecondsPerByte: 200 },
    code: 'src/network/identity/identity.ts',
  }),
  dnsText: flat({
    input: 'DNS TXT response of a handle',
    author: 'the DNS server of a handle',
    // Maximum length of a DNS message over TCP; records beyond the 64th are not read.
    bytes: 64 * kib,
    decodedBytes: null,
    depth: null,
    elements: 64,
    fields: null,
    cpu: { fixedMicroseconds: 2_000, nanosecondsPerByte: 200 },
    code: 'src/network/identity/identity.ts',
  }),
  httpRequest: flat({
    input: 'HTTP request, target and headers',
    author: 'a client',
    bytes: 16 * kib,
    decodedBytes: null,
    depth: null,
    elements: null,
    fields: 100,
    cpu: { fixedMicroseconds: 2_000, nanosecondsPerByte: 200 },
    code: 'src/http/parser-errors.ts',
  }),
  cursor: flat({
    input: 'cursor of the account view',
    author: 'a client',
    bytes: kib,
    decodedBytes: null,
    depth: null,
    elements: null,
    fields: null,
    cpu: { fixedMicroseconds: 2_000, nanosecondsPerByte: 200 },
    code: 'src/account/cursor/cursor.ts',
  }),
  archivedFact: shaped({
    input: 'published fact, fetched by the archive',
    author: 'the facts service of the operator, or a proxy in front of it',
    bytes: mib,
    decodedBytes: mib,
    depth: 32,
    elements: 65_536,
    fields: 1_024,
    cpu: { fixedMicroseconds: 20_000, nanosecondsPerByte: 250 },
    code: 'src/archive/days/line.ts',
  }),
  archiveFile: shaped({
    input: 'file of an archive, verified from a URL or directory; the limits on the shape apply to each line',
    author: 'the publisher of an archive',
    // A file of archived facts contains at most 24 lines, each with a body of at most 1 MiB.
    bytes: 32 * mib,
    decodedBytes: 32 * mib,
    // An archived body is one level deeper than the fact itself, because it is nested in its line.
    depth: 33,
    elements: 262_144,
    fields: 1_024,
    cpu: { fixedMicroseconds: 20_000, nanosecondsPerByte: 250 },
    code: 'src/archive/verify/archive-reader.ts',
  }),
} as const;

/** Name of an entry point. */
export type InputName = keyof typeof inputLimits;

/** Decoded size in bytes that is allowed regardless of the received size of a body. */
const alwaysDecoded = mib;
/** Maximum ratio of decoded to received bytes for larger bodies; JSON of real labels has a ratio of about ten. */
const maxRatio = 64;

/** Returns the maximum decoded size of a body in bytes. The maximum protects against decompression bombs. */
export function maxDecodedBytes(encodedBytes: number, limit: number): number {
  return Math.min(limit, Math.max(alwaysDecoded, maxRatio * encodedBytes));
}

/** Number of pieces in which a body of any length may arrive. */
const alwaysPieces = 4_096;
/**
 * Minimum average length, in bytes, of the pieces beyond `alwaysPieces`; streaming servers send at least one label at a
 * time.
 */
const minPieceBytes = 32;

/** Returns the maximum number of pieces in which a body may arrive. Processing a piece takes a few microseconds. */
export function maxPieces(bytes: number): number {
  return alwaysPieces + bytes / minPieceBytes;
}

/**
 * Maximum number of informational (1xx) responses before the final one; they do not count against the size of the body.
 */
export const maxInformational = 1_000;

/** Maximum average heap size of one decoded element, in bytes, for an input of objects with unique fields. */
const bytesPerElement = 128;

/**
 * Returns an upper estimate of the memory that a decoded input occupies, in bytes. A character of text may use two
 * bytes.
 */
export function decodedCost(bytes: number, elements: number): number {
  return 2 * bytes + bytesPerElement * elements;
}
