import { readFileSync } from 'node:fs';
import { zstdCompressSync } from 'node:zlib';
import { type Dice, dice } from '../../sim/random.ts';
import { createCursors } from '../../src/account/cursor/cursor.ts';
import { parseAccountQuery, parseParameters, searchOf } from '../../src/account/query/query.ts';
import { formatResponse, parseLine, parseLines } from '../../src/archive/days/line.ts';
import { parseDay, parseIndex } from '../../src/archive/days/records.ts';
import { decodeHours } from '../../src/artifact/hours/hours.ts';
import { recogniseLabelsHours } from '../../src/artifact/hours/labels-hours.ts';
import { recogniseWeatherHours } from '../../src/artifact/hours/weather-hours.ts';
import { labelerDecoder } from '../../src/artifact/labelers/labeler-set.ts';
import { decodeArtifact } from '../../src/artifact/reading.ts';
import { recogniseLabels, recogniseWeather } from '../../src/artifact/recognise.ts';
import { parsePlainRequest } from '../../src/http/plain-lane.ts';
import { pathOf } from '../../src/http/read-request.ts';
import { createDecodedBytes } from '../../src/input/decoded-bytes.ts';
import { type InputName, inputLimits } from '../../src/input/limits.ts';
import { admit } from '../../src/labels/ingest/admission.ts';
import { authoredOf, fingerprint, separateSignature } from '../../src/labels/label/label-fields.ts';
import { decimal, queryLabels } from '../../src/labels/reading/pages.ts';
import { listLabelers } from '../../src/labels/roster/labeler-lists.ts';
import { definitionsOf, parseServiceFrame } from '../../src/labels/roster/service-events.ts';
import { FrameQueue } from '../../src/labels/stream/frame-queue.ts';
import type { GetJsonOptions, HttpClient, JsonAnswer } from '../../src/network/http/http.ts';
import { decodeBody, parseText, readJson, readStatus } from '../../src/network/http/http-answer.ts';
import {
  parseDidDocument,
  parseDirectoryExport,
  parseDirectoryOperation,
  parseEarlierLabelKeys,
} from '../../src/network/identity/did-document.ts';
import { resolveHandle } from '../../src/network/identity/identity.ts';
import { micros } from '../../src/store/time.ts';
import { createClassifier } from '../../src/weather/classify/classify.ts';
import { createEventsClassifier, ResyncMemory } from '../../src/weather/classify/classify-events.ts';
import { decompressor, isZstdDictionary } from '../../src/weather/stream/dictionary.ts';
import { labelerFixture } from '../artifacts/labelers.ts';
import { bodyInput, type FuzzInput, frameInput, jsonInput, mutated, sizeOf } from './documents.ts';

/** Number of operations that one page of the directory's export is asked for. */
const maxCount = 1_000;

/** An entry point for untrusted bytes: a generator of inputs, and the program's function that reads them. */
interface FuzzEntry {
  readonly make: (dice: Dice) => FuzzInput;
  readonly run: (input: FuzzInput) => void | Promise<void>;
}

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const never = new AbortController().signal;
const rules = { source: did, since: micros(0), now: micros(Date.UTC(2026, 6, 10, 13) * 1000) };

/** Processes each row as the instrument does, but without storing it. */
function takeRows(rows: readonly unknown[]): void {
  for (const row of rows) {
    fingerprint(row);
    authoredOf(row);
    const admission = admit(row, rules);
    if (admission.kind === 'accepted') separateSignature(row as Readonly<Record<string, unknown>>);
  }
}

async function json({ bytes, coding }: FuzzInput, options: Pick<GetJsonOptions, 'maxBytes' | 'shape'>) {
  const { maxBytes } = options;
  if (bytes.length > maxBytes) return { kind: 'too_large' } as const;
  const decoded = decodeBody(coding === '' ? {} : { 'content-encoding': coding }, Buffer.from(bytes), maxBytes);
  return decoded.kind === 'decoded' ? readJson(decoded.bytes, options) : ({ kind: 'not_json' } as const);
}

/** Returns an HTTP client that responds to every request with the input. */
function clientOf(input: FuzzInput): HttpClient {
  return {
    async getJson(_url, options): Promise<JsonAnswer> {
      const read = await json(input, options);
      return read.kind === 'json' ? { ...read, status: 200, date: null } : read;
    },
    async getText(_url, { maxBytes }) {
      const body = Buffer.from(input.bytes);
      const text = body.length > maxBytes ? null : parseText(body);
      return text === null ? { kind: 'not_text' } : { kind: 'text', status: 200, text, date: null };
    },
    close: () => Promise.resolve(),
  };
}

function page(large: boolean): FuzzEntry {
  return {
    make: (from) => bodyInput(from, 'labelPage'),
    async run(input) {
      const options = { limit: large ? 1 : 250, large, timeoutMs: 1, signal: never };
      const found = await queryLabels(clientOf(input), 'https://a.example', 0, options);
      if (found.kind !== 'page') return;
      decimal(found.cursor);
      takeRows(found.labels);
    },
  };
}

/** Returns the entry point for a JSON document that is fetched over HTTP. */
function document(name: 'labelerRecord' | 'didDocument' | 'auditLog', parse: (value: unknown) => unknown): FuzzEntry {
  return {
    make: (from) => bodyInput(from, name),
    async run(input) {
      const limits = inputLimits[name];
      const read = await json(input, { maxBytes: limits.bytes, shape: limits });
      if (read.kind === 'json') parse(read.value);
    },
  };
}

const classify = createClassifier();
/** Dictionary for compressed Jetstream frames. */
export const jetstreamDictionary = readFileSync(
  new URL('../../test/fixtures/jetstream/dictionary.zstd', import.meta.url),
);
const decompress = decompressor(jetstreamDictionary, inputLimits.weatherFrame.decodedBytes);
const classifyEvent = createEventsClassifier(new ResyncMemory(1));
const decompressEvent = decompressor(jetstreamDictionary, inputLimits.eventFrame.decodedBytes);
const compressedFrame = zstdCompressSync(Buffer.from('{"$type":"message"}'), { dictionary: jetstreamDictionary });
const cursors = createCursors([Buffer.alloc(32, 1), Buffer.alloc(32, 2)]);
const memory = createDecodedBytes({ total: 64 * 1024 * 1024, reserve: 16_384, buffered: 0 });
const identity = { resolve: () => Promise.resolve({ kind: 'not_found', status: 404 } as const) };

/** Returns the header lines of the two files of a labelers artifact with the given number of lines. */
function labelerHeaders(lines: number): { labelers: Buffer; definitions: Buffer } {
  const { header, definitionsHeader } = labelerFixture({ count: 0, generatedAt: 0 });
  const text = (of: object): Buffer => Buffer.from(`${JSON.stringify({ ...of, labelers: lines })}\n`);
  return { labelers: text(header), definitions: text(definitionsHeader) };
}

const withoutLabelers = labelerHeaders(0);
const withOneLabeler = labelerHeaders(1);

/** Returns a JSON frame of a Jetstream, sometimes compressed. */
function streamFrame(from: Dice, name: 'weatherFrame' | 'eventFrame'): FuzzInput {
  const { bytes } = jsonInput(from, name);
  return from.chance(0.3)
    ? { bytes: zstdCompressSync(bytes, { dictionary: jetstreamDictionary }), coding: 'zstd' }
    : { bytes, coding: '' };
}

const words = [
  'GET ',
  '/account',
  '?did=',
  'did:plc:',
  '%41',
  '%',
  '&',
  '=',
  '\r\n',
  'Host: a',
  ' HTTP/1.1',
  'a',
  ':',
  ' ',
  '\0',
  'é',
  '/..',
  'x,',
];

function text(from: Dice, max: number): FuzzInput {
  let made = from.chance(0.5) ? 'GET /v1/labels/overview HTTP/1.1\r\nHost: a\r\n' : 'GET /account?did=';
  const length = sizeOf(from, max);
  while (made.length < length) made += from.pick(words).repeat(from.chance(0.1) ? 1 + from.below(500) : 1);
  return { bytes: Buffer.from(`${made.slice(0, max)}\r\n\r\n`), coding: '' };
}

/** All entry points that the table of input limits lists. */
export const fuzzEntries: Readonly<Record<InputName, FuzzEntry>> = {
  labelFrame: {
    make: frameInput,
    run({ bytes }) {
      const frames = new FrameQueue(memory.open(), () => micros(0));
      if (bytes.length <= inputLimits.labelFrame.bytes) frames.push(bytes);
      for (let next = frames.next(); next !== null; next = frames.next()) {
        for (const frame of frames.take(next)) if (frame.kind === 'labels') takeRows(frame.labels);
      }
    },
  },
  labelPage: page(false),
  singleLabelPage: page(true),
  labelerRecord: document('labelerRecord', (value) => {
    if (typeof value === 'object' && value !== null && 'value' in value) definitionsOf(value.value);
  }),
  didDocument: document('didDocument', (value) => parseDidDocument(value, did, { allowHttp: false })),
  auditLog: document('auditLog', (value) => parseEarlierLabelKeys(value, did)),
  directoryOperation: {
    make: (from) => jsonInput(from, 'directoryOperation'),
    run({ bytes }) {
      parseDirectoryOperation(Buffer.from(bytes), { allowHttp: false });
    },
  },
  directoryExport: {
    make: (from) => jsonInput(from, 'directoryExport'),
    async run(input) {
      const { bytes: maxBytes } = inputLimits.directoryExport;
      const client = clientOf(input);
      const answer = await client.getText('https://directory.example/export', {
        maxBytes,
        timeoutMs: 1,
        signal: never,
      });
      if (answer.kind === 'text') parseDirectoryExport(answer.text, { maxLines: maxCount, allowHttp: false });
    },
  },
  relayList: {
    make: (from) => bodyInput(from, 'relayList'),
    // Read only one page: further pages would differ only in their cursor.
    async run(input) {
      let pages = 0;
      const client = clientOf(input);
      const once: HttpClient = {
        ...client,
        getJson: (url, options) => {
          pages += 1;
          return pages > 1 ? Promise.resolve({ kind: 'busy' }) : client.getJson(url, options);
        },
      };
      const wait = () => Promise.resolve();
      await listLabelers(once, 'https://relay.example', { timeoutMs: 1, wait, signal: never });
    },
  },
  serviceEvent: {
    make: (from) => jsonInput(from, 'serviceEvent'),
    run({ bytes }) {
      if (bytes.length <= inputLimits.serviceEvent.bytes) parseServiceFrame(Buffer.from(bytes));
    },
  },
  weatherFrame: {
    make: (from) => streamFrame(from, 'weatherFrame'),
    run({ bytes, coding }) {
      if (bytes.length <= inputLimits.weatherFrame.bytes) classify(decompress(Buffer.from(bytes), coding === 'zstd'));
    },
  },
  eventFrame: {
    make: (from) => streamFrame(from, 'eventFrame'),
    run({ bytes, coding }) {
      if (bytes.length > inputLimits.eventFrame.bytes) return;
      classifyEvent(decompressEvent(Buffer.from(bytes), coding === 'zstd'));
    },
  },
  zstdDictionary: {
    make: (from) => ({ bytes: mutated(from, jetstreamDictionary), coding: '' }),
    run({ bytes }) {
      const given = Buffer.from(bytes);
      if (given.length > inputLimits.zstdDictionary.bytes || !isZstdDictionary(given)) return;
      decompressor(given, inputLimits.eventFrame.decodedBytes)(compressedFrame, true);
    },
  },
  artifact: {
    make: (from) => jsonInput(from, 'artifact'),
    run({ bytes }) {
      if (bytes.length > inputLimits.artifact.bytes) return;
      decodeArtifact(bytes, 0, recogniseLabels);
      decodeArtifact(bytes, 0, recogniseWeather);
    },
  },
  hoursFile: {
    make: (from) => jsonInput(from, 'hoursFile'),
    run({ bytes }) {
      if (bytes.length > inputLimits.hoursFile.bytes) return;
      decodeHours(bytes, recogniseLabelsHours);
      decodeHours(bytes, recogniseWeatherHours);
    },
  },
  labelerLine: {
    make: (from) => jsonInput(from, 'labelerLine'),
    async run({ bytes }) {
      if (bytes.length > inputLimits.labelerLine.bytes) return;
      for (const name of ['labelers', 'definitions'] as const) {
        const files = { ...withoutLabelers, [name]: Buffer.concat([withOneLabeler[name], bytes]) };
        await labelerDecoder()(
          files,
          () => undefined,
          () => null,
        );
      }
    },
  },
  otherJson: {
    make: (from) => bodyInput(from, 'otherJson'),
    async run(input) {
      await json(input, { maxBytes: inputLimits.otherJson.bytes });
    },
  },
  errorBody: {
    make: (from) => bodyInput(from, 'errorBody'),
    run({ bytes, coding }) {
      const body = bytes.length > inputLimits.errorBody.bytes ? null : Buffer.from(bytes);
      readStatus({ kind: 'answer', status: 400, headers: { 'content-encoding': coding }, body }, 0);
    },
  },
  handleAnswer: {
    make: (from) => ({ bytes: mutated(from, Buffer.from(did.repeat(sizeOf(from, 100)))), coding: '' }),
    async run(input) {
      const resolveTxt = () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' }));
      await resolveHandle('a.example.com', { http: clientOf(input), identity, resolveTxt }, never);
    },
  },
  dnsText: {
    make: (from) => ({ bytes: mutated(from, Buffer.from(`did=${did};`.repeat(sizeOf(from, 2_000)))), coding: '' }),
    async run(input) {
      const records = Buffer.from(input.bytes).toString('latin1').split(';');
      const resolveTxt = () => Promise.resolve(records.map((record) => [record.slice(0, 100), record.slice(100)]));
      await resolveHandle('a.example.com', { http: clientOf(input), identity, resolveTxt }, never);
    },
  },
  httpRequest: {
    make: (from) => text(from, inputLimits.httpRequest.bytes),
    run({ bytes }) {
      const request = parsePlainRequest(Buffer.from(bytes));
      const target = request?.target ?? Buffer.from(bytes).toString('latin1').slice(4);
      pathOf(target);
      parseAccountQuery(parseParameters(searchOf(target)));
    },
  },
  cursor: {
    make: (from) => ({ bytes: mutated(from, Buffer.alloc(sizeOf(from, 1_100), 'Ab-_9')), coding: '' }),
    run({ bytes }) {
      cursors.open(Buffer.from(bytes).toString('latin1'));
    },
  },
  archivedFact: {
    make: (from) => jsonInput(from, 'artifact'),
    run({ bytes }) {
      if (bytes.length > inputLimits.archivedFact.bytes) return;
      const line = formatResponse('/', 0, { status: 200, body: bytes, etag: null, lastModified: null });
      if (line !== null && parseLine(line.slice(0, -1), '/') === null) throw new Error('an archived line is damaged');
    },
  },
  archiveFile: {
    make: (from) => ({ bytes: mutated(from, archivedLines(sizeOf(from, 24))), coding: '' }),
    run({ bytes }) {
      if (bytes.length > inputLimits.archiveFile.bytes) return;
      parseLines(Buffer.from(bytes).toString('utf8'), 'instruments', '1970-01-01');
      parseIndex(bytes);
      parseDay(bytes);
    },
  },
};

function archivedLines(count: number): Buffer {
  const body = Buffer.from('{"facts":{"coverage":{"gaps":[],"warmup":null}}}');
  const served = { status: 200, body, etag: null, lastModified: null };
  const lines = Array.from({ length: count }, (_, hour) => formatResponse('/v1/instruments', hour * 3_600_000, served));
  return Buffer.from(lines.join(''));
}

/**
 * Returns the numbered input of an entry point. The result is deterministic, so that a run can continue where a
 * previous run ended.
 */
export function inputAt(name: InputName, index: number): FuzzInput {
  const place = Object.keys(fuzzEntries).indexOf(name);
  return fuzzEntries[name].make(dice(index * 64 + place));
}
