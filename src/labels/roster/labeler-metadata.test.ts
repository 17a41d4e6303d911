import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rosterRow } from '../../../harness/store/roster-row.ts';
import { Pds } from '../../../sim/identity/pds.ts';
import { createHttpClient, type HttpClient, type JsonAnswer, withPeer } from '../../network/http/http.ts';
import type { Resolution } from '../../network/identity/identity.ts';
import { silentLog } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import type { Definitions } from '../../store/roster.ts';
import { micros } from '../../store/time.ts';
import { wait } from '../clock/clock.ts';
import { type KnownLabeler, labelerFromRow } from './known-labeler.ts';
import { LabelerMetadata } from './labeler-metadata.ts';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
let pds: Pds;
let http: HttpClient;
let stop: AbortController;
let time: number;
let kept: Definitions[];

beforeEach(async () => {
  time = Date.UTC(2026, 5, 1);
  kept = [];
  stop = new AbortController();
  pds = new Pds(() => time * 1000);
  await pds.start('127.0.0.1');
  http = createHttpClient({ policy: { allowLoopback: true }, userAgent: 'Almanac/test' });
});

afterEach(async () => {
  stop.abort();
  await http.close();
  await pds.stop();
});

const record = (value: string) => ({ policies: { labelValues: [value] } });
const content = (value: string) => JSON.stringify({ labelValues: [value], labelValueDefinitions: [] });

function labelerWith(over: Partial<KnownLabeler> = {}): KnownLabeler {
  const labeler = labelerFromRow(rosterRow(did, { state: 'probing', resolutionStatus: 'unresolved' }), null);
  return Object.assign(labeler, { pds: pds.origin, handle: 'mod.example.com', ...over });
}

/** Fetches the metadata of a labeler. `dns` returns the DNS response; the resolved document is the labeler's own. */
function ask(labeler: KnownLabeler, dns: () => Promise<string[][]>) {
  const document = { did, handle: labeler.handle, labelerDeclared: true, labelerEndpoint: null, pds: null };
  const resolution: Resolution = { kind: 'resolved', document: { ...document, labelKeys: [] } };
  return askAll(new Map([[did, labeler]]), { resolveTxt: dns, identities: { resolve: async () => resolution } })
    .metadata;
}

function askAll(
  labelers: ReadonlyMap<string, KnownLabeler>,
  over: Partial<ConstructorParameters<typeof LabelerMetadata>[0]>,
  put = async (definitions: Definitions): Promise<boolean | null> => {
    kept.push(definitions);
    return true;
  },
) {
  const metadata = new LabelerMetadata({
    http,
    identities: { resolve: async () => ({ kind: 'not_found', status: 404 }) },
    shareOf: (source) => ({ priority: 'seeded', domain: source, source }),
    resolveTxt: null,
    revisions: { put, isFull: false },
    labeler: (asked) => labelers.get(asked),
    clock: () => micros(time * 1000),
    // End each wait after a millisecond, so that the next fetch uses the time that the test set.
    wait: (_, signal) => wait(1, signal),
    log: silentLog,
    definitionsStored: () => undefined,
    sourceFailed: () => undefined,
    timeoutMs: 20_000,
    ...over,
  });
  const running = metadata.run(stop.signal);
  running.catch(() => undefined);
  return { metadata, running };
}

const names = (found: string) => async () => [[`did=${found}`]];
const asked = () => pds.asked.get(did) ?? 0;
const until = (holds: () => boolean) => expect.poll(holds, { interval: 5 }).toBe(true);

test('label definitions are fetched from the labeler’s host, and again a week later', async () => {
  pds.records.set(did, record('spam'));
  const metadata = ask(labelerWith(), names(did));
  metadata.resolved(labelerWith());
  await until(() => kept.length === 1);
  expect(kept).toEqual([{ did, seenAt: micros(time * 1000), content: content('spam') }]);
  // The same document does not cause a fetch.
  metadata.resolved(labelerWith());
  time += 7 * 86_400_000 - 1;
  await wait(50, stop.signal);
  expect(asked()).toBe(1);
  pds.records.set(did, record('rude'));
  time += 1;
  await until(() => kept.length === 2);
  expect(kept[1]).toEqual({ did, seenAt: micros(time * 1000), content: content('rude') });
});

test('a handle is looked up again within a week after a clock that was ahead was corrected', async () => {
  const labeler = labelerWith({ pds: null });
  let found = did;
  let lookups = 0;
  const metadata = ask(labeler, async () => {
    lookups += 1;
    return [[`did=${found}`]];
  });
  time += 30 * 86_400_000;
  metadata.resolved(labeler);
  await until(() => labeler.handleConfirmed);
  found = 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb';
  // The clock is set back, and 8 days pass.
  time += (8 - 30) * 86_400_000;
  await until(() => !labeler.handleConfirmed);
  expect(lookups).toBe(2);
});

test('a record that is rewritten constantly is accepted once every ten minutes, in its newest form', async () => {
  const metadata = ask(labelerWith({ handle: null }), names(did));
  for (let i = 0; i < 500; i++) await metadata.written(did, content(`${i}`));
  expect(kept.map((one) => one.content)).toEqual([content('0')]);
  pds.records.set(did, record('499'));
  time += 600_000;
  await until(() => kept.length === 2);
  expect(kept[1]?.content).toBe(content('499'));
});

test('a record that arrives while too many definitions wait for a commit is fetched from the host instead', async () => {
  pds.records.set(did, record('fetched'));
  const labelers = new Map([[did, labelerWith({ handle: null })]]);
  const revisions = { put: async (one: Definitions) => kept.push(one) > 0, isFull: true };
  const shareOf = (source: string) => ({ priority: 'new' as const, domain: source, source });
  const { metadata } = askAll(labelers, { revisions, shareOf });
  await metadata.written(did, content('written'));
  expect(kept).toEqual([]);
  await until(() => kept.length === 1);
  expect(kept[0]?.content).toBe(content('fetched'));
});

test('a record that a seeded labeler writes is stored even if too many definitions wait for a commit', async () => {
  const revisions = { put: async (one: Definitions) => kept.push(one) > 0, isFull: true };
  const { metadata } = askAll(new Map([[did, labelerWith({ handle: null })]]), { revisions });
  await metadata.written(did, content('written'));
  expect(kept.map((one) => one.content)).toEqual([content('written')]);
});

test('a record that a labeler writes during a fetch of its metadata is fetched after the minimum interval', async () => {
  pds.records.set(did, record('first'));
  const storing = Promise.withResolvers<boolean>();
  const put = (one: Definitions): Promise<boolean> => (kept.push(one) === 1 ? storing.promise : Promise.resolve(true));
  const { metadata } = askAll(new Map([[did, labelerWith({ handle: null })]]), {}, put);
  metadata.resolved(labelerWith({ handle: null }));
  await until(() => kept.length === 1);
  pds.records.set(did, record('second'));
  await metadata.written(did, content('second'));
  storing.resolve(true);
  time += 600_000;
  await until(() => kept.length === 2);
  expect(kept[1]?.content).toBe(content('second'));
});

test('nothing is kept of a labeler that leaves the roster, even during a fetch of its metadata', async () => {
  const labelers = new Map([[did, labelerWith({ handle: null })]]);
  const fetched = Promise.withResolvers<JsonAnswer>();
  const fetching = Promise.withResolvers<void>();
  const getJson = () => {
    fetching.resolve();
    return fetched.promise;
  };
  const { metadata, running } = askAll(labelers, { http: { getJson } as Pick<HttpClient, 'getJson'> as HttpClient });
  await metadata.written(did, content('written'));
  metadata.resolved(labelerWith({ handle: null }));
  await fetching.promise;
  expect(metadata.remembered).toBe(1);
  labelers.clear();
  metadata.left(did);
  fetched.resolve({ kind: 'json', status: 200, date: null, value: { value: record('fetched') } });
  await wait(20, stop.signal);
  stop.abort();
  await running;
  expect([metadata.remembered, kept.map((one) => one.content)]).toEqual([0, [content('written')]]);
});

test('label definitions of an unknown labeler are not stored', async () => {
  await ask(labelerWith(), names(did)).written('did:plc:bbbbbbbbbbbbbbbbbbbbbbbb', content('spam'));
  expect(kept).toEqual([]);
});

test.each([
  ['no record', undefined],
  ['a record of a different type', { text: 'hello' }],
  ['a record that exceeds the size limit', record('x'.repeat(2_000_000))],
  ['definitions that exceed the size limit', record('x'.repeat(300_000))],
])('the labeler metadata has no definitions if the response is %s', async (_, value) => {
  if (value) pds.records.set(did, value);
  ask(labelerWith(), names(did)).resolved(labelerWith());
  await until(() => asked() === 1);
  await wait(50, stop.signal);
  expect(kept).toEqual([]);
});

test.each([
  ['names the labeler', names(did), true],
  ['names another account', names('did:plc:bbbbbbbbbbbbbbbbbbbbbbbb'), false],
  ['cannot be resolved', () => Promise.reject(Object.assign(new Error(), { code: 'ESERVFAIL' })), false],
])('a handle whose DNS record %s sets handleConfirmed of the labeler to %s', async (_, dns, confirmed) => {
  const labeler = labelerWith();
  ask(labeler, dns).resolved(labeler);
  await until(() => asked() === 1);
  await wait(50, stop.signal);
  expect(labeler.handleConfirmed).toBe(confirmed);
});

test('a confirmed handle without a DNS record whose host redirects is not confirmed any more', async () => {
  const labeler = labelerWith({ handleConfirmed: true });
  const getText: HttpClient['getText'] = async () => {
    return { kind: 'status', status: 301, retryAfterMs: null, error: null };
  };
  const resolveTxt = () => Promise.reject(Object.assign(new Error(), { code: 'ENODATA' }));
  const redirecting = { ...withPeer(http, { source: did, privileged: false }), getText };
  askAll(new Map([[did, labeler]]), { http: redirecting, resolveTxt }).metadata.resolved(labeler);
  await until(() => !labeler.handleConfirmed);
});

test('an error caused by the data of a labeler, such as a record with 5,000 nested levels, does not affect other labelers', async () => {
  const levels = 5_000;
  const value = `{"policies":{"labelValues":${'['.repeat(levels)}${']'.repeat(levels)}}}`;
  const host = createServer((_, response) => {
    response.setHeader('content-type', 'application/json').end(`{"uri":"at://x","value":${value}}`);
  });
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  const deep = labelerWith({ did: 'did:plc:cccccccccccccccccccccccc', handle: null });
  deep.pds = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  const throwing = labelerWith({ did: 'did:plc:dddddddddddddddddddddddd', handle: null });
  Object.defineProperty(throwing, 'pds', {
    get: () => {
      throw new RangeError('Maximum call stack size exceeded');
    },
  });
  const honest = labelerWith({ handle: null });
  pds.records.set(did, record('spam'));
  const labelers = new Map([deep, throwing, honest].map((labeler) => [labeler.did, labeler]));
  const failures: string[] = [];
  const { running, metadata } = askAll(labelers, { sourceFailed: (what) => void failures.push(what) });
  // Pass a labeler that does not throw, so that only the fetch of `throwing` fails.
  for (const labeler of [deep, labelerWith({ did: throwing.did }), honest]) metadata.resolved(labeler);
  try {
    await until(() => kept.length === 1);
    expect(kept[0]?.did).toBe(did);
    expect(failures).toEqual(['particulars']);
    stop.abort();
    await running;
  } finally {
    host.closeAllConnections();
    host.close();
  }
});

test('a permanent error of the store ends the fetching of metadata with a rejection', async () => {
  pds.records.set(did, record('spam'));
  const failing = () => Promise.reject(new StoreError('damaged', 'the files are inconsistent'));
  const { running, metadata } = askAll(new Map([[did, labelerWith({ handle: null })]]), {}, failing);
  metadata.resolved(labelerWith({ handle: null }));
  await expect(running).rejects.toThrow('inconsistent');
});
