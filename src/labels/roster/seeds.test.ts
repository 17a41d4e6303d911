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

test('a seeds file lists DIDs; other keys and repeated DIDs are ignored', async () => {
  const text = JSON.stringify([{ did: a, name: 'x' }, { did: 'did:web:example.com' }, { did: a }]);
  expect(await seeds(text)).toEqual([a, 'did:web:example.com']);
  expect(await seeds('[]')).toEqual([]);
  expect(await seeds('[{"did":"did:web:Example.com"}]')).toEqual(['did:web:example.com']);
});

test.each([
  ['not JSON', 'is not JSON'],
  ['{"did":"x"}', 'is not a JSON array of {"did"} objects'],
  [`[{"did":"${a}"},"did:plc:b"]`, 'entry 2 in the seeds file'],
  ['[{"did":"did:key:z"}]', 'is not a DID: a DID is did:plc: and 24 of'],
])('a seeds file with the content %s is refused, and the error states the reason', async (text, why) => {
  const refusal = seeds(text);
  await expect(refusal).rejects.toThrow(OperatorError);
  await expect(refusal).rejects.toThrow(why);
});

test('the error for a missing seeds file names the file and the setting', async () => {
  await expect(readSeeds(join(folder, 'none.json'))).rejects.toThrow(
    'none.json: no such file or directory (ENOENT); choose another file with --seeds',
  );
});

test('the shipped seeds file is valid', async () => {
  const shipped = await readSeeds(new URL('../../../assets/labelers.json', import.meta.url).pathname);
  expect(shipped.length).toBeGreaterThan(100);
});
