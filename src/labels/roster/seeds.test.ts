import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OperatorError } from '../../ops/errors.ts';
import { readSeeds } from './seeds.ts';

const a = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-seeds-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function seeds(text: string): Promise<readonly string[]> {
  const path = join(folder, 'seeds.json');
  writeFileSync(path, text);
  return readSeeds(path);
}

test('a seeds file names DIDs; other keys and repetitions mean nothing', async () => {
  const text = JSON.stringify([{ did: a, name: 'x' }, { did: 'did:web:example.com' }, { did: a }]);
  expect(await seeds(text)).toEqual([a, 'did:web:example.com']);
  expect(await seeds('[]')).toEqual([]);
});

test.each([
  ['not JSON', 'is not JSON'],
  ['{"did":"x"}', 'is not a JSON array of {"did"} objects'],
  [`[{"did":"${a}"},"did:plc:b"]`, 'entry 2 of the seeds file'],
  ['[{"did":"did:key:z"}]', 'has no DID as its "did": did:plc: and 24 of'],
])('%s is refused in a line that says why', async (text, why) => {
  const refusal = seeds(text);
  await expect(refusal).rejects.toThrow(OperatorError);
  await expect(refusal).rejects.toThrow(why);
});

test('a file that is not there is named, with the setting that names another', async () => {
  await expect(readSeeds(join(folder, 'none.json'))).rejects.toThrow(
    'none.json: no such file or directory (ENOENT); choose another file with --seeds',
  );
});

test('the list that comes along can be read', async () => {
  const shipped = await readSeeds(new URL('../../../assets/labelers.json', import.meta.url).pathname);
  expect(shipped.length).toBeGreaterThan(100);
});
