import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { countsOf, subscribe } from '../../harness/sim/consumer.ts';

const program = fileURLToPath(new URL('../../src/main/almanac.ts', import.meta.url));

function sim(...flags: string[]) {
  return spawn(process.execPath, [program, 'sim', '--log-level', 'silent', ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

it('almanac sim announces its addresses, serves, and exits with 0 on SIGTERM', async () => {
  const child = sim('--seed', '3', '--rate', '500', '--history-hours', '1');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { jetstream, ...rest } = JSON.parse(line) as { jetstream: string };
  expect(jetstream).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/subscribe$/);
  expect(rest).toEqual({ plc: null, relay: null, labelers: [], seeds: null });
  const consumer = await subscribe(jetstream, { cursor: String((Date.now() - 60_000) * 1000) });
  await consumer.received(10_000);
  expect(countsOf(consumer.frames)).toMatchObject({ notJson: 0, noTime: 0 });
  // Registered early: the process may exit before the closed connection is noticed.
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await consumer.closed).toBe(1001);
  const [code] = await exited;
  expect(code).toBe(0);
});

it('almanac sim --labelers writes a seeds file, which it removes at the end', async () => {
  const child = sim('--labelers', '5', '--label-rate', '3', '--history-hours', '1');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { plc, relay, labelers, seeds } = JSON.parse(line) as {
    plc: string;
    relay: string;
    labelers: { did: string; endpoint: string }[];
    seeds: string;
  };
  const seeded = JSON.parse(await readFile(seeds, 'utf8')) as { did: string }[];
  expect(labelers.map(({ did }) => did)).toEqual(expect.arrayContaining(seeded.map(({ did }) => did)));
  expect(seeded.length).toBeGreaterThanOrEqual(3);
  const [first] = labelers;
  const document = (await (await fetch(`${plc}/${first?.did}`)).json()) as { service: unknown[] };
  expect(document.service).toContainEqual({
    id: '#atproto_labeler',
    type: 'AtprotoLabeler',
    serviceEndpoint: first?.endpoint,
  });
  expect((await fetch(`${relay}/xrpc/com.atproto.sync.listReposByCollection`)).status).toBe(400);
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  expect([code, existsSync(seeds)]).toEqual([0, false]);
});

it('almanac sim reports in one line which file it cannot read', async () => {
  const child = sim('--replay', '/nowhere/frames.jsonl');
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const [code] = await once(child, 'close');
  expect([code, said]).toEqual([
    1,
    'almanac: cannot read the recorded frames /nowhere/frames.jsonl: no such file or directory (ENOENT); choose another file with --replay\n',
  ]);
});
