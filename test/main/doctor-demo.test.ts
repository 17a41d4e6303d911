import { expect, it } from 'vitest';
import { folderInTest } from '../../harness/process/folder.ts';
import { runProgram } from '../../harness/process/program-in-test.ts';
import { takeDemoFolder } from '../../src/main/demo-folder.ts';

it('almanac doctor contacts no upstream if the data directory belongs to a demo, and reports this', async () => {
  const data = folderInTest();
  (await takeDemoFolder(data)).release();
  // For another directory, the doctor would report that each of these hosts refuses connections.
  const closed = '127.0.0.1:1';
  const hosts = ['--jetstream', `ws://${closed}`, '--plc', `http://${closed}`, '--relay', `http://${closed}`];
  const { stdout } = await runProgram(['doctor', '--data', data, '--allow-loopback', ...hosts]);
  const upstreams = /^\w+ +(?:upstreams|jetstream|relay|directory|network|clock) /;
  expect(stdout.filter((line) => upstreams.test(line))).toEqual([
    'ok    upstreams        not contacted, because the data directory contains the simulated data of a demo',
  ]);
});
