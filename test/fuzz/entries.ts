import { readFileSync } from 'node:fs';
import { zstdCompressSync } from 'node:zlib';
import { type Dice, dice } from '../../sim/random.ts';
import { createCursors } from '../../src/account/cursor.ts';
import { searchOf } from '../../src/account/parameters.ts';
import { parseAccountQuery } from '../../src/account/query.ts';
import { decodeArtifact } from '../../src/artifact/decode.ts';
import { recogniseLabels, recogniseWeather } from '../../src/artifact/recognise.ts';
import { parsePlainRequest } from '../../src/http/plain-request.ts';
import { pathOf } from '../../src/http/target.ts';
import { createDecodedBytes } from '../../src/input/decoded-bytes.ts';
import { type InputName, inputLimits } from '../../src/input/limits.ts';
import { admit } from '../../src/labels/admission.ts';
import { fingerprint } from '../../src/labels/fingerprint.ts';
import { FrameQueue } from '../../src/labels/frame-queue.ts';
import { separateSignature } from '../../src/labels/label-signature.ts';
import { authoredOf } from '../../src/labels/poll-round.ts';
import { decimal, queryLabels } from '../../src/labels/query-labels.ts';
import { listLabelers } from '../../src/labels/relay-list.ts';
import { definitionsOf, parseServiceFrame } from '../../src/labels/service-events.ts';
import { parseDidDocument } from '../../src/network/did-document.ts';
import type { GetJsonOptions, HttpClient, JsonAnswer } from '../../src/network/http.ts';
import { decodeBody, parseText, readJson, readStatus } from '../../src/network/http-answer.ts';
import { resolveHandle } from '../../src/network/resolve-handle.ts';
import { micros } from '../../src/store/time.ts';
import { createClassifier } from '../../src/weather/classify.ts';
import { createEventsClassifier } from '../../src/weather/classify-events.ts';
import { decompressor, isZstdDictionary } from '../../src/weather/compression.ts';
import { ResyncMemory } from '../../src/weather/resync-memory.ts';
import { bodyInput, frameInput, jsonInput } from './documents.ts';
import { mutated, sizeOf } from './shapes.ts';

/** Bytes as they arrive, and the content coding that the peer says they have. */
export interface FuzzInput {
  readonly bytes: Uint8Array;
  readonly coding: string;
}

/** One place where foreign bytes enter: how its inputs are made, and the product's own code that reads them. */
export interface FuzzEntry {
  readonly make: (dice: Dice) => FuzzInput;
  readonly run: (input: FuzzInput) => void | Promise<void>;
}

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const never = new AbortController().signal;
const rules = { source: did, epoch: micros(0), now: micros(Date.UTC(2026, 6, 10, 13) * 1000) };

/** What the instrument does with each row, up to the store. */
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

/** A client whose every answer is this input. */
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

const classify = createClassifier();
const dictionary = readFileSync(new URL('../fixtures/jetstream/dictionary.zstd', import.meta.url));
const decompress = decompressor(dictionary, inputLimits.weatherFrame.decodedBytes);
const classifyEvent = createEventsClassifier(new ResyncMemory(1));
const decompressEvent = decompressor(dictionary, inputLimits.eventFrame.decodedBytes);
const compressedFrame = zstdCompressSync(Buffer.from('{"$type":"message"}'), { dictionary });
const cursors = createCursors([Buffer.alloc(32, 1), Buffer.alloc(32, 2)]);
const memory = createDecodedBytes({ total: 64 * 1024 * 1024, reserve: 16_384, buffered: 0 });
const identity = { resolve: () => Promise.resolve({ kind: 'not_found', status: 404 } as const) };

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

/** Every entry point of the table of limits. */
export const fuzzEntries: Readonly<Record<InputName, FuzzEntry>> = {
  labelFrame: {
    make: frameInput,
    run({ bytes }) {
      const frames = new FrameQueue(memory.open());
      if (bytes.length <= inputLimits.labelFrame.bytes) frames.push(bytes);
      for (let next = frames.next(); next !== null; next = frames.next()) {
        for (const frame of frames.take(next)) if (frame.kind === 'labels') takeRows(frame.labels);
      }
    },
  },
  labelPage: page(false),
  singleLabelPage: page(true),
  labelerRecord: {
    make: (from) => bodyInput(from, 'labelerRecord'),
    async run(input) {
      const limits = inputLimits.labelerRecord;
      const read = await json(input, { maxBytes: limits.bytes, shape: limits });
      if (read.kind === 'json' && typeof read.value === 'object' && read.value !== null && 'value' in read.value) {
        definitionsOf(read.value.value);
      }
    },
  },
  didDocument: {
    make: (from) => bodyInput(from, 'didDocument'),
    async run(input) {
      const limits = inputLimits.didDocument;
      const read = await json(input, { maxBytes: limits.bytes, shape: limits });
      if (read.kind === 'json') parseDidDocument(read.value, did, { allowHttp: false });
    },
  },
  relayList: {
    make: (from) => bodyInput(from, 'relayList'),
    // One page: each further one would be this one again, under another cursor.
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
      await listLabelers(once, 'https://relay.example', { timeoutMs: 1, signal: never });
    },
  },
  serviceEvent: {
    make: (from) => jsonInput(from, 'serviceEvent'),
    run({ bytes }) {
      if (bytes.length <= inputLimits.serviceEvent.bytes) parseServiceFrame(Buffer.from(bytes));
    },
  },
  weatherFrame: {
    make: (from) => {
      const { bytes } = jsonInput(from, 'weatherFrame');
      return from.chance(0.3)
        ? { bytes: zstdCompressSync(bytes, { dictionary }), coding: 'zstd' }
        : { bytes, coding: '' };
    },
    run({ bytes, coding }) {
      if (bytes.length <= inputLimits.weatherFrame.bytes) classify(decompress(Buffer.from(bytes), coding === 'zstd'));
    },
  },
  eventFrame: {
    make: (from) => {
      const { bytes } = jsonInput(from, 'eventFrame');
      return from.chance(0.3)
        ? { bytes: zstdCompressSync(bytes, { dictionary }), coding: 'zstd' }
        : { bytes, coding: '' };
    },
    run({ bytes, coding }) {
      if (bytes.length > inputLimits.eventFrame.bytes) return;
      classifyEvent(decompressEvent(Buffer.from(bytes), coding === 'zstd'));
    },
  },
  zstdDictionary: {
    make: (from) => ({ bytes: mutated(from, dictionary), coding: '' }),
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
      parseAccountQuery(searchOf(target));
    },
  },
  cursor: {
    make: (from) => ({ bytes: mutated(from, Buffer.alloc(sizeOf(from, 1_100), 'Ab-_9')), coding: '' }),
    run({ bytes }) {
      cursors.open(Buffer.from(bytes).toString('latin1'));
    },
  },
};

/** The input of an entry point under a number: the same each time, so that a run can go on where another one ended. */
export function inputAt(name: InputName, index: number): FuzzInput {
  const place = Object.keys(fuzzEntries).indexOf(name);
  return fuzzEntries[name].make(dice(index * 64 + place));
}
