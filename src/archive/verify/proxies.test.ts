import { beforeAll, describe, expect, it } from 'vitest';
import {
  closingAt,
  closingHour,
  first,
  intactArchive,
  second,
  verifiedAt,
} from '../../../harness/archive/altered/archives.ts';
import { type Content, copyOf, flip } from '../../../harness/archive/forge.ts';
import { UrlReader } from './archive-reader.ts';
import { exitCodeOf, verifyExitCodes } from './finding.ts';
import { type KeptCheckpoint, verifyArchive } from './verify.ts';

/**
 * A verification of a URL goes through proxies, which limit the rate of requests, restart, break off responses and serve
 * copies of different ages. None of this is a finding about the archive.
 */

let intact: Content = new Map();

beforeAll(async () => {
  ({ intact } = await intactArchive());
});

interface Verification {
  readonly kept?: KeptCheckpoint | null;
  /** Time of the verification, in milliseconds since 1970. */
  readonly now?: number;
  /** Responds to a request for a path at a time in milliseconds since the start. */
  readonly respond: (path: string, at: number, request: number) => Response;
}

/** Verifies the archive at a URL. The clock advances only while the verification waits. */
async function verifyUrl({ kept = null, now = verifiedAt, respond }: Verification) {
  let at = 0;
  const [paths, waits]: [string[], number[]] = [[], []];
  const fetch = (url: string | URL | Request): Promise<Response> => {
    const path = String(url).replace('http://archive.example/', '');
    paths.push(path);
    try {
      return Promise.resolve(respond(path, at, paths.length));
    } catch (error) {
      return Promise.reject(new TypeError('fetch failed', { cause: error }));
    }
  };
  const wait = (milliseconds: number): Promise<void> => {
    waits.push(milliseconds);
    at += milliseconds;
    return Promise.resolve();
  };
  const timing = { timeoutMs: 30_000, monotonic: () => at, wait };
  const reader = new UrlReader({ base: 'http://archive.example', fetch, userAgent: 'test', ...timing });
  const report = await verifyArchive({ reader, key: null, kept, now, wait });
  return { report, paths, waits, code: exitCodeOf(report.findings) };
}

/** Responds like the service: with the file, or with 404. */
function fileOf(content: Content, path: string, headers: Record<string, string> = {}): Response {
  const bytes = content.get(path);
  return bytes ? new Response(new Uint8Array(bytes), { headers }) : new Response(null, { status: 404 });
}

const refusal = (status: number, headers: Record<string, string> = {}) => new Response('later', { status, headers });

describe('a verification through a proxy that refuses some requests', () => {
  it.each([
    ['429 with Retry-After', () => refusal(429, { 'Retry-After': '3' }), 3_000],
    ['503 with Retry-After', () => refusal(503, { 'Retry-After': '1' }), 1_000],
    [
      '503 with a date in Retry-After',
      () => refusal(503, { 'Retry-After': 'Fri, 20 Nov 2026 12:00:07 GMT', Date: 'Fri, 20 Nov 2026 12:00:00 GMT' }),
      7_000,
    ],
    ['503 without Retry-After', () => refusal(503), 1_000],
    ['502', () => refusal(502), 1_000],
  ])('requests each refused file again after the stated delay, and no other file (%s)', async (_, refuse, delay) => {
    const plain = await verifyUrl({ respond: (path) => fileOf(intact, path) });
    expect(plain).toMatchObject({ code: 0, waits: [] });
    const refused: string[] = [];
    const { report, paths, waits, code } = await verifyUrl({
      respond(path, _at, request) {
        if (request % 10 !== 0) return fileOf(intact, path);
        refused.push(path);
        return refuse();
      },
    });
    expect([code, report]).toEqual([0, plain.report]);
    expect(refused.length).toBeGreaterThan(5);
    expect(waits).toEqual(refused.map(() => delay));
    // Several files are read at a time, so the order differs.
    expect(paths.toSorted()).toEqual([...plain.paths, ...refused].toSorted());
  });

  it('requests a file again whose response breaks off', async () => {
    const { code, waits } = await verifyUrl({
      respond(path, _at, request) {
        if (request !== 20) return fileOf(intact, path);
        return new Response(
          new ReadableStream({ start: (controller) => controller.error(new Error('unexpected end of file')) }),
        );
      },
    });
    expect([code, waits]).toEqual([0, [1_000]]);
  });

  it('gives up on a file after six requests, requests the next files once, and reports them as unreadable', async () => {
    const gone = [first, second].map((day) => `days/${day}/day.json`);
    const { report, paths, waits, code } = await verifyUrl({
      respond: (path) => (gone.includes(path) ? refusal(503) : fileOf(intact, path)),
    });
    expect(code).toBe(verifyExitCodes.unreadable);
    expect(report.findings.slice(0, 2).map(({ message }) => message)).toEqual(
      gone.map((path) => `cannot read ${path} from the URL: status 503`),
    );
    // Two passes, with two seconds between them and after them.
    expect(gone.map((path) => paths.filter((one) => one === path).length)).toEqual([12, 2]);
    const tries = [1_000, 2_000, 4_000, 8_000, 16_000];
    expect(waits).toEqual([...tries, 2_000, ...tries, 2_000]);
  });

  it('does not wait for hours because a server asks for it', async () => {
    const { report, waits, code } = await verifyUrl({ respond: () => refusal(429, { 'Retry-After': '3600' }) });
    expect([code, waits]).toEqual([verifyExitCodes.unreadable, [2_000, 2_000]]);
    expect(report.findings[0]?.message).toBe(
      'cannot read index.json from the URL: status 429; the server can be asked again in 3600 s',
    );
  });

  it('does not repeat requests to an address that has never responded', async () => {
    const { paths, code } = await verifyUrl({
      respond() {
        throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
      },
    });
    expect(code).toBe(verifyExitCodes.unreadable);
    // Two passes, each followed by a comparison of the index and the checkpoint with those of the previous pass.
    expect(paths.filter((path) => path === 'index.json')).toHaveLength(5);
  });
});

const lifetimeMs = 60_000;

/**
 * Returns a cache of a minute in front of an archive that changes at a time. Another client has requested the paths
 * that `isWarm` selects directly before the change.
 */
function cached(content: (at: number) => Content, changeAt: number, isWarm: (path: string) => boolean) {
  const copies = new Map<string, { readonly bytes: Buffer | undefined; readonly until: number }>();
  return (path: string, at: number): Response => {
    const own = copies.get(path);
    let copy = own && own.until > at ? own : undefined;
    const warmedAt = changeAt - 1;
    if (!copy && isWarm(path) && at >= changeAt && at < warmedAt + lifetimeMs) {
      copy = { bytes: content(warmedAt).get(path), until: warmedAt + lifetimeMs };
    }
    copy ??= { bytes: content(at).get(path), until: at + lifetimeMs };
    copies.set(path, copy);
    // Like nginx, the cache does not say how old its copy is.
    return fileOf(copy.bytes ? new Map([[path, copy.bytes]]) : new Map(), path, {
      'Cache-Control': 'public, max-age=60',
    });
  };
}

describe('a verification through a cache of a minute', () => {
  it('calls no honest archive altered, no matter which files the cache has from before a change', async () => {
    const { before, after } = await closingHour();
    const paths = [...new Set([...before.content.keys(), ...after.keys()])];
    const groups = paths.map((one) => (path: string) => path === one);
    const mixed = [...groups, ...groups.map((isOne) => (path: string) => !isOne(path)), () => true];
    let repeated = 0;
    for (const isWarm of mixed) {
      const respond = cached((at) => (at < 0 ? before.content : after), 0, isWarm);
      const { report, waits } = await verifyUrl({ now: closingAt, respond });
      expect(report.findings).toEqual([]);
      if (waits.length > 0) repeated += 1;
      expect(waits).toEqual(waits.length === 0 ? [] : [2_000, lifetimeMs]);
    }
    // Some copies contradict the other files.
    expect(repeated).toBeGreaterThan(10);
  });

  it('does not call an old copy of the log a rollback', async () => {
    const { before, after } = await closingHour();
    const { keep } = (await verifyUrl({ now: closingAt, respond: (path) => fileOf(after, path) })).report;
    const respond = cached(
      (at) => (at < 0 ? before.content : after),
      0,
      () => true,
    );
    expect((await verifyUrl({ now: closingAt, kept: keep, respond })).report.findings).toEqual([]);
    const old = (path: string) => fileOf(before.content, path);
    expect((await verifyUrl({ now: closingAt, kept: keep, respond: old })).code).toBe(verifyExitCodes.rollback);
    const kept = cached(
      () => before.content,
      0,
      () => false,
    );
    const rolledBack = await verifyUrl({ now: closingAt, kept: keep, respond: kept });
    expect([rolledBack.code, rolledBack.waits]).toEqual([verifyExitCodes.rollback, [2_000, lifetimeMs, lifetimeMs]]);
  });

  it('still reports an altered archive, after the copies have expired twice', async () => {
    const content = copyOf(intact);
    flip(content, `days/${first}/day.json`, 20);
    const respond = cached(
      () => content,
      0,
      () => false,
    );
    const { code, waits } = await verifyUrl({ respond });
    expect([code, waits]).toEqual([verifyExitCodes.altered, [2_000, lifetimeMs, lifetimeMs]]);
  });
});
