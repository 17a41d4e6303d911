import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Content, copyOf, signDays } from '../../harness/archive/forge.ts';
import { memoryReader } from '../../harness/archive/memory-files.ts';
import { simulateArchive, simulatedKey, simulatedStart } from '../../harness/archive/simulated-archive.ts';
import { hourMs } from '../../src/archive/days/calendar.ts';
import { verifyArchive } from '../../src/archive/verify/verify.ts';

/** The archive in memory does not change between the passes of a verification. */
const wait = (): Promise<void> => Promise.resolve();

const script = new URL('../../harness/archive/independent_verifier.py', import.meta.url).pathname;
const isMissing = !(process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, 'python3')));

/** Runs the verifier that uses Python's standard library alone; returns its only line. */
function verifyWithPython(content: Content): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'almanac-archive-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [path, bytes] of content) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), bytes);
  }
  return new Promise((resolve) => {
    execFile('python3', [script, root], (_error, stdout) => resolve(stdout.trim()));
  });
}

/** Returns true if the verification of this program has no finding. */
async function isIntactHere(content: Content): Promise<boolean> {
  const now = simulatedStart + 365 * 24 * hourMs;
  const { findings } = await verifyArchive({ reader: memoryReader(content), key: null, kept: null, now, wait });
  return findings.length === 0;
}

function flipped(content: Content, path: string, at: number): Content {
  const altered = copyOf(content);
  const bytes = altered.get(path);
  if (!bytes) throw new Error(`the archive has no ${path}`);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return altered;
}

// A missing tool is an error in CI, not a reason to skip.
describe.skipIf(isMissing && process.env.CI === undefined)('a verifier written from the specifications', () => {
  it('agrees with this one on an archive of five days, and on every altered file', async () => {
    const archive = simulateArchive();
    await archive.run(24 * 5 + 1);
    const intact = copyOf(archive.content);
    const altered: readonly [path: string, at: number, line: string][] = [
      ['days/2026-11-20/labels-overview.jsonl', 300, 'a file does not match the record of its day'],
      ['days/2026-11-21/gaps.json', 10, 'a file does not match the record of its day'],
      ['days/2026-11-22/day.json', 10, 'the record of a day does not match the log'],
      ['log/tile/0/000.p/3', 40, 'a tile does not match the entries'],
      ['log/tile/entries/000.p/3', 40, 'the entries do not have the root of the checkpoint'],
      ['log/checkpoint', 21, 'the signature is invalid'],
    ];
    expect([await verifyWithPython(intact), await isIntactHere(intact)]).toEqual(['intact: 3 days', true]);
    for (const [path, at, line] of altered) {
      const content = flipped(intact, path, at);
      expect([await verifyWithPython(content), await isIntactHere(content)], path).toEqual([line, false]);
    }
  });

  it('agrees with this one on the tiles of a log of 600 days, which have two levels', async () => {
    const days = Array.from({ length: 600 }, (_, index) => ({
      day: new Date(Date.UTC(2000, 0, 1 + index)).toISOString().slice(0, 10),
      sha256: '0'.repeat(64),
    }));
    const content: Content = new Map();
    signDays(content, days, simulatedKey);
    expect([...content.keys()].filter((path) => path.startsWith('log/')).sort()).toEqual([
      'log/checkpoint',
      'log/tile/0/000',
      'log/tile/0/001',
      'log/tile/0/002.p/88',
      'log/tile/1/000.p/2',
      'log/tile/entries/000',
      'log/tile/entries/001',
      'log/tile/entries/002.p/88',
    ]);
    // The log is intact; the records of its days do not exist.
    const { findings } = await verifyArchive({
      reader: memoryReader(content),
      key: null,
      kept: null,
      now: Date.now(),
      wait,
    });
    expect([...new Set(findings.map(({ kind }) => kind))]).toEqual(['missing']);
    expect(findings).toHaveLength(600);
    expect(await verifyWithPython(content)).toContain('2000-01-01/day.json');
    for (const path of ['log/tile/1/000.p/2', 'log/tile/0/001']) {
      expect(await verifyWithPython(flipped(content, path, 1)), path).toBe('a tile does not match the entries');
    }
  });
});
