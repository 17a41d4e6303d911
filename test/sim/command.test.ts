import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { countsOf, subscribe } from '../../harness/sim/consumer.ts';

function sim(...flags: string[]) {
  return startProgramInTest(['sim', '--log-level', 'silent', ...flags]);
}

it('almanac sim announces its addresses, serves, and exits with code 0 on SIGTERM', async () => {
  const child = sim('--seed', '3', '--rate', '500', '--history-hours', '1');
  const line = await child.line(/^\{/);
  const { jetstream, ...rest } = JSON.parse(line) as { jetstream: string };
  expect(jetstream).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/subscribe$/);
  expect(rest).toEqual({ plc: null, relay: null, labelers: [], seeds: null });
  const consumer = await subscribe(jetstream, { cursor: String((Date.now() - 60_000) * 1000) });
  await consumer.received(10_000);
  expect(countsOf(consumer.frames)).toMatchObject({ notJson: 0, noTime: 0 });
  const ended = child.stop();
  expect(await consumer.closed).toBe(1001);
  expect(await ended).toBe(0);
});

it('almanac sim --labelers writes a seeds file, and removes it when it ends', async () => {
  const child = sim('--labelers', '5', '--label-rate', '3', '--history-hours', '1');
  const line = await child.line(/^\{/);
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
  expect([await child.stop(), existsSync(seeds)]).toEqual([0, false]);
});

it('almanac sim reports in one line which file it cannot read', async () => {
  const { ended, stderr } = sim('--replay', '/nowhere/frames.jsonl');
  expect([await ended(), stderr]).toEqual([
    1,
    [
      'almanac: cannot read the recorded frames /nowhere/frames.jsonl: no such file or directory (ENOENT); choose another file with --replay',
    ],
  ]);
});
