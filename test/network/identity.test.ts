import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Directory, startDirectory } from '../../harness/net/directory.ts';
import type { Resolve } from '../../src/network/guard/address-policy.ts';
import { createHttpClient, type HttpClient } from '../../src/network/http/http.ts';
import { createIdentityResolver, type IdentityResolver, resolveHandle } from '../../src/network/identity/identity.ts';

type HandleOptions = Parameters<typeof resolveHandle>[1];

const never = new AbortController().signal;
const moderation = 'did:plc:ar7c4by46qjdydhdevvrndac';
const document = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../fixtures/did-docs/${name}`, import.meta.url), 'utf8'));
const labelerDocument = document('mod.bsky.app_labeler_did_doc.json');

function clientFor(allowLoopback: boolean, resolve?: Resolve): HttpClient {
  const http = createHttpClient({ policy: { allowLoopback }, userAgent: 'Almanac/test', ...(resolve && { resolve }) });
  onTestFinished(() => http.close());
  return http;
}

function resolverFor(
  directory: Directory | null,
  options: Partial<Parameters<typeof createIdentityResolver>[0]> = {},
): IdentityResolver {
  const policy = { allowLoopback: true };
  return createIdentityResolver({
    http: clientFor(true),
    policy,
    ...(directory && { plcUrl: directory.url }),
    clock: () => 0,
    ...options,
  });
}

const plain = (did: string, rest: object = {}): object => ({ id: did, alsoKnownAs: [], service: [], ...rest });

describe('a did:plc', () => {
  it('is resolved by a request to the directory', async () => {
    const directory = await startDirectory({ [`/${moderation}`]: { document: labelerDocument } });
    expect(await resolverFor(directory).resolve(moderation, { signal: never })).toEqual({
      kind: 'resolved',
      document: {
        did: moderation,
        handle: 'moderation.bsky.app',
        labelerDeclared: true,
        labelerEndpoint: 'https://mod.bsky.app',
        pds: 'https://inkcap.us-east.host.bsky.network',
        labelKeys: [{ curve: 'k256', point: '0365acdb2e101cb54f5f1d951354902412704d075e5e777eae94c2fee4bab0f391' }],
      },
    });
  });

  it('is reported as not found if it was never registered or was deactivated, whereas a failing directory is reported as a failure', async () => {
    const [buried, broken, html, other] = ['2', '3', '4', '5'].map((digit) => `did:plc:${digit.repeat(24)}`);
    const directory = await startDirectory({
      [`/${buried}`]: { status: 410, body: '{"message":"DID not available"}' },
      [`/${broken}`]: { status: 503 },
      [`/${html}`]: { status: 200, body: '<html>' },
      [`/${other}`]: { document: labelerDocument },
    });
    const resolver = resolverFor(directory);
    const ask = (did = '') => resolver.resolve(did, { signal: never });
    expect(await ask(moderation)).toEqual({ kind: 'not_found', status: 404 });
    expect(await ask(buried)).toEqual({ kind: 'not_found', status: 410 });
    expect(await ask(broken)).toEqual({
      kind: 'failed',
      answer: { kind: 'status', status: 503, retryAfterMs: null, error: null },
    });
    expect(await ask(html)).toEqual({ kind: 'failed', answer: { kind: 'not_json' } });
    expect(await ask(other)).toEqual({ kind: 'failed', answer: { kind: 'not_the_document', reason: 'other_id' } });
  });

  it.each([
    ['an empty object', {}, 'other_id'],
    ['a document without an id', { service: [], alsoKnownAs: [] }, 'other_id'],
    ["another DID's document", { ...plain('did:plc:other') }, 'other_id'],
    ['an error as JSON', { message: 'Service Unavailable' }, 'other_id'],
    ['a list of documents', [labelerDocument], 'not_an_object'],
    ['null', null, 'not_an_object'],
    ['a document whose services are no list', plain(moderation, { service: {} }), 'malformed_list'],
  ])(
    'is not resolved by a response with status 200 that is %s, and its document is requested again',
    async (_, value, reason) => {
      const path = `/${moderation}`;
      const directory = await startDirectory({ [path]: { document: value } });
      const resolver = resolverFor(directory);
      const ask = () => resolver.resolve(moderation, { signal: never });
      expect(await ask()).toEqual({ kind: 'failed', answer: { kind: 'not_the_document', reason } });
      directory.entries.set(path, { document: labelerDocument });
      expect((await ask()).kind).toBe('resolved');
    },
  );

  it('is rejected without a request if it is malformed, as are malformed and unsupported DIDs of other methods', async () => {
    const directory = await startDirectory();
    const resolver = resolverFor(directory);
    for (const did of [
      '',
      'did:plc:short',
      'did:key:zQ3sh',
      `${moderation}/../log`,
      'did:web:a.test/x',
      'did:web:a.test:443',
    ]) {
      expect(await resolver.resolve(did, { signal: never })).toEqual({ kind: 'unsupported_did' });
    }
    expect(directory.asked).toEqual([]);
  });
});

describe('a replica of the directory', () => {
  const shape = labelerDocument as { verificationMethod: object[]; service: { id: string }[] };
  /**
   * The same document in the form that a replica serves: without a context, and with the full DID in the ids of
   * services.
   */
  const replicated = {
    ...shape,
    '@context': undefined,
    service: shape.service.map((service) => ({ ...service, id: `${moderation}${service.id}` })),
  };
  const atPrimary = `/${moderation}`;
  const unavailable = { status: 503 };

  it('is queried only while the primary does not respond, and may use its own form of the document', async () => {
    const primary = await startDirectory({ [atPrimary]: { document: labelerDocument } });
    const [broken, replica] = [await startDirectory({ [atPrimary]: unavailable }), await startDirectory()];
    replica.entries.set(atPrimary, { document: replicated });
    let now = 0;
    const plcReplicas = [broken.url, replica.url];
    const resolver = resolverFor(primary, { plcReplicas, ttlMs: 300_000, clock: () => now });
    const ask = (fresh = false) => resolver.resolve(moderation, { signal: never, fresh });
    const whole = await ask();
    expect([broken.asked, replica.asked]).toEqual([[], []]);
    primary.entries.set(atPrimary, unavailable);
    expect(await ask(true)).toEqual({ ...whole, replica: true });
    expect([broken.asked, replica.asked]).toEqual([[atPrimary], [atPrimary]]);
    // Advance the clock by a minute. A replica's document is cached for only one minute, because the primary may have a
    // newer one.
    primary.entries.set(atPrimary, { document: labelerDocument });
    now = 59_999;
    expect(await ask()).toEqual({ ...whole, replica: true });
    now = 60_000;
    expect(await ask()).toEqual(whole);
  });

  it('may lag, so only the primary can prove that a DID does not exist or that its document is invalid', async () => {
    const [primary, replica] = [await startDirectory({ [atPrimary]: unavailable }), await startDirectory()];
    const resolver = resolverFor(primary, { plcReplicas: [replica.url] });
    const failed = { kind: 'failed', answer: { kind: 'status', status: 503, retryAfterMs: null, error: null } };
    expect(await resolver.resolve(moderation, { signal: never })).toEqual(failed);
    replica.entries.set(atPrimary, { document: { id: 'did:plc:other' } });
    expect(await resolver.resolve(moderation, { signal: never })).toEqual(failed);
    replica.entries.set(atPrimary, { document: replicated });
    primary.entries.delete(atPrimary);
    expect(await resolver.resolve(moderation, { signal: never })).toEqual({ kind: 'not_found', status: 404 });
  });

  it('is queried if the primary responds with something else than the document or the log', async () => {
    const log = `${atPrimary}/log/audit`;
    const [primary, replica] = [
      await startDirectory({ [atPrimary]: { document: {} }, [log]: { document: {} } }),
      await startDirectory(),
    ];
    replica.entries.set(atPrimary, { document: replicated });
    replica.entries.set(log, { document: [] });
    const resolver = resolverFor(primary, { plcReplicas: [replica.url] });
    expect(await resolver.resolve(moderation, { signal: never })).toMatchObject({ kind: 'resolved', replica: true });
    expect(await resolver.earlierLabelKeys(moderation, { signal: never })).toEqual([]);
  });

  it('is queried for the audit log if the primary does not send it', async () => {
    const log = `${atPrimary}/log/audit`;
    const [primary, replica] = [await startDirectory({ [log]: unavailable }), await startDirectory()];
    const resolver = resolverFor(primary, { plcReplicas: [replica.url] });
    const keys = () => resolver.earlierLabelKeys(moderation, { signal: never });
    expect(await keys()).toBe(null);
    replica.entries.set(log, { document: [] });
    expect(await keys()).toEqual([]);
  });

  it('is never queried for a did:web', async () => {
    const replica = await startDirectory();
    const host = await startDirectory({ '/.well-known/did.json': { status: 503 } });
    const resolver = resolverFor(null, { plcReplicas: [replica.url] });
    const resolution = await resolver.resolve(`did:web:localhost%3A${host.port}`, { signal: never });
    expect([resolution.kind, replica.asked]).toEqual(['failed', []]);
  });
});

describe('a did:web', () => {
  it('is resolved by its host, over loopback in plain http if that is allowed', async () => {
    const host = await startDirectory();
    const did = `did:web:localhost%3A${host.port}`;
    const service = [{ id: `${did}#atproto_labeler`, type: 'AtprotoLabeler', serviceEndpoint: host.url }];
    host.entries.set('/.well-known/did.json', { document: plain(did, { service }) });
    expect(await resolverFor(null).resolve(did, { signal: never })).toEqual({
      kind: 'resolved',
      document: {
        did,
        handle: null,
        pds: null,
        labelerDeclared: true,
        labelerEndpoint: host.url,
        labelKeys: [],
      },
    });
    expect(host.asked).toEqual(['/.well-known/did.json']);
  });

  it('is rejected without a connection if its address is not public', async () => {
    const host = await startDirectory();
    const http = clientFor(false, (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]));
    const resolver = createIdentityResolver({ http, policy: { allowLoopback: false }, clock: () => 0 });
    for (const did of [`did:web:localhost%3A${host.port}`, 'did:web:localhost', 'did:web:labeler.example']) {
      expect(await resolver.resolve(did, { signal: never })).toEqual({
        kind: 'failed',
        answer: { kind: 'refused_address', why: 'no allowed address (loopback)' },
      });
    }
    expect(host.asked).toEqual([]);
  });
});

describe('the response of a directory', () => {
  it('is cached for its lifetime if it is not a failure, unless a caller requests a fresh document', async () => {
    let now = 0;
    const directory = await startDirectory({ [`/${moderation}`]: { status: 503 } });
    const resolver = resolverFor(directory, { ttlMs: 1000, clock: () => now });
    const ask = async (fresh = false) => (await resolver.resolve(moderation, { signal: never, fresh })).kind;
    const kinds = [await ask(), await ask()];
    directory.entries.set(`/${moderation}`, { document: labelerDocument });
    kinds.push(await ask());
    directory.entries.delete(`/${moderation}`);
    now = 999;
    kinds.push(await ask());
    now = 1000;
    kinds.push(await ask(), await ask());
    directory.entries.set(`/${moderation}`, { document: labelerDocument });
    kinds.push(await ask(true), await ask());
    expect(kinds).toEqual([
      ...['failed', 'failed', 'resolved', 'resolved'],
      ...['not_found', 'not_found', 'resolved', 'resolved'],
    ]);
    expect(directory.asked).toHaveLength(5);
  });

  it('is cached until the maximum number of documents is exceeded, when the oldest document is dropped', async () => {
    const directory = await startDirectory();
    const resolver = resolverFor(directory, { maxEntries: 2 });
    const dids = ['2', '3', '4'].map((digit) => `did:plc:${digit.repeat(24)}`);
    for (const did of [...dids, ...dids.toReversed()]) await resolver.resolve(did, { signal: never });
    expect(directory.asked).toEqual([...dids, dids[0]].map((did) => `/${did}`));
  });

  it('is shared while pending, and aborted once every caller has aborted', async () => {
    const directory = await startDirectory({ [`/${moderation}`]: { document: labelerDocument } });
    const release = Promise.withResolvers<void>();
    directory.hold(release.promise);
    const resolver = resolverFor(directory);
    const [one, two] = [new AbortController(), new AbortController()];
    const asking = [one.signal, two.signal, two.signal].map((signal) => resolver.resolve(moderation, { signal }));
    one.abort();
    expect(await asking[0]).toEqual({ kind: 'failed', answer: { kind: 'aborted' } });
    release.resolve();
    expect((await Promise.all(asking)).map(({ kind }) => kind)).toEqual(['failed', 'resolved', 'resolved']);
    expect(directory.asked).toHaveLength(1);
    const lonely = resolver.resolve(moderation, { signal: one.signal });
    expect(await lonely).toEqual({ kind: 'failed', answer: { kind: 'aborted' } });
  });

  it('is requested again by the next caller after every caller has aborted', async () => {
    const directory = await startDirectory({ [`/${moderation}`]: { document: labelerDocument } });
    const release = Promise.withResolvers<void>();
    directory.hold(release.promise);
    const resolver = resolverFor(directory);
    const stop = new AbortController();
    const first = resolver.resolve(moderation, { signal: stop.signal });
    stop.abort();
    const second = resolver.resolve(moderation, { signal: never });
    release.resolve();
    expect([(await first).kind, (await second).kind]).toEqual(['failed', 'resolved']);
  });
});

describe('a handle', () => {
  const did = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';
  const missing = async (): Promise<string[][]> => {
    throw Object.assign(new Error('none'), { code: 'ENODATA' });
  };

  const nowhere: Resolve = (_name, _options, done) => done(Object.assign(new Error(), { code: 'ENOTFOUND' }), []);

  async function world(txt: HandleOptions['resolveTxt'], http = clientFor(true, nowhere), timeoutMs = 60_000) {
    const directory = await startDirectory({ [`/${did}`]: { document: document('indigo_did_plc_doc.json') } });
    const names: string[] = [];
    const options: HandleOptions = {
      http,
      identity: resolverFor(directory),
      resolveTxt: (name, signal) => {
        names.push(name);
        return txt(name, signal);
      },
      timeoutMs,
    };
    return { names, ask: (handle: string, signal = never) => resolveHandle(handle, options, signal) };
  }

  it('is resolved through DNS and confirmed by the document', async () => {
    const { names, ask } = await world(async () => [['v=spf1'], ['did=', did]]);
    expect(await ask('AtProto.com')).toMatchObject({ kind: 'resolved', did, document: { handle: 'atproto.com' } });
    expect(names).toEqual(['_atproto.atproto.com']);
    expect(await ask('other.com')).toEqual({ kind: 'unconfirmed', did });
  });

  it.each([
    ['an empty one', 'did='],
    ['one with an invalid DID', 'did=nonsense'],
    ['a repetition', `did=${did}`],
  ])('is resolved through the record with a valid DID, even next to %s', async (_, other) => {
    const { ask } = await world(async () => [[other], [`did=${did}`]]);
    expect(await ask('atproto.com')).toMatchObject({ kind: 'resolved', did });
  });

  it('is reported as not found if DNS returns several DIDs or none, and as a failure if the query fails', async () => {
    const several = await world(async () => [[`did=${did}`], [`did=${moderation}`]]);
    expect(await several.ask('atproto.com')).toEqual({ kind: 'not_found' });
    const none = await world(missing);
    expect(await none.ask('atproto.com')).toEqual({ kind: 'not_found' });
    const nonsense = await world(async () => [['did=nonsense']]);
    expect(await nonsense.ask('atproto.com')).toEqual({ kind: 'not_found' });
    const silent = await world(() => new Promise(() => undefined), undefined, 200);
    expect(await silent.ask('atproto.com')).toEqual({ kind: 'failed' });
    expect(await silent.ask('atproto.com', AbortSignal.abort())).toEqual({ kind: 'failed' });
    const unclaimed = await world(async () => [[`did=${moderation}`]]);
    expect(await unclaimed.ask('atproto.com')).toEqual({ kind: 'unconfirmed', did: moderation });
  });

  it('causes no request if it is not a public name', async () => {
    const { names, ask } = await world(async () => [[`did=${did}`]]);
    for (const handle of [
      '',
      'localhost',
      '127.0.0.1',
      'a.local',
      'a.internal',
      'a.onion',
      'a b.com',
      'a.com/x',
      'a.com:80',
    ]) {
      expect(await ask(handle)).toEqual({ kind: 'invalid_handle' });
    }
    expect(names).toEqual([]);
  });

  it('is requested from its host if DNS has no record', async () => {
    const host = await startDirectory();
    const http = clientFor(true);
    // Redirect requests for the https address of a handle's host to a loopback server, which acts as every host.
    const rerouted: HttpClient = {
      getJson: (url, get) => http.getJson(url, get),
      close: () => http.close(),
      getText: (url, get) => http.getText(`${host.url}${new URL(url).pathname}?${new URL(url).origin}`, get),
    };
    const { ask } = await world(missing, rerouted);
    const path = '/.well-known/atproto-did?https://atproto.com';
    const answers = [
      { status: 200, body: `${did}\n` },
      { status: 200, body: '<html>' },
      { status: 200, body: 'x'.repeat(5000) },
      { status: 302, body: '' },
      { status: 503, body: '' },
    ];
    const found: object[] = [];
    for (const answer of answers) {
      host.entries.set(path, answer);
      found.push(await ask('atproto.com'));
    }
    expect(found).toEqual([
      expect.objectContaining({ kind: 'resolved', did }),
      { kind: 'not_found' },
      { kind: 'not_found' },
      // The DID may be at the other address, which is not requested.
      { kind: 'failed', redirects: true },
      { kind: 'failed' },
    ]);
    expect(host.asked).toEqual(answers.map(() => path));
  });

  it('is not requested from a private address', async () => {
    const http = clientFor(true, (_name, _options, done) => done(null, [{ address: '10.0.0.1', family: 4 }]));
    const guarded = await world(missing, http);
    expect(await guarded.ask('atproto.com')).toEqual({ kind: 'not_found' });
  });
});
