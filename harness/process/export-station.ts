import { createServer, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import type { AccountRow } from '../../src/contract/account.ts';
import { formatMicros, type Micros } from '../../src/contract/timestamp.ts';
import type { ReceivedLabel } from '../../src/store/label.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day, hour, micros, minute } from '../../src/store/time.ts';
import { listenForTest } from '../net/listen.ts';
import { folderInTest } from './folder.ts';
import type { Later } from './once-in-file.ts';
import type { Program } from './program.ts';
import { startProgramInTest } from './program-in-test.ts';

/** DID of the account whose rows are exported. */
export const account = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';
const neighbour = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
/** DID of the labeler that emitted every second row of the account. */
export const labeler = 'did:plc:ar7c4by46qjdydhdevvrndac';

const values = ['spam', '=HYPERLINK("http://x.example")', 'a,"b"', 'two\r\nlines', "'quoted", '-1', '🜁‮hide', '!warn'];

function labelNumber(n: number): ReceivedLabel {
  const subject = n % 5 === 4 ? neighbour : account;
  return {
    src: n % 2 === 0 ? labeler : 'did:web:mod.example',
    uri: n % 3 === 0 ? subject : `at://${subject}/app.bsky.feed.post/${n}`,
    val: values[n % values.length] ?? '',
    ...(n % 3 === 0 ? {} : { cid: 'bafyreie5cvv4h45feadgeuwhbcutmh6t2ceseocckahdoe6uat64zmz454' }),
    ...(n % 7 === 0 ? { neg: true } : {}),
    ...(n % 11 === 0 ? { exp: '2027-01-01T00:00:00Z' } : {}),
    cts: new Date(1_700_000_000_000 + n).toISOString(),
  };
}

/**
 * Creates a store with labels from the last days. Resolves with its URL and the expected rows of the account. The store
 * is removed after the test, or when `later` releases it.
 */
export async function filledStore(
  labels: number,
  later: Later = onTestFinished,
): Promise<{ url: string; rows: AccountRow[]; folder: string }> {
  const folder = folderInTest(later);
  const end = micros(Date.now() * 1000 - minute);
  const begin = micros(end - 5 * day);
  const store = openSqliteWriter({ folder, at: begin });
  const batches = 8;
  const expected: ReceivedLabel[] = [];
  for (let batch = 0; batch < batches; batch++) {
    const at = micros(begin + hour + Math.floor(((end - begin - hour) * batch) / batches));
    await store.beat(at);
    for (
      let first = Math.floor((labels * batch) / batches);
      first < Math.floor((labels * (batch + 1)) / batches);
      first += 1000
    ) {
      const last = Math.min(first + 1000, Math.floor((labels * (batch + 1)) / batches));
      const sent = Array.from({ length: last - first }, (_, index) => labelNumber(first + index));
      const observations = sent.map((label) => ({ label, signature: 'unsigned' as const }));
      await store.append({ at, observations, refusals: [], positions: [] });
      expected.push(...sent.filter(({ uri }) => uri.includes(account)));
    }
  }
  await store.append({ at: end, observations: [], refusals: [], positions: [] });
  await store.close();
  const stamps = await stampsOf(folder, begin, micros(end + minute));
  if (stamps.length !== expected.length) throw new Error('the store does not contain the appended rows');
  const rows = expected.map((label, index) => rowOf(label, stamps[index] as Micros));
  return { url: `sqlite:${folder}`, rows, folder };
}

async function stampsOf(folder: string, start: Micros, end: Micros): Promise<Micros[]> {
  const reader = openSqliteReader(folder);
  const stamps: Micros[] = [];
  for (let after: Micros | null | undefined; after !== null; ) {
    const chunk = await reader.readAccount({ account, start, end, order: 'oldest', after: after ?? null, limit: 500 });
    stamps.push(...chunk.rows.map(({ observedAt }) => observedAt));
    after = chunk.next;
  }
  await reader.close();
  return stamps;
}

function rowOf(label: ReceivedLabel, observedAt: Micros): AccountRow {
  return {
    labeler_did: label.src,
    uri: label.uri,
    ...(label.cid === undefined ? {} : { cid: label.cid }),
    value: label.val,
    action: label.neg === true ? 'removal_observed' : 'application_observed',
    source_timestamp: label.cts,
    observed_at: formatMicros(observedAt),
    ...(label.exp === undefined ? {} : { expires_at: label.exp }),
    signature: 'unsigned',
  };
}

/**
 * Starts the account program on a store, with its secret in `data` and with additional environment variables. It runs
 * until the test has finished, or `later` ends it.
 */
export async function startAccount(
  store: string,
  args: readonly string[] = [],
  data = folderInTest(),
  later: Later = onTestFinished,
  env: Readonly<Record<string, string>> = {},
): Promise<{ url: string; program: Program; data: string }> {
  const own = ['account', '--port', '0', '--store', store, '--data', data, '--page-rows', '50'];
  const program = startProgramInTest([...own, ...args], { env }, later);
  const { url } = await program.listening();
  return { url, program, data };
}

/** A response that passes through the proxy and may be changed. */
export interface Passing {
  /** Number of the request, starting at 1. */
  readonly nth: number;
  /** True if the request creates an export, false if it requests a page. */
  readonly creates: boolean;
  status: number;
  headers: Record<string, string>;
  body: string;
  /** Response to the client. If `change` has already ended the response, the proxy sends nothing. */
  readonly response: ServerResponse;
}

/** Starts a proxy in front of the service. `change` alters responses as networks and attackers might. */
export async function startProxy(upstream: string, change: (passing: Passing) => void | Promise<void>) {
  const state = { upstream, asked: 0 };
  const server = createServer((request, response) => {
    void pass(request.url ?? '', response).catch(() => response.destroy());
  });
  async function pass(target: string, response: ServerResponse): Promise<void> {
    state.asked += 1;
    const nth = state.asked;
    const answer = await fetch(state.upstream + target);
    const passing: Passing = {
      nth,
      creates: !target.includes('cursor='),
      status: answer.status,
      headers: Object.fromEntries(
        [...answer.headers].filter(([name]) => ['content-type', 'retry-after'].includes(name)),
      ),
      body: await answer.text(),
      response,
    };
    await change(passing);
    if (response.writableEnded || response.destroyed) return;
    response.writeHead(passing.status, passing.headers).end(passing.body);
  }
  const { port } = await listenForTest(server);
  return { url: `http://127.0.0.1:${port}`, state };
}
