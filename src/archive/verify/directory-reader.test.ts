import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { OperatorError } from '../../ops/errors.ts';
import { directoryReader } from './archive-reader.ts';

const folder = mkdtempSync(join(tmpdir(), 'almanac-reader-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const reader = directoryReader(folder);

describe('an archive in a directory', () => {
  it('is read through symbolic links to regular files', async () => {
    writeFileSync(join(folder, 'real'), 'bytes');
    symlinkSync('real', join(folder, 'linked'));
    expect(String(await reader.read('linked'))).toBe('bytes');
    expect(await reader.read('missing')).toBeNull();
  });

  it('is unreadable where a link leads to an endless device, a directory, or a pipe without a writer', async () => {
    symlinkSync('/dev/zero', join(folder, 'endless'));
    symlinkSync('/', join(folder, 'directory'));
    expect(spawnSync('mkfifo', [join(folder, 'pipe')]).status).toBe(0);
    for (const path of ['directory', 'endless', 'pipe']) {
      const reading = reader.read(path);
      await expect(reading).rejects.toThrow(`${path} is not a regular file`);
      await expect(reading).rejects.toBeInstanceOf(OperatorError);
    }
  });
});
