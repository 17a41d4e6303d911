import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

  it('is not replaced after it was lost: the refusal names the files to move, and a new archive starts once they are moved', () => {
    const path = join(folderInTest(), 'archive.key');
    const old = memoryArchive();
    const options = { files: old.files, path, name: 'a.example', random: (count: number) => Buffer.alloc(count, 1) };
    openLogWithKeyFile(options).append({ day: '2026-11-20', sha256: '0'.repeat(64) });
    rmSync(path);
    const other = { ...options, random: (count: number) => Buffer.alloc(count, 2) };
    for (const files of [memoryArchive().files, old.files]) {
      expect(() => openLogWithKeyFile({ ...other, files })).toThrow(
        `the key file ${path} is missing, but its key has signed closed days; restore the file, or start a new archive: move the directory of the archive and ${path}.checkpoint aside together`,
      );
      expect(existsSync(path)).toBe(false);
    }
    renameSync(`${path}.checkpoint`, `${path}.checkpoint.old`);
    expect(openLogWithKeyFile({ ...other, files: memoryArchive().files }).leaves()).toEqual([]);
  });

  it('cannot sign a new archive while the checkpoint of the old one is next to it', () => {
    const path = join(folderInTest(), 'archive.key');
    const random = (count: number) => Buffer.alloc(count, 1);
    const opened = () => openLogWithKeyFile({ files: memoryArchive().files, path, name: 'a.example', random });
    opened().append({ day: '2026-11-20', sha256: '0'.repeat(64) });
    expect(opened).toThrow(
      `the log of the archive lacks days that its key has signed (1 in total); restore a newer copy of the archive, or start a new one with a new key: move the directory of the archive, the key file and ${path}.checkpoint aside together`,
    );
  });

  it.each(['', 'a b', 'a+b'])('is not created with the name "%s"', (name) => {
    const path = join(folderInTest(), 'archive.key');
    const options = { files: memoryArchive().files, path, name, random: (count: number) => Buffer.alloc(count, 1) };
    expect(() => openLogWithKeyFile(options)).toThrow('--log-name requires a name without spaces or plus signs');
    expect(existsSync(path)).toBe(false);
  });
});
