import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type LabelsProcess, spawnLabels } from '../../harness/labels/labels-process.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { root } from '../../harness/process/imports.ts';
import { runProgram } from '../../harness/process/program-in-test.ts';
import { until } from '../../harness/process/until.ts';
import { countRows, reading } from '../../harness/store/scan.ts';
import { createSim } from '../../sim/index.ts';
import { storeProcesses } from '../../src/store/open.ts';

/** Tests the documented backup of a label store while an instrument and its standby run. */

/** Returns the commands of the backup, each as words. */
function documentedCommands(): string[][] {
  const text = readFileSync(join(root, 'docs/operations.md'), 'utf8').split('\n**Labels**')[1] ?? '';
  const [block = ''] = /(?:\n {6}\S.*)+/.exec(text) ?? [];
  return block.split('\n').flatMap((line) => (line === '' ? [] : [line.replace(/ #.*/, '').trim().split(/\s+/)]));
}

/** Copies a directory as `rsync --delete` does: a file that vanishes meanwhile is not an error. */
function copyFolder(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const copy = path.replace(from, to);
    mkdirSync(dirname(copy), { recursive: true });
    try {
      copyFileSync(path, copy);
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOENT') throw error;
    }
  }
}

/** Returns the number of rows of each labeler. */
function rowsIn(url: string): Promise<unknown> {
  return reading(url, async (store) => {
    const { floor: start, end } = await store.frontier();
    return store.countsByLabeler({ start, end });
  });
}

test('the documented backup copies a store that no instrument writes, although a standby runs, and its restore has every row', async () => {
  const sim = createSim({ seed: 2, labelers: 2, labelRate: 20, rate: 1, historyHours: 0 });
  onTestFinished(() => sim.stop());
  const { seeds, plc, jetstream } = await sim.start();
  const folder = folderInTest();
  const [store, backup] = [join(folder, 'store'), join(folder, 'backup')];
  const url = `sqlite:${store}`;
  const args = [
    ...['--store', url, '--artifacts', join(folder, 'artifacts'), '--plc', plc ?? '', '--relay', plc ?? ''],
    ...['--jetstream', jetstream, '--seeds', seeds ?? '', '--allow-loopback', '--min-free-megabytes', '0', '--standby'],
  ];
  const units = new Map<string, LabelsProcess>();
  const start = (unit: string): void => {
    const labels = spawnLabels(args);
    units.set(unit, labels);
    onTestFinished(() => void labels.process.kill('SIGKILL'));
  };
  const areBothReady = async (): Promise<boolean> => {
    const { writer, standby } = await storeProcesses(url);
    return writer?.state === 'ready' && standby?.state === 'ready';
  };
  start('almanac-labels');
  await until('the instrument writes', async () => (await storeProcesses(url)).writer?.state === 'ready');
  start('almanac-labels-standby');
  await until('the standby is ready', areBothReady);
  await until('labels are stored', async () => (await reading(url, (one) => countRows(one))) > 0);

  const copies: unknown[] = [];
  let rows: unknown;
  for (const [command, verb, unit = ''] of documentedCommands()) {
    if (command === 'rsync') {
      copies.push(await storeProcesses(url));
      copyFolder(store, backup);
      rows = await rowsIn(url);
    } else if (verb === 'stop') {
      const stopped = units.get(unit);
      stopped?.process.kill('SIGTERM');
      expect([unit, (await stopped?.ended)?.code]).toEqual([unit, 0]);
    } else start(unit);
  }
  expect(copies).toEqual([expect.anything(), { writer: null, standby: null }]);
  const restored = `sqlite:${join(folder, 'restored')}`;
  const { code, stderr } = await runProgram(['labels', 'restore', backup, '--store', restored]);
  expect([code, stderr.filter((line) => !line.startsWith('{'))]).toEqual([0, []]);
  expect(await rowsIn(restored)).toEqual(rows);
  await until('both instruments run again', areBothReady);
});
