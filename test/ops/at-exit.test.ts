import { existsSync, rmSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { startCommand } from '../../harness/process/program.ts';

const atExit = new URL('../../harness/process/at-exit.ts', import.meta.url).href;

/** A run that receives a second SIGINT, as npm repeats it, before it has removed its directory. */
const run = `
  import { atExit, temporaryFolder } from '${atExit}';
  console.log(temporaryFolder('repeated').folder);
  atExit(() => process.kill(process.pid, 'SIGINT'));
  setInterval(() => process.kill(process.pid, 'SIGINT'), 1);`;

test('a run of the harness removes its temporary directory even if the signal that ends it is repeated', async () => {
  const command = startCommand(process.execPath, ['--input-type=module', '--eval', run], { env: {} });
  onTestFinished(() => command.kill());
  const ended = await command.ended();
  const [folder = ''] = command.stdout;
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  expect([/almanac-repeated-/.test(folder), ended, existsSync(folder)]).toEqual([true, 130, false]);
});
