import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { youngArtifact } from '../../harness/artifacts/artifacts.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { runProgram, startProgramInTest } from '../../harness/process/program-in-test.ts';
import { artifactNames } from '../../src/artifact/write.ts';
import { takeDemoFolder } from '../../src/main/demo-folder.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { micros } from '../../src/store/time.ts';

/** Tests that the doctor finds both services below a base path. */

it('with a base path, with or without a trailing slash, the doctor finds both services, also if the account view has none', async () => {
  const data = folderInTest();
  (await takeDemoFolder(data)).release();
  const [artifacts, store] = [join(data, 'artifacts'), `sqlite:${join(data, 'labels')}`];
  mkdirSync(artifacts);
  writeFileSync(join(artifacts, artifactNames.labels), JSON.stringify(youngArtifact('recent')));
  await openSqliteWriter({ folder: join(data, 'labels'), at: micros(Date.now() * 1000) }).close();
  const portOf = async (command: 'facts' | 'account', ...args: readonly string[]): Promise<number> =>
    (await startProgramInTest([command, '--port', '0', ...args]).listening()).port;
  const facts = await portOf('facts', '--artifacts', artifacts, '--base-path', '/x');
  const account = await portOf('account', '--store', store, '--data', data, '--base-path', '/x');
  const plain = await portOf('account', '--store', store, '--data', data);
  const portsAt = async (basePath: string, accountPort: number): Promise<string[]> => {
    const ports = ['--port', String(facts), '--account-port', String(accountPort)];
    const { stdout } = await runProgram(['doctor', '--data', data, ...ports, '--base-path', basePath]);
    return stdout.filter((line) => /^\w+ +(?:facts|account) port /.test(line));
  };
  const found = (accountPort: number): string[] => [
    `ok    facts port       127.0.0.1:${facts} is used by the Almanac of ${artifacts}`,
    `ok    account port     127.0.0.1:${accountPort} is used by the Almanac of ${store}`,
  ];
  expect(await portsAt('/x', account)).toEqual(found(account));
  expect(await portsAt('/x/', account)).toEqual(found(account));
  expect(await portsAt('/x', plain)).toEqual(found(plain));
});
