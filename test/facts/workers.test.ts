import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { artifactFolderInTest } from '../../harness/artifacts/artifacts.ts';
import { freePort } from '../../harness/net/ports.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { alive } from '../../harness/process/process-tree.ts';
import type { Program } from '../../harness/process/program.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { until } from '../../harness/process/until.ts';

/** Tests how `almanac facts --workers` replaces a worker, also if the system refuses to start one. */

/** Starts two workers. Each of the processes first runs the code of a module. */
function startWorkers(port: number, module: string): Program {
  const args = ['facts', '--port', String(port), '--artifacts', artifactFolderInTest(), '--workers', '2'];
  return startProgramInTest(args, {
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(module)}` },
  });
}

/** Returns the process ids of the workers that have listened, in this order. */
function listened(program: Program): number[] {
  return program.log().flatMap(({ msg, pid }) => (msg === 'listening' ? [Number(pid)] : []));
}

/** Resolves once the primary process has logged a number of reports, or has exited. */
async function reported(program: Program, count: number): Promise<void> {
  await until(`${count} reports`, () => reports(program).length >= count || program.child.exitCode !== null);
}

/** Returns what the primary process logged about its workers. */
function reports(program: Program): unknown[] {
  return program.log().flatMap(({ level, msg, worker, code, signal, error, inMs, pid }) => {
    return pid === program.child.pid ? [{ level, msg, worker, code, signal, error, inMs }] : [];
  });
}

const exited = {
  level: 'error',
  msg: 'a worker exited and is being replaced',
  worker: 1,
  code: null,
  signal: 'SIGKILL',
};
const retried = { level: 'error', msg: 'a worker could not start and will be retried', error: 'Error' };

/** Creates a script that runs the node binary, which the test can remove. */
function ownBinary(): { readonly path: string; install(): void } {
  const path = join(folderInTest(), 'node');
  const install = (): void => writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 });
  install();
  return { path, install };
}

it('a worker that the system refuses to start is tried again later, while the other worker continues', async () => {
  const binary = ownBinary();
  const program = startWorkers(0, `process.execPath = ${JSON.stringify(binary.path)}`);
  const { url } = await program.listening();
  await until('the log of both workers', () => listened(program).length === 2);
  rmSync(binary.path);
  process.kill(Number(listened(program)[0]), 'SIGKILL');
  await reported(program, 3);
  // A further report may follow before this comparison.
  expect([program.child.exitCode, ...reports(program).slice(0, 3)]).toEqual([
    null,
    exited,
    { ...retried, inMs: 1_000 },
    { ...retried, inMs: 2_000 },
  ]);
  expect((await fetch(`${url}/health`)).status).toBe(200);
  binary.install();
  await until('the new worker', () => listened(program).length === 3);
  expect(await program.stop()).toBe(0);
});

it('a stop while a worker cannot start ends the other worker, and exits with 0', async () => {
  const binary = ownBinary();
  const program = startWorkers(0, `process.execPath = ${JSON.stringify(binary.path)}`);
  await program.listening();
  await until('the log of both workers', () => listened(program).length === 2);
  rmSync(binary.path);
  process.kill(Number(listened(program)[0]), 'SIGKILL');
  await reported(program, 2);
  expect(await program.stop()).toBe(0);
  expect(listened(program).filter(alive)).toEqual([]);
});

it('the exit of a replacement that has not listened is reported with its cause, and another one is started', async () => {
  const program = startWorkers(
    0,
    `import cluster from 'node:cluster';
    if (cluster.worker?.id === 3) process.kill(process.pid, 'SIGKILL');`,
  );
  await program.listening();
  await until('the log of both workers', () => listened(program).length === 2);
  process.kill(Number(listened(program)[0]), 'SIGKILL');
  await until('the new worker', () => listened(program).length === 3);
  const msg = 'a worker could not start and will be retried';
  const killed = { level: 'error', msg, worker: 3, code: null, signal: 'SIGKILL', inMs: 1_000 };
  expect(reports(program)).toEqual([exited, killed]);
  expect(await program.stop()).toBe(0);
});

it('a worker that exits while another one is starting is replaced', async () => {
  const gate = join(folderInTest(), 'gate');
  const port = await freePort();
  // The second worker starts once the file exists.
  const program = startWorkers(
    port,
    `import cluster from 'node:cluster';
    import { existsSync } from 'node:fs';
    while (cluster.worker?.id === 2 && !existsSync('${gate}')) await new Promise((next) => setTimeout(next, 10));`,
  );
  await until('the first worker', () => listened(program).length === 1);
  process.kill(Number(listened(program)[0]), 'SIGKILL');
  await reported(program, 1);
  await until('the new worker', () => listened(program).length === 2);
  expect([existsSync(gate), program.stdout, reports(program)]).toEqual([false, [], [exited]]);
  writeFileSync(gate, '');
  await program.listening();
  await until('the second worker', () => listened(program).length === 3);
  expect(await program.stop()).toBe(0);
});
