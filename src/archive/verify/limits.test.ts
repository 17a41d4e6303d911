import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeAll, describe, expect, it } from 'vitest';
import { first, intactArchive, verifiedAt } from '../../../harness/archive/altered/archives.ts';
import { type Content, closedDays, copyOf, flip, signDays } from '../../../harness/archive/forge.ts';
import { simulatedKey } from '../../../harness/archive/simulated-archive.ts';
import { formatIndex, type ListedDay } from '../days/records.ts';
import { leafHash, treeHash } from '../log/merkle.ts';
import { signCheckpoint } from '../log/note.ts';
import { formatBundle, tileWidth } from '../log/tiles.ts';
import { ReadingLimitError, type ReadingLimits, UrlReader, verifyLimits } from './archive-reader.ts';
import { exitCodeOf, verifyExitCodes } from './finding.ts';
import { type KeptCheckpoint, verifyArchive } from './verify.ts';

/**
 * A verification of a URL ends within its limits of time and bytes, whatever the server does, and reports its findings
 * so far.
 */

let intact: Content = new Map();
let kept: KeptCheckpoint | null = null;

beforeAll(async () => {
  ({ intact, kept } = await intactArchive());
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

interface Serving {
  readonly limits?: Partial<ReadingLimits>;
  /** Duration of each response, in milliseconds of the reader's clock. */
  readonly responseMs?: number;
  readonly isKnown?: boolean;
  /** Returns the body for a path; null if it does not exist. */
  readonly respond: (path: string) => Uint8Array | null | undefined;
}

async function verifyServed({ limits, responseMs = 0, isKnown = false, respond }: Serving) {
  let [at, requests] = [0, 0];
  const fetch = (url: string | URL | Request): Promise<Response> => {
    at += responseMs;
    requests += 1;
    const body = respond(String(url).replace('http://archive.example/', ''));
    return Promise.resolve(body ? new Response(new Uint8Array(body)) : new Response(null, { status: 404 }));
  };
  const reader = new UrlReader({
    ...{ base: 'http://archive.example', fetch, userAgent: 'test', timeoutMs: 30_000, monotonic: () => at },
    wait: () => Promise.resolve(),
    ...(limits && { limits: { ...verifyLimits, ...limits } }),
  });
  const options = { reader, key: null, kept: isKnown ? kept : null, now: verifiedAt };
  const report = await verifyArchive({ ...options, wait: () => Promise.resolve() });
  return { report, requests, elapsedMs: at, code: exitCodeOf(report.findings) };
}

/** Returns an index that lists twenty thousand open days. */
function endlessIndex(): Buffer {
  const days = Array.from({ length: 20_000 }, (_, at): ListedDay => {
    const day = new Date(at * 86_400_000).toISOString().slice(0, 10);
    return { day, state: 'open', sha256: '0'.repeat(64) };
  });
  return formatIndex({ key: simulatedKey.verifier.text, days });
}

describe('a verification of a URL', () => {
  it('ends at its time limit if the index lists 20,000 days and every response is slow', async () => {
    const index = endlessIndex();
    const responseMs = 20_000;
    const { report, requests, elapsedMs, code } = await verifyServed({
      responseMs,
      respond: (path) => (path === 'index.json' ? index : Buffer.from('{}')),
    });
    expect(report).toMatchObject({ limit: 'ms', keep: null });
    expect(report.findings.at(-1)).toMatchObject({ kind: 'unreadable', path: '.' });
    expect(code).toBeGreaterThan(0);
    expect([elapsedMs, requests]).toEqual([verifyLimits.ms, verifyLimits.ms / responseMs]);
  });

  it('cancels the body of an error response, which would otherwise hold a connection until its timeout', async () => {
    let unread = 0;
    const fetch = (): Promise<Response> => {
      unread += 1;
      const cancel = (): void => {
        unread -= 1;
      };
      return Promise.resolve(new Response(new ReadableStream({ cancel }), { status: 500 }));
    };
    const options = { base: 'http://archive.example', fetch, userAgent: 'test', timeoutMs: 30_000 };
    const wait = () => Promise.resolve();
    const reader = new UrlReader({ ...options, monotonic: () => 0, wait });
    const report = await verifyArchive({ reader, key: null, kept, now: verifiedAt, wait });
    expect(exitCodeOf(report.findings)).toBe(verifyExitCodes.unreadable);
    expect(unread).toBe(0);
  });

  it('does not hold the entries of the log in memory, because a hostile log can have gigabytes of entries', async () => {
    const [size, entry] = [8_192, Buffer.alloc(16_384, '{')];
    const root = treeHash(Array.from({ length: size }, () => leafHash(entry)));
    const note = Buffer.from(signCheckpoint({ size, root }, simulatedKey));
    const bundle = formatBundle(Array.from({ length: tileWidth }, () => entry));
    const days: ListedDay[] = [{ day: first, state: 'closed', sha256: '0'.repeat(64) }];
    const index = formatIndex({ key: simulatedKey.verifier.text, days });
    let kept = 0;
    const { report } = await verifyServed({
      limits: {},
      respond(path) {
        if (!path.startsWith('log/tile/entries/')) {
          return path === 'index.json' ? index : path === 'log/checkpoint' ? note : null;
        }
        collectGarbage();
        kept = Math.max(kept, process.memoryUsage().arrayBuffers);
        return bundle;
      },
    });
    expect(report.findings).toContainEqual(expect.objectContaining({ kind: 'malformed', path: 'log/' }));
    expect(kept).toBeLessThan((size * entry.length) / 2);
  });

  it('returns the highest exit code even if there are more findings than a function call can have arguments', () => {
    const missing = Array.from({ length: 500_000 }, () => ({ kind: 'missing', path: 'days', message: '' }) as const);
    expect(exitCodeOf([...missing, { kind: 'altered', path: 'days', message: '' }])).toBe(verifyExitCodes.altered);
  });

  it('ends at its byte limit if the index lists 20,000 days and every file is large', async () => {
    const index = endlessIndex();
    const limits = { bytes: index.length * 3 };
    const { report, requests } = await verifyServed({
      limits,
      respond: (path) => (path === 'index.json' ? index : Buffer.alloc(100_000)),
    });
    expect(report).toMatchObject({ limit: 'bytes', keep: null });
    expect(requests).toBeLessThan(limits.bytes / 100_000);
  });

  it('ends at its byte limit if every file is too large, although it retains no file', async () => {
    const { report, requests } = await verifyServed({
      limits: { bytes: 1_000_000 },
      respond: () => Buffer.alloc(2_000_000),
    });
    expect([report.limit, requests]).toEqual(['bytes', 1]);
    expect(report.findings).toMatchObject([{ kind: 'unreadable' }]);
  });

  it('reports its findings if a limit ends it, so that a slow server cannot hide a fork', async () => {
    const forked = copyOf(intact);
    const other = closedDays(forked).map((leaf) => (leaf.day === first ? { ...leaf, sha256: '0'.repeat(64) } : leaf));
    signDays(forked, other, simulatedKey);
    const { report, code } = await verifyServed({
      ...{ limits: { ms: 8_000 }, responseMs: 1_000, isKnown: true },
      respond: (path) => forked.get(path),
    });
    expect([report.limit, code]).toEqual(['ms', verifyExitCodes.fork]);
  });

  it('reports the findings of a complete pass if a limit ends the next pass', async () => {
    const damaged = copyOf(intact);
    flip(damaged, `days/${first}/day.json`, 20);
    const { requests } = await verifyServed({ limits: {}, respond: (path) => damaged.get(path) });
    const { report, code } = await verifyServed({
      ...{ limits: { ms: requests * 750 }, responseMs: 1_000 },
      respond: (path) => damaged.get(path),
    });
    expect([report.limit, code]).toEqual(['ms', verifyExitCodes.altered]);
  });

  it('stays within every limit for an intact archive of ten years', async () => {
    let bytes = 0;
    const { report, requests } = await verifyServed({
      limits: {},
      respond(path) {
        const body = intact.get(path);
        bytes += body?.length ?? 0;
        return body;
      },
    });
    expect(report).toMatchObject({ findings: [], limit: null });
    const days = report.closedDays + report.openDays;
    // Assume ten years of 300 MB each, and count a file again each time it is read.
    const repeated = bytes / [...intact.values()].reduce((sum, { length }) => sum + length, 0);
    expect(10 * 300_000_000 * repeated).toBeLessThan(verifyLimits.bytes / 2);
    // Assume that each request takes half a second.
    expect((3_653 * requests * 500) / days).toBeLessThan(verifyLimits.ms);
  });

  it('reports each limit with its own error', () => {
    const limits = { ms: 5_000, bytes: 7 };
    expect(new ReadingLimitError('ms', limits)).toMatchObject({
      limit: 'ms',
      message: expect.stringContaining('5 seconds'),
    });
    expect(new ReadingLimitError('bytes', limits)).toMatchObject({
      limit: 'bytes',
      message: expect.stringContaining('7 bytes'),
    });
  });
});
