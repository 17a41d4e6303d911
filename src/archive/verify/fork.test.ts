import { beforeAll, describe, expect, it } from 'vitest';
import { intactArchive, verifiedAt as now } from '../../../harness/archive/altered/archives.ts';
import { type Content, closedDays, copyOf, signDays, truncate } from '../../../harness/archive/forge.ts';
import { memoryReader } from '../../../harness/archive/memory-files.ts';
import { simulatedKey } from '../../../harness/archive/simulated-archive.ts';
import { OperatorError } from '../../ops/errors.ts';
import { type KeptCheckpoint, verifyArchive } from './verify.ts';

/** Resolves at once: the archive in memory does not change between the passes of a verification. */
const wait = (): Promise<void> => Promise.resolve();
let intact: Content = new Map();
let kept: KeptCheckpoint | null = null;

beforeAll(async () => {
  ({ intact, kept } = await intactArchive());
});

describe('a fork', () => {
  const bundle = 'log/tile/entries/000.p/4';
  const forked = (): Content => {
    const content = copyOf(intact);
    const other = closedDays(content).map((day, index) => (index === 0 ? { ...day, sha256: '0'.repeat(64) } : day));
    signDays(content, other, simulatedKey);
    return content;
  };
  const kindsWithout = async (content: Content, ...paths: string[]) => {
    const read = (path: string) =>
      paths.includes(path) ? Promise.reject(new OperatorError('status 500')) : memoryReader(content).read(path);
    const { findings, keep } = await verifyArchive({ reader: { read }, key: null, kept, now, wait });
    expect(keep).toBeNull();
    return findings.map(({ kind }) => kind);
  };

  it('is reported even if the entries, the index or both cannot be read', async () => {
    expect(await kindsWithout(forked(), bundle)).toEqual(['unreadable', 'fork']);
    expect(await kindsWithout(forked(), 'index.json')).toContain('fork');
    expect(await kindsWithout(forked(), bundle, 'index.json')).toEqual(['unreadable', 'unreadable', 'fork']);
    const removed = forked();
    removed.delete(bundle);
    expect(await kindsWithout(removed)).toEqual(['missing', 'fork']);
  });

  it('is ruled out by the tiles if the entries cannot be read, and unreadable or truncated tiles are reported', async () => {
    expect(await kindsWithout(intact, bundle)).toEqual(['unreadable']);
    expect(await kindsWithout(intact, bundle, 'log/tile/0/000.p/4')).toEqual(['unreadable', 'unreadable']);
    const truncated = copyOf(intact);
    truncate(truncated, 'log/tile/0/000.p/4');
    expect(await kindsWithout(truncated, bundle)).toEqual(['unreadable', 'log']);
  });
});
