import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { AccountRow, ExportCreated, ExportPage } from '../../src/contract/account.ts';
import type { AccountErrorBody } from '../../src/contract/errors.ts';
import type { ReceivedLabel } from '../../src/store/label.ts';
import type { StoreWriter } from '../../src/store/port.ts';
import { openSqliteWriter, type SqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { micros } from '../../src/store/time.ts';
import type { Later } from '../process/once-in-file.ts';
import type { Program } from '../process/program.ts';
import { startProgramInTest } from '../process/program-in-test.ts';

/** Default DID of the account in tests. */
export const account = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';
/** DIDs of the two labelers whose labels the tests store. */
export const labelers = ['did:plc:ar7c4by46qjdydhdevvrndac', 'did:plc:newitj5jo3uel7o4mnf3vj2o'] as const;

/** Opens a store in a directory for writing and closes it after the test, or when `later` releases it. */
export function writerInTest(
  folder: string,
  at: number = Date.now() * 1000,
  later: Later = onTestFinished,
): SqliteWriter {
  const store = openSqliteWriter({ folder: join(folder, 'labels'), at: micros(at) });
  later(() => store.close());
  return store;
}

/** Returns the n-th label on an account. The labels cover every kind of target, both actions and two labelers. */
export function labelNo(n: number, subject = account): ReceivedLabel {
  const uris = [
    subject,
    `at://${subject}/app.bsky.feed.post/3k${n}`,
    `at://${subject}/app.bsky.actor.profile/self`,
  ] as const;
  return {
    src: labelers[n % 2] ?? labelers[0],
    uri: uris[n % 3] ?? subject,
    val: n % 5 === 0 ? 'spam' : `value-${n}`,
    // Give each label its own time: equal labels with the same time would be duplicates.
    cts: new Date(Date.UTC(2026, 10, 20, 12) + n).toISOString(),
    ...(n % 4 === 0 ? { neg: true } : {}),
    ...(n % 7 === 0 ? { exp: '2027-01-01T00:00:00Z' } : {}),
    ...(n % 3 === 1 ? { cid: 'bafyreie5cvv4h45feadgeuwhbcutmh6t2ceseocckahdoe6uat64zmz454' } : {}),
    sig: new Uint8Array(64).fill(n % 256),
  };
}

/** Stores `count` labels, numbered from `from`, with the given acceptance time. */
export async function fill(
  store: Pick<StoreWriter, 'append'>,
  count: number,
  { from = 0, at = Date.now() * 1000, subject = account } = {},
): Promise<void> {
  for (let first = from; first < from + count; first += 1_000) {
    const size = Math.min(1_000, from + count - first);
    await store.append({
      at: micros(at),
      observations: Array.from({ length: size }, (_, i) => ({
        label: labelNo(first + i, subject),
        signature: 'unverified',
      })),
      refusals: [],
      positions: [],
    });
  }
}

/** Starts the built program's account-view surface over the store in a directory. */
export function startAccount(
  folder: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  later: Later = onTestFinished,
): Program {
  const own = ['account', '--port', '0', '--store', `sqlite:${join(folder, 'labels')}`, '--data', folder];
  return startProgramInTest([...own, ...args], { env }, later);
}

/** A complete response of the account surface. */
export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: T;
}

/** Sends a request. Resolves with the response and its parsed JSON body. */
export async function ask<T = AccountErrorBody>(
  url: string,
  query: Readonly<Record<string, string>> | string,
): Promise<Answer<T>> {
  const search = typeof query === 'string' ? query : new URLSearchParams(query).toString();
  const response = await fetch(`${url}?${search}`);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as T };
}

/** Creates an export. Fails the test if the export is refused. */
export async function create(url: string, query: Readonly<Record<string, string>> = {}): Promise<ExportCreated> {
  const { status, text, body } = await ask<ExportCreated>(`${url}/exports`, { did: account, ...query });
  if (status !== 200) throw new Error(`the export was not created: ${status} ${text}`);
  return body;
}

/** Requests one page. Fails the test if the page is refused. */
export async function page(url: string, cursor: string): Promise<ExportPage> {
  const { status, text, body } = await ask<ExportPage>(`${url}/exports`, { cursor });
  if (status !== 200) throw new Error(`the page was refused: ${status} ${text}`);
  return body;
}

/**
 * Reads all pages of an export. Resolves with the pages, the rows, and the count and digest of the last page. Rejects
 * if the last page is not marked as terminal.
 */
export async function follow(url: string, { cursor }: Pick<ExportCreated, 'cursor'>) {
  const rows: AccountRow[] = [];
  const pages: ExportPage[] = [];
  for (let next: string | null = cursor; next !== null; ) {
    const one: ExportPage = await page(url, next);
    pages.push(one);
    rows.push(...one.rows);
    next = one.next_cursor;
  }
  const last = pages.at(-1);
  if (!last?.terminal) throw new Error('the export has no terminal page');
  return { rows, pages, count: last.count, digest: last.content_sha256 };
}
