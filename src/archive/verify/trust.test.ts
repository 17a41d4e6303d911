import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { simulatedKey } from '../../../harness/archive/simulated-archive.ts';
import { folderInTest } from '../../../harness/process/folder.ts';
import { readKept, trustedKey, writeKept } from './trust.ts';

const key = simulatedKey.verifier.text;

describe('the key that an operator states', () => {
  it('is the text form of a public key', () => {
    expect(trustedKey(key)).toEqual(simulatedKey.verifier);
  });

  it('is refused if it is anything else, such as a private key', () => {
    for (const text of ['', 'a key', simulatedKey.text])
      expect(() => trustedKey(text)).toThrow('--key requires a public key');
  });
});

describe('a kept checkpoint', () => {
  it('is read as it was written, and replaces the former one', () => {
    const path = join(folderInTest(), 'kept');
    expect(readKept(path)).toBeNull();
    for (const note of ['one', 'two']) {
      writeKept(path, { key, note });
      expect(readKept(path)).toEqual({ key, note });
    }
  });

  it.each([
    ['no JSON', 'key'],
    ['no object', '[]'],
    ['no note', JSON.stringify({ key })],
    ['no key of an archive', JSON.stringify({ key: 'a key', note: 'one' })],
  ])('is refused if the file contains %s', (_, text) => {
    const path = join(folderInTest(), 'kept');
    writeFileSync(path, text);
    expect(() => readKept(path)).toThrow(
      `cannot use the checkpoint file ${path}: it was not written by a verification`,
    );
  });

  it('is refused if the file is larger than any checkpoint', () => {
    const path = join(folderInTest(), 'kept');
    writeFileSync(path, JSON.stringify({ key, note: 'a'.repeat(1_000_000) }));
    expect(() => readKept(path)).toThrow('it is too large');
  });

  it('cannot replace a directory, which stays', () => {
    const path = join(folderInTest(), 'kept');
    mkdirSync(path);
    expect(() => writeKept(path, { key, note: 'one' })).toThrow(`cannot write the checkpoint file ${path}`);
    expect(existsSync(path)).toBe(true);
  });
});
