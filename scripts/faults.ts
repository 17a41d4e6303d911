/**
 * `npm run test:faults -- [OPERATION ...]`: makes every system call of each operation fail, once with every error that
 * the call can return, and permanently for a full disk, an exceeded quota and exhausted descriptors. Prints a table.
 */
import { fileOperations } from '../harness/faults/file-operations.ts';
import { runOperation } from '../harness/faults/run.ts';
import { compileShim } from '../harness/faults/shim.ts';
import { storeOperations } from '../harness/faults/store-operations.ts';
import { temporaryFolder } from '../harness/process/at-exit.ts';

const asked = process.argv.slice(2);
const names = [...fileOperations, ...storeOperations].map(({ name }) => name);
const unknown = asked.find((name) => !names.includes(name));
if (unknown !== undefined) throw new Error(`unknown operation ${unknown}: choose from ${names.join(', ')}`);

const { folder, remove } = temporaryFolder('shim');
try {
  const shim = compileShim(folder);
  console.log('| operation | calls | runs | reported | completed anyway | broken |');
  console.log('| --------- | ----: | ---: | -------: | ---------------------: | -----: |');
  for (const name of names.filter((one) => asked.length === 0 || asked.includes(one))) {
    const outcomes = await runOperation(name, shim, ['all'], (outcome) => {
      if (outcome.broken !== null) console.error(name, JSON.stringify(outcome));
    });
    const calls = new Set(outcomes.map(({ nth }) => nth)).size;
    const reported = outcomes.filter((outcome) => outcome.reported !== null).length;
    const broken = outcomes.filter((outcome) => outcome.broken !== null).length;
    const cells = [name, calls, outcomes.length, reported, outcomes.length - reported, broken];
    console.log(`| ${cells.join(' | ')} |`);
    if (broken > 0) process.exitCode = 1;
  }
} finally {
  remove();
}
