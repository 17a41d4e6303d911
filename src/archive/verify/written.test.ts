import { beforeAll, describe, expect, it } from 'vitest';
import {
  closingAt,
  closingHour,
  first,
  intactArchive,
  verifiedAt as now,
} from '../../../harness/archive/altered/archives.ts';
import { bytesOf, type Content, copyOf, flip } from '../../../harness/archive/forge.ts';
import { memoryReader } from '../../../harness/archive/memory-files.ts';
import { simulateArchive } from '../../../harness/archive/simulated-archive.ts';
import { verifyArchive } from './verify.ts';

/** An archive may be written while it is verified, and its archiver may have been killed at any write. */

/** Resolves at once: the archive in memory does not change between the passes of a verification. */
const wait = (): Promise<void> => Promise.resolve();
let intact: Content = new Map();

beforeAll(async () => {
  ({ intact } = await intactArchive());
});

/**
 * Returns the archive before each write of the hour in which the first day is closed, which is the archive that a kill at
 * this write leaves.
 */
async function killedAtEachWrite(): Promise<Content[]> {
  const { before } = await closingHour();
  const memory = before.copy();
  const { content, files, kept } = memory;
  const states: Content[] = [];
  const noted = <A extends unknown[], R>(write: (...args: A) => R): ((...args: A) => R) => {
    return (...args) => {
      states.push(copyOf(content));
      return write(...args);
    };
  };
  const noting = {
    ...memory,
    files: { ...files, append: noted(files.append), replace: noted(files.replace), remove: noted(files.remove) },
    kept: { ...kept, write: noted(kept.write) },
  };
  await simulateArchive({ memory: noting }).run(1, 72);
  return [...states, content];
}

describe('a verification of an archive that is being written', () => {
  it('has no finding, no matter which of its reads coincides with the change to the next hour', async () => {
    const { before, after } = await closingHour();
    let reads = 0;
    const count = (path: string) => {
      reads += 1;
      return memoryReader(after).read(path);
    };
    await verifyArchive({ reader: { read: count }, key: null, kept: null, now: closingAt, wait });
    expect(reads).toBeGreaterThan(30);
    for (let change = 0; change <= reads; change++) {
      let at = 0;
      const read = (path: string) => memoryReader(at++ < change ? before.content : after).read(path);
      const { findings } = await verifyArchive({ reader: { read }, key: null, kept: null, now: closingAt, wait });
      expect(findings, `change at read ${change}`).toEqual([]);
    }
  });

  it('has no finding in a directory whose archiver was killed at any of its writes', async () => {
    const states = await killedAtEachWrite();
    expect(states.length).toBeGreaterThan(15);
    for (const [at, content] of states.entries()) {
      const reader = memoryReader(content);
      const { findings } = await verifyArchive({ reader, key: null, kept: null, now: closingAt, wait });
      expect(findings, `kill at write ${at + 1}`).toEqual([]);
    }
  });

  it('repeats a pass with findings once, repeats it again only while the archive changes, and makes at most five passes', async () => {
    let [waits, changes] = [0, 0];
    const content = copyOf(intact);
    flip(content, `days/${first}/day.json`, 20);
    const options = { reader: memoryReader(content), key: null, kept: null, now };
    const waitAndCount = () => {
      waits += 1;
      return Promise.resolve();
    };
    await verifyArchive({ ...options, wait: waitAndCount });
    expect(waits).toBe(2);
    const change = () => {
      changes += 1;
      content.set('index.json', Buffer.concat([bytesOf(content, 'index.json'), Buffer.from(' ')]));
      return Promise.resolve();
    };
    await verifyArchive({ ...options, wait: change });
    expect(changes).toBe(4);
  });
});
