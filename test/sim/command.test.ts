import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { countsOf, subscribe } from './consumer.ts';

const program = fileURLToPath(new URL('../../src/main/almanac.ts', import.meta.url));

function sim(...flags: string[]) {
  return spawn(process.execPath, [program, 'sim', '--log-level', 'silent', ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

it('almanac sim says where it listens, serves, and stops at SIGTERM with 0', async () => {
  const child = sim('--seed', '3', '--rate', '500', '--history-hours', '1');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { jetstream, ...rest } = JSON.parse(line) as { jetstream: string };
  expect(jetstream).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/subscribe$/);
  expect(rest).toEqual({ plc: null, relay: null, labelers: [], seeds: null });
  const consumer = await subscribe(jetstream, { cursor: String((Date.now() - 60_000) * 1000) });
  await consumer.received(10_000);
  expect(countsOf(consumer.frames)).toMatchObject({ notJson: 0, noTime: 0 });
  child.kill('SIGTERM');
  expect(await consumer.closed).toBe(1001);
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
});

it('almanac sim says in one line which file it cannot read', async () => {
  const child = sim('--replay', '/nowhere/frames.jsonl');
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const [code] = await once(child, 'close');
  expect([code, said]).toEqual([
    1,
    'almanac: cannot read the recorded frames /nowhere/frames.jsonl (ENOENT); name another file with --replay\n',
  ]);
});
