import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { assetFile, assetMadeOf } from './asset-file.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-asset-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const words = (count: number): string => Array.from({ length: count }, (_, at) => `word ${(at * 7919) % 977}`).join();

it('an asset file returns smaller bytes with the same validator and content once a thread has encoded them', async () => {
  const path = join(folder, 'a.css');
  writeFileSync(path, words(2_000));
  const file = assetFile(path);
  const first = file.bytes('br');
  await expect.poll(() => file.bytes('br') !== first).toBe(true);
  const second = file.bytes('br');
  expect(second?.bytes.length).toBeLessThan(first?.bytes.length ?? 0);
  expect(second?.etag).toBe(first?.etag);
  expect(String(brotliDecompressSync(second?.bytes ?? Buffer.alloc(0)))).toBe(words(2_000));
});

it('an asset file does not return bytes of its earlier content if it changes while a thread encodes them', async () => {
  const path = join(folder, 'a.css');
  writeFileSync(path, words(2_000));
  const file = assetFile(path);
  file.bytes('br');
  writeFileSync(path, words(1_000));
  const first = file.bytes('br');
  await expect.poll(() => file.bytes('br') !== first).toBe(true);
  expect(String(brotliDecompressSync(file.bytes('br')?.bytes ?? Buffer.alloc(0)))).toBe(words(1_000));
});

it('an asset file with a strong validator keeps its first Brotli bytes', async () => {
  const path = join(folder, 'a.html');
  const weak = join(folder, 'b.html');
  for (const name of [path, weak]) writeFileSync(name, words(2_000));
  const file = assetMadeOf([path], ([bytes = Buffer.alloc(0)]) => bytes);
  const first = file.bytes('br');
  const other = assetFile(weak);
  const promptly = other.bytes('br');
  await expect.poll(() => other.bytes('br') !== promptly).toBe(true);
  expect(file.bytes('br')).toBe(first);
});
