import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fileOperations, type Operation } from '../../harness/faults/file-operations.ts';
import { FaultRun, type Outcome } from '../../harness/faults/run.ts';
import { noFailure, SmallDisk } from '../../harness/faults/small-disk.ts';
import { storeOperations } from '../../harness/faults/store-operations.ts';

const folder = mkdtempSync(join(tmpdir(), 'almanac-full-disk-'));
const disk = SmallDisk.mount(join(folder, 'disk'));
afterAll(() => {
  disk?.unmount();
  rmSync(folder, { recursive: true });
});

/** Numbers of free disk blocks at the start of a run: first every small number, then numbers that increase faster. */
const freeBlocks = [
  ...Array.from({ length: 16 }, (_, n) => n),
  ...Array.from({ length: 14 }, (_, n) => Math.round(16 * 1.5 ** n)),
];
/** Names of the operations that only rename and remove files, which requires no space. */
const takesNoSpace = new Set(['release', 'new-epoch']);

describe.skipIf(disk === null).each([...fileOperations, ...storeOperations].map((one) => [one.name, one] as const))(
  'the operation %s',
  (name, operation) => {
    it('leaves the old or the new state on a disk that is really full, and completes once there is space', async () => {
      const outcomes = await outcomesOn(operation, (mounted) => mounted.full, freeBlocks);
      expect(outcomes.filter(({ broken }) => broken !== null)).toEqual([]);
      // Require that the disk was full in the first run, and had enough space in the last run.
      const [first, last] = [outcomes[0], outcomes.at(-1)].map((outcome) => outcome?.reported !== null);
      expect({ first, last }).toEqual({ first: !takesNoSpace.has(name), last: false });
    });

    it('reports a file system that is really read-only, and does not change its files', async () => {
      const [outcome] = await outcomesOn(operation, (mounted) => mounted.readOnly, [0]);
      expect(outcome).toMatchObject({ broken: null, reported: expect.any(String) });
    });
  },
);

async function outcomesOn(
  operation: Operation,
  injection: (mounted: SmallDisk) => ConstructorParameters<typeof FaultRun>[3],
  blocks: readonly number[],
): Promise<Outcome[]> {
  if (disk === null) throw new Error('no disk');
  const template = mkdtempSync(join(folder, 'template-'));
  const run = new FaultRun(operation, join(template, 'template'), join(disk.path, 'place'), injection(disk));
  await run.learn(noFailure);
  const outcomes: Outcome[] = [];
  for (const free of blocks) {
    const outcome = await run.fail(free + 1, noFailure, false);
    if (outcome) outcomes.push(outcome);
  }
  rmSync(template, { recursive: true });
  return outcomes;
}
