import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { account, filledStore, startAccount } from '../../harness/process/export-station.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { runProgram } from '../../harness/process/program-in-test.ts';

it.runIf(process.platform === 'linux')('an export is complete although its messages cannot be written', async () => {
  const { url: store, rows } = await filledStore(40);
  const { url } = await startAccount(store, [], folderInTest());
  const folder = folderInTest();
  const script = join(folder, 'without-messages');
  const bin = fileURLToPath(new URL('../../bin/almanac.mjs', import.meta.url));
  writeFileSync(script, `exec '${process.execPath}' '${bin}' "$@" 2>/dev/full\n`);
  const file = join(folder, 'rows.json');
  const command = ['export', account, '--from', url, '--days', '7', '--out', file];
  const { code } = await runProgram(command, { runtime: '/bin/sh', bin: script });
  expect(code).toBe(0);
  expect((JSON.parse(readFileSync(file, 'utf8')) as { rows: unknown[] }).rows).toHaveLength(rows.length);
});
