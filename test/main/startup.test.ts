import { expect, it } from 'vitest';
import { folderInTest } from '../../harness/process/folder.ts';
import { runProgram, startProgramInTest } from '../../harness/process/program-in-test.ts';

/** A module that prints the modules of Node.js that a process has loaded, when the process exits. */
const report = "process.on('exit', () => console.error(process.moduleLoadList.join('\\n')))";
const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(report)}` };

it("a server with metrics does not load Node's own HTTP client, which the program does not use", async () => {
  const args = ['facts', '--port', '0', '--metrics-port', '0', '--artifacts', folderInTest()];
  const { listening, stop, stderr } = startProgramInTest(args, { env });
  await listening();
  expect(await stop()).toBe(0);
  expect(stderr).toContain('NativeModule http');
  expect(stderr.filter((module) => module.includes('undici'))).toEqual([]);
});

it('a command that needs no network loads neither HTTP nor TLS nor compression', async () => {
  const { code, stderr } = await runProgram(['help'], { env });
  expect(code).toBe(0);
  expect(stderr).toContain('NativeModule fs');
  const slow = ['http', 'https', 'tls', 'zlib', 'internal/deps/undici/undici'].map((name) => `NativeModule ${name}`);
  expect(stderr.filter((module) => slow.includes(module))).toEqual([]);
});
