import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { alive } from '../../harness/process/process-tree.ts';
import { type SupervisedPart, supervise } from '../../src/main/up/supervisor.ts';
import { OperatorError } from '../../src/ops/errors.ts';
import { type Log, type LogFields, silentLog } from '../../src/ops/log.ts';

/** Parts whose process prints its id and runs until it is stopped. */
const parts: readonly SupervisedPart[] = ['facts', 'weather'].map((name) => ({ name, kind: 'server', args: [] }));

/** A signal that never aborts. */
const { signal: asked } = new AbortController();

/** Replaces the node binary by a script, which the test can remove. Returns its path. */
function ownBinary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-supervisor-'));
  const path = join(folder, 'node');
  const original = process.execPath;
  process.execPath = path;
  onTestFinished(() => {
    process.execPath = original;
    rmSync(folder, { recursive: true, force: true });
  });
  install(path);
  return path;
}

function install(path: string): void {
  writeFileSync(path, '#!/bin/sh\necho $$\nexec sleep 1000\n');
  chmodSync(path, 0o755);
}

/** Returns a log that keeps its lines of one part, without stacks. */
function keptLog(part: string): { readonly log: Log; readonly lines: LogFields[] } {
  const lines: LogFields[] = [];
  const keep = (message: string, { stack: _, ...fields }: LogFields = {}): void => {
    if (fields.part === part) lines.push({ message, ...fields });
  };
  return { log: { ...silentLog, error: keep, info: keep }, lines };
}

const exited = { message: 'a component exited and is being restarted', part: 'weather', code: null, signal: 'SIGKILL' };
const retried = { message: 'a component could not start and will be retried', part: 'weather', error: 'OperatorError' };
const again = { message: 'a component is running again', part: 'weather' };

test.each([
  ['the node binary is missing', 'no such file or directory (ENOENT)', (path: string) => path],
  [
    'the system refuses a process at once',
    'part of the path is not a directory (ENOTDIR)',
    (path: string) => `${path}/x`,
  ],
])('if %s, a part is started again later, and the other part continues', async (_, why, missing) => {
  const binary = ownBinary();
  const { log, lines } = keptLog('weather');
  const running = await supervise(parts, { log, stderr: 'inherit', onMessage: () => undefined, asked });
  onTestFinished(() => running.stop());
  if (missing(binary) === binary) rmSync(binary);
  process.execPath = missing(binary);
  process.kill(Number(running.ready.get('weather')), 'SIGKILL');
  await vi.waitUntil(() => lines.length === 3, { timeout: 60_000 });
  install(binary);
  process.execPath = binary;
  await vi.waitUntil(() => lines.at(-1)?.message === again.message, { timeout: 60_000 });
  const reason = { why: `almanac weather could not be started: ${why}` };
  expect(lines.slice(0, 3)).toEqual([
    { ...exited, inMs: 500 },
    { ...retried, ...reason, inMs: 1_000 },
    { ...retried, ...reason, inMs: 2_000 },
  ]);
  expect(running.states().map(({ name, state }) => [name, state])).toEqual([
    ['facts', 'running'],
    ['weather', 'running'],
  ]);
});

test.each(['http://127.0.0.1:43215', 'http://[::1]:43215', 'http://[2001:db8::7]:43215/at:80/here'])(
  'a part that listens at %s has the same port after a restart',
  async (url) => {
    const binary = ownBinary();
    const calls = `${binary}.calls`;
    const announce = `echo "$$ $*" >> '${calls}'\necho 'almanac facts listening on ${url}'`;
    writeFileSync(binary, `#!/bin/sh\n${announce}\nexec sleep 1000\n`);
    const part: SupervisedPart = { name: 'facts', kind: 'server', args: ['--port', '0'] };
    const { log, lines } = keptLog('facts');
    const running = await supervise([part], { log, stderr: 'inherit', onMessage: () => undefined, asked });
    onTestFinished(() => running.stop());
    process.kill(Number.parseInt(readFileSync(calls, 'utf8'), 10), 'SIGKILL');
    await vi.waitUntil(() => lines.at(-1)?.message === again.message, { timeout: 60_000 });
    const ports = readFileSync(calls, 'utf8').match(/(?<=--port )\S+/g);
    expect([running.urls.get('facts'), ports]).toEqual([url, ['0', '43215']]);
  },
);

test('if a part cannot be started at first, the observatory reports the reason and stops the other parts', async () => {
  const binary = ownBinary();
  rmSync(binary);
  const { log } = keptLog('weather');
  await expect(supervise(parts, { log, stderr: 'inherit', onMessage: () => undefined, asked })).rejects.toEqual(
    new OperatorError('almanac facts could not be started: no such file or directory (ENOENT)'),
  );
});

test.each([
  ['before the start prevents the start of every part', false, []],
  ['during the start stops the parts that have not printed a line, and starts none after them', true, ['account']],
])('an abort %s', async (_, isStarted, names) => {
  const binary = ownBinary();
  const calls = `${binary}.calls`;
  writeFileSync(calls, '');
  writeFileSync(binary, `#!/bin/sh\necho "$2 $$" >> '${calls}'\nexec sleep 100\n`);
  const started = (): string[][] =>
    [...readFileSync(calls, 'utf8').matchAll(/(\w+) (\d+)\n/g)].map(([, ...one]) => one);
  const silent: readonly SupervisedPart[] = [
    { name: 'facts', kind: 'server', args: [], after: { part: 'account', urlFlag: '--account-url' } },
    { name: 'account', kind: 'server', args: [] },
  ];
  const stopping = new AbortController();
  if (!isStarted) stopping.abort();
  const options = { log: silentLog, stderr: 'inherit', onMessage: () => undefined, asked: stopping.signal } as const;
  const outcome = supervise(silent, options).catch((error: unknown) => error);
  if (isStarted) await vi.waitUntil(() => started().length > 0, { timeout: 60_000 });
  stopping.abort();
  const why = isStarted ? 'could not start' : 'was not started';
  expect(await outcome).toEqual(new OperatorError(`almanac account ${why}`));
  expect(started().map(([name]) => name)).toEqual(names);
  expect(started().filter(([, pid]) => alive(Number(pid)))).toEqual([]);
});
