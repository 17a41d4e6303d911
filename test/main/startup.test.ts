import { expect, it } from 'vitest';
import { runProgram } from '../../harness/process/program-in-test.ts';

/** A module that prints the modules of Node.js that a process has loaded, when the process exits. */
const report = "process.on('exit', () => console.error(process.moduleLoadList.join('\\n')))";

it("a start does not load Node's own HTTP client, which the program does not use", async () => {
  const { code, stderr } = await runProgram(['help'], {
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(report)}` },
  });
  expect(code).toBe(0);
  expect(stderr).toContain('NativeModule http');
  expect(stderr.filter((module) => module.includes('undici'))).toEqual([]);
});
