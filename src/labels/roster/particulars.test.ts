import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rosterRow } from '../../../harness/store/roster-row.ts';
import { Pds } from '../../../sim/identity/pds.ts';
import { createHttpClient, type HttpClient } from '../../network/http/http.ts';
import type { Resolution } from '../../network/identity/identity.ts';
import { silentLog } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import type { Definitions } from '../../store/roster.ts';
import { micros } from '../../store/time.ts';
import { wait } from '../clock/wait.ts';
import { type Member, memberOf } from './member.ts';
import { Particulars } from './particulars.ts';

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

function labeler(over: Partial<Member> = {}): Member {
  const member = memberOf(rosterRow(did, { state: 'probing', resolution: 'unresolved' }), null);
  return Object.assign(member, { pds: pds.origin, handle: 'mod.example.com', ...over });
}

/** Asks as if `dns` were what the name says, and the document what the directory has. */
function ask(member: Member, dns: () => Promise<string[][]>) {
  const document = { did, handle: member.handle, labelerDeclared: true, labelerEndpoint: null, pds: null };
  const resolution: Resolution = { kind: 'resolved', document: { ...document, labelKeys: [] } };
  return askAll(new Map([[did, member]]), { resolveTxt: dns, identities: { resolve: async () => resolution } })
    .particulars;
}

function askAll(
  members: ReadonlyMap<string, Member>,
  over: Partial<ConstructorParameters<typeof Particulars>[0]>,
  putDefinitions = async (definitions: Definitions) => {
    kept.push(definitions);
    return true;
  },
) {
  const particulars = new Particulars({
    http,
    identities: { resolve: async () => ({ kind: 'not_found', status: 404 }) },
    shareOf: (source) => ({ standing: 'seeded', domain: source, source }),
    resolveTxt: null,
    store: { putDefinitions },
    member: (asked) => members.get(asked),
    clock: () => micros(time * 1000),
    // A wait is over at once, so that the next look sees the time that a test set.
    wait: (_, signal) => wait(1, signal),
    log: silentLog,
    sourceFailed: () => undefined,
    timeoutMs: 20_000,
    ...over,
  });
  const running = particulars.run(stop.signal);
  running.catch(() => undefined);
  return { particulars, running };
}

const names = (found: string) => async () => [[`did=${found}`]];
const asked = () => pds.asked.get(did) ?? 0;
const until = (holds: () => boolean) => expect.poll(holds, { timeout: 30_000, interval: 5 }).toBe(true);

test('definitions come from the labeler’s own host, with their date, and again a week later', async () => {
  pds.records.set(did, record('spam'));
  const particulars = ask(labeler(), names(did));
  particulars.resolved(labeler());
  await until(() => kept.length === 1);
  expect(kept).toEqual([{ did, seenAt: micros(time * 1000), content: content('spam') }]);
  // The same document again is no reason to ask.
  particulars.resolved(labeler());
  time += 7 * 86_400_000 - 1;
  await wait(50, stop.signal);
  expect(asked()).toBe(1);
  pds.records.set(did, record('rude'));
  time += 1;
  await until(() => kept.length === 2);
  expect(kept[1]).toEqual({ did, seenAt: micros(time * 1000), content: content('rude') });
});

test('a record that is written without end is taken once in ten minutes, and then as it stands', async () => {
  const particulars = ask(labeler({ handle: null }), names(did));
  for (let i = 0; i < 500; i++) await particulars.written(did, content(`${i}`));
  expect(kept.map((one) => one.content)).toEqual([content('0')]);
  pds.records.set(did, record('499'));
  time += 600_000;
  await until(() => kept.length === 2);
  expect(kept[1]?.content).toBe(content('499'));
});

test('nobody’s definitions are kept but a known labeler’s', async () => {
  await ask(labeler(), names(did)).written('did:plc:bbbbbbbbbbbbbbbbbbbbbbbb', content('spam'));
  expect(kept).toEqual([]);
});

test.each([
  ['no record', undefined],
  ['a record of something else', { text: 'hello' }],
  ['a record beyond the bound', record('x'.repeat(2_000_000))],
  ['definitions beyond the bound', record('x'.repeat(300_000))],
])('%s gives none', async (_, value) => {
  if (value) pds.records.set(did, value);
  ask(labeler(), names(did)).resolved(labeler());
  await until(() => asked() === 1);
  await wait(50, stop.signal);
  expect(kept).toEqual([]);
});

test.each([
  ['names the labeler', names(did), true],
  ['names somebody else', names('did:plc:bbbbbbbbbbbbbbbbbbbbbbbb'), false],
  ['cannot be asked', () => Promise.reject(Object.assign(new Error(), { code: 'ESERVFAIL' })), false],
])('a name that %s is confirmed: %s', async (_, dns, confirmed) => {
  const member = labeler();
  ask(member, dns).resolved(member);
  await until(() => asked() === 1);
  await wait(50, stop.signal);
  expect(member.handleConfirmed).toBe(confirmed);
});

test('a record nested 5,000 levels deep, or an error that its data causes, stops nothing for the other labelers', async () => {
  const levels = 5_000;
  const value = `{"policies":{"labelValues":${'['.repeat(levels)}${']'.repeat(levels)}}}`;
  const host = createServer((_, response) => {
    response.setHeader('content-type', 'application/json').end(`{"uri":"at://x","value":${value}}`);
  });
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  const deep = labeler({ did: 'did:plc:cccccccccccccccccccccccc', handle: null });
  deep.pds = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  const throwing = labeler({ did: 'did:plc:dddddddddddddddddddddddd', handle: null });
  Object.defineProperty(throwing, 'pds', {
    get: () => {
      throw new RangeError('Maximum call stack size exceeded');
    },
  });
  const honest = labeler({ handle: null });
  pds.records.set(did, record('spam'));
  const members = new Map([deep, throwing, honest].map((member) => [member.did, member]));
  const failures: string[] = [];
  const { running, particulars } = askAll(members, { sourceFailed: (what) => void failures.push(what) });
  // In the order in which they are asked: two at a time.
  for (const member of [deep, labeler({ did: throwing.did }), honest]) particulars.resolved(member);
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

test('a store that cannot be trusted ends it', async () => {
  pds.records.set(did, record('spam'));
  const failing = () => Promise.reject(new StoreError('damaged', 'the files are inconsistent'));
  const { running, particulars } = askAll(new Map([[did, labeler({ handle: null })]]), {}, failing);
  particulars.resolved(labeler({ handle: null }));
  await expect(running).rejects.toThrow('inconsistent');
});
