import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { memoryArchive } from '../../../harness/archive/memory-files.ts';
import { folderInTest } from '../../../harness/process/folder.ts';
import { checkpointPath, openLogWithKeyFile } from './day-log.ts';

describe('the key of a log', () => {
  it('is created once, is readable only by its owner, and is refused if other users can read it', () => {
    const path = join(folderInTest(), 'archive.key');
    const { files } = memoryArchive();
    const options = { files, path, name: 'a.example', random: (count: number) => Buffer.alloc(count, 1) };
    const { key } = openLogWithKeyFile(options);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const text = readFileSync(path, 'utf8');
    expect(openLogWithKeyFile({ ...options, random: (count) => Buffer.alloc(count, 2) }).key).toBe(key);
    rmSync(path);
    writeFileSync(path, text, { mode: 0o644 });
    expect(() => openLogWithKeyFile(options)).toThrow(
      `the key file ${path} is accessible to other users: run chmod 600 on it`,
    );
    rmSync(path);
    files.replace(checkpointPath, Buffer.from('a checkpoint'));
    expect(() => openLogWithKeyFile(options)).toThrow('restore the file, or start a new archive');
  });

  it.each(['', 'a b', 'a+b'])('is not created with the name "%s"', (name) => {
    const path = join(folderInTest(), 'archive.key');
    const options = { files: memoryArchive().files, path, name, random: (count: number) => Buffer.alloc(count, 1) };
    expect(() => openLogWithKeyFile(options)).toThrow('--log-name requires a name without spaces or plus signs');
    expect(existsSync(path)).toBe(false);
  });
});
