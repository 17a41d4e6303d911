import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readOrCreateKey } from './key-file.ts';

function folderInTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-archive-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe('the key of a log', () => {
  it('is created once, is readable only by its owner, and is refused if other users can read it', () => {
    const path = join(folderInTest(), 'archive.key');
    const options = { path, name: 'a.example', mayCreate: true, random: (count: number) => Buffer.alloc(count, 1) };
    const key = readOrCreateKey(options);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readOrCreateKey(options).text).toBe(key.text);
    rmSync(path);
    writeFileSync(path, key.text, { mode: 0o644 });
    expect(() => readOrCreateKey(options)).toThrow(
      `the key file ${path} is accessible to other users: run chmod 600 on it`,
    );
    rmSync(path);
    expect(() => readOrCreateKey({ ...options, mayCreate: false })).toThrow('restore the file, or start a new archive');
  });
});
