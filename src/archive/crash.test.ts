import { beforeAll, describe, expect, it } from 'vitest';
import { diskFull, type MemoryArchive, memoryArchive, type WriteFault } from '../../harness/archive/memory-files.ts';
import { simulateArchive } from '../../harness/archive/simulated-archive.ts';

/** Hours around the closing of a day; the write operations of these hours are interrupted one at a time. */
const [quietHours, hours] = [71, 3];
const faults = ['nothing', 'torn', 'complete'] as const;
let quiet: MemoryArchive = memoryArchive();

beforeAll(async () => {
  const archive = simulateArchive({ memory: quiet });
  await archive.run(quietHours);
  quiet = archive.copy();
});

/** Returns the archive of the same hours without an interruption. */
async function undisturbed() {
  const archive = simulateArchive({ memory: quiet.copy() });
  await archive.run(hours, quietHours);
  return { archive, operations: archive.writes() };
}

/** Runs the hours with one interrupted operation. */
async function interrupted(operation: number, fault: WriteFault) {
  const archive = simulateArchive({ memory: quiet.copy() });
  archive.failAt(operation, fault);
  for (let hour = quietHours; hour < quietHours + hours; hour++) {
    try {
      await archive.run(1, hour);
    } catch (error) {
      if (error !== fault.error) throw error;
      archive.restart();
    }
    // The next call within the hour, by a new process after a kill.
    await archive.run(1, hour);
  }
  return archive;
}

/** Returns the archived lines, which must not depend on interruptions, by file. */
function linesOf(content: ReadonlyMap<string, Buffer>): Record<string, string> {
  const files = [...content].filter(([path]) => path.endsWith('.jsonl'));
  return Object.fromEntries(files.map(([path, bytes]) => [path, bytes.toString('utf8')]));
}

describe('an archiver that is interrupted once, at every write operation in turn,', () => {
  it.each(faults)(
    'loses no line, repeats none and keeps its log consistent when a kill writes %s',
    async (effect) => {
      const { archive, operations } = await undisturbed();
      const expected = linesOf(archive.content);
      expect(operations).toBeGreaterThan(20);
      for (let operation = 1; operation <= operations; operation++) {
        const found = await interrupted(operation, { effect, error: new Error('killed') });
        expect(linesOf(found.content), `operation ${operation}`).toEqual(expected);
        expect(await found.verify(), `operation ${operation}`).toMatchObject({ findings: [], closedDays: 1 });
      }
    },
    300_000,
  );

  it('continues after a full disk, logs it once, and archives the hour as soon as there is space', async () => {
    const { archive, operations } = await undisturbed();
    const expected = linesOf(archive.content);
    for (let operation = 1; operation <= operations; operation++) {
      const found = await interrupted(operation, { effect: 'nothing', error: diskFull() });
      expect(linesOf(found.content), `operation ${operation}`).toEqual(expected);
      expect(await found.verify(), `operation ${operation}`).toMatchObject({ findings: [], closedDays: 1 });
      expect(found.messages.map(({ message }) => message)).toEqual([
        'the archive cannot be written; trying again',
        'the archive can be written again',
      ]);
    }
  });
});
