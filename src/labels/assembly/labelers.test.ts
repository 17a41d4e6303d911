import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { answered, asked } from '../../../harness/labels/label-reader.ts';
import { createNameResolver } from '../../network/dns/name-resolver.ts';
import { createHttpClient } from '../../network/http/http.ts';
import { silentLog } from '../../ops/log.ts';
import type { Definitions } from '../../store/roster.ts';
import { micros } from '../../store/time.ts';
import type { DenyEntry } from '../operator/deny-file.ts';
import { LabelerMetadata } from '../roster/labeler-metadata.ts';
import { maxKnown, Roster } from '../roster/roster.ts';
import {
  addAllowed,
  definitionCommits,
  followLabeler,
  labelerEvents,
  loadRoster,
  operationHandler,
} from './labelers.ts';

const host = 'plc.example';
const base32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** Returns the did:plc whose base 32 digits encode a number. */
function did(n: number): string {
  const digits = Array.from({ length: 24 }, (_, i) => base32[Math.floor(n / 32 ** (23 - i)) % 32] ?? 'a');
  return `did:plc:${digits.join('')}`;
}

function rosterOfStrangers() {
  const asked: string[] = [];
  const roster = new Roster({
    identities: {
      resolve: async (one) => {
        asked.push(one);
        return { kind: 'not_found', status: 404 };
      },
    },
    clock: () => micros(1_780_000_000_000_000),
    wait: (_, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve(), { once: true });
      }),
    ...{ refreshMs: 86_400_000, retryMs: 60_000, freshMs: 60_000, changed: () => undefined },
  });
  return { roster, asked, operate: operationHandler(roster, host) };
}

test('an operation that declares a labeler service adds the labeler, and an operation without such a service adds nothing', () => {
  const { roster, operate } = rosterOfStrangers();
  operate({ did: did(1), isLabeler: false });
  operate({ did: did(2), isLabeler: true });
  expect([...roster.labelers].map((labeler) => [labeler.did, labeler.origin, [...labeler.provenance]])).toEqual([
    [did(2), 'discovered', ['directory plc.example']],
  ]);
});

test('an end of a denial adds seeds with their origin, and unknown labelers whose DID is allowed', () => {
  const { roster } = rosterOfStrangers();
  const entry = (target: DenyEntry['target']) => ({ target, reason: null, since: '2026-11-20T12:00:00Z', purge: null });
  const lifted = [did(1), did(2), did(3)].map((one) => entry({ kind: 'did', did: one }));
  roster.add(did(2), 'discovered', 'jetstream');
  addAllowed([...lifted, entry({ kind: 'domain', domain: 'example.com' })], {
    seeds: [did(1)],
    isKnown: (one) => roster.labeler(one) !== undefined,
    add: (...labeler) => roster.add(...labeler),
  });
  expect([...roster.labelers].map((labeler) => [labeler.did, labeler.origin, [...labeler.provenance]])).toEqual([
    [did(2), 'discovered', ['jetstream']],
    [did(1), 'seeded', ['seeds']],
    [did(3), 'discovered', ['operator']],
  ]);
});

test('an operation of a known labeler triggers a read of its document, even if the operation removes the service', async () => {
  const { roster, asked, operate } = rosterOfStrangers();
  const stop = new AbortController();
  roster.add(did(1), 'seeded', 'seeds');
  const run = roster.run(stop.signal);
  await expect.poll(() => asked.length).toBe(1);
  operate({ did: did(1), isLabeler: false });
  await expect.poll(() => asked.length).toBe(2);
  operate({ did: did(1), isLabeler: true });
  expect([...(roster.labeler(did(1))?.provenance ?? [])]).toEqual(['seeds', 'directory plc.example']);
  stop.abort();
  await run;
});

test('the definitions of a labeler that is evicted while they wait for a commit are not stored', async () => {
  const known = new Set([did(1), did(2), did(3)]);
  const commits: string[][] = [];
  const store = {
    putDefinitions: async (all: readonly Definitions[]) => {
      commits.push(all.map((one) => one.did).sort());
      // The newest stored revision of the third labeler is equal.
      return all.map((one) => one.did !== did(3));
    },
  };
  const shareOf = (source: string) => ({ priority: 'new' as const, domain: source, source });
  const { signal } = new AbortController();
  const queue = definitionCommits({ store, shares: { shareOf } }, (one) => known.has(one), signal);
  const put = (n: number) => queue.put({ did: did(n), seenAt: micros(1), content: '{}' });
  const first = [put(1), put(2), put(3)];
  known.delete(did(1));
  expect(await Promise.all(first)).toEqual([false, true, false]);
  const last = put(2);
  known.delete(did(2));
  expect(await last).toBe(false);
  expect(commits).toEqual([[did(2), did(3)]]);
});

test('nothing is kept of the labelers that a full roster evicts', () => {
  let now = 1_780_000_000_000_000;
  const clock = () => micros(now);
  const metadata = new LabelerMetadata({
    ...{ clock, wait: () => Promise.resolve(), log: silentLog, resolveTxt: null, timeoutMs: 1 },
    http: createHttpClient({ policy: { allowLoopback: false }, userAgent: 'Almanac/test' }),
    identities: { resolve: () => Promise.resolve({ kind: 'not_found', status: 404 }) },
    revisions: { put: () => Promise.resolve(true), isFull: false },
    labeler: (did) => roster.labeler(did),
    ...{ definitionsStored: () => undefined, sourceFailed: () => undefined },
    shareOf: (source) => ({ priority: 'new', domain: source, source }),
  });
  const followed: string[] = [];
  const ended: string[] = [];
  const roster: Roster = new Roster({
    identities: { resolve: () => Promise.reject(new Error('not requested')) },
    ...{ clock, wait: () => Promise.resolve(), refreshMs: 86_400_000, retryMs: 60_000, freshMs: 60_000 },
    changed: (labeler) =>
      followLabeler(labeler, {
        ...{ roster, metadata },
        runner: { follow: ({ did }) => followed.push(did) },
        cap: { forget: (did) => ended.push(did) },
      }),
  });
  for (let n = 0; n < maxKnown; n += 1) roster.add(did(n), 'discovered', 'directory plc.example');
  now += 25 * 3_600_000_000;
  for (let n = 0; n < 1_000; n += 1) roster.add(did(maxKnown + n), 'discovered', 'directory plc.example');
  expect([followed.length, new Set(followed).size, roster.dropped]).toEqual([1_000, 1_000, 0]);
  expect([ended, metadata.remembered]).toEqual([followed, 0]);
});

test('seeded and established labelers are not evicted if the directory is flooded with new labelers', () => {
  const { roster, operate } = rosterOfStrangers();
  const day = 86_400_000_000;
  roster.add(did(0), 'discovered', 'relay r.example');
  const established = roster.labeler(did(0))?.tracker;
  established?.apply(asked(micros(1_780_000_000_000_000 - 8 * day)));
  established?.apply(answered(micros(1_780_000_000_000_000 - 8 * day), { dated: 1, undated: 0 }));
  for (let n = 1; n <= maxKnown + 5_000; n += 1) operate({ did: did(n), isLabeler: true });
  roster.add('did:web:seed.example.com', 'seeded', 'seeds');
  expect([...roster.labelers]).toHaveLength(maxKnown);
  expect(roster.dropped).toBe(5_001);
  expect([roster.labeler(did(0)), roster.labeler('did:web:seed.example.com')]).not.toContain(undefined);
});

const nowUs = Date.UTC(2026, 6, 10) * 1000;
const declaration = {
  kind: 'commit',
  commit: { operation: 'create', collection: 'app.bsky.labeler.service', rkey: 'self', record: {} },
};

test('each event of a DID lets the roster read its document again, and a declaration adds it to the roster', async () => {
  const host = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  const stop = new AbortController();
  onTestFinished(async () => {
    stop.abort();
    for (const client of host.clients) client.terminate();
    await new Promise((resolve) => host.close(resolve));
  });
  await once(host, 'listening');
  host.on('connection', (socket) => {
    for (const event of [{ kind: 'identity' }, { kind: 'account' }, declaration, { kind: 'identity' }]) {
      socket.send(JSON.stringify({ ...event, did: did(1), time_us: nowUs }));
    }
  });
  const calls: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const note = (call: string): void => {
    calls.push(call);
    if (calls.length === 5) resolve();
  };
  const events = await labelerEvents(
    {
      settings: { jetstream: `ws://127.0.0.1:${(host.address() as AddressInfo).port}`, userAgent: 'Almanac/test' },
      store: { note: async () => null },
      policy: { allowLoopback: true },
      resolve: createNameResolver({ hostsFile: null }).resolve,
      random: () => 0,
      clocks: { wall: () => micros(nowUs), monotonic: () => 0 },
      log: silentLog,
    },
    { add: () => note('add'), documentChanged: () => note('documentChanged') },
    { written: async () => undefined },
    { onUpstreamTime: () => undefined },
  );
  void events?.run(stop.signal);
  await promise;
  expect(calls).toEqual(['documentChanged', 'documentChanged', 'add', 'documentChanged', 'documentChanged']);
});

test('the repeats of the last run are loaded after the roster, because the roster contains the priority of each source', async () => {
  const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
  const calls: string[] = [];
  const position = { source: did, endpoint: 'https://mod.example', value: '[null,null,7,null]', acceptedAt: micros(5) };
  const repeats = { ...position, endpoint: 'repeats', value: 'hmfi8.2s' };
  await loadRoster(
    { refusedRows: async () => [], positions: async () => [repeats, position], roster: async () => [] },
    {
      roster: { load: (_, answered) => calls.push(`roster ${answered.get(did)}`), labeler: () => undefined },
      runner: { keep: (_, endpoint) => calls.push(`position ${endpoint}`) },
      reachability: { load: () => undefined },
    },
    {
      refused: { load: () => undefined },
      filledIn: { load: () => false },
      repeats: { load: (source, name, text) => calls.push(`${name} ${source} ${text}`) > 0 },
    },
    micros(6),
  );
  expect(calls).toEqual(['position https://mod.example', 'roster 5', `repeats ${did} hmfi8.2s`]);
});
