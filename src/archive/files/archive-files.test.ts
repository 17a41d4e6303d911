import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderInTest } from '../../../harness/process/folder.ts';
import { openArchiveFiles } from './archive-files.ts';

describe('the writer of archive files', () => {
  it('removes the partial line of a killed process before it appends the next line', () => {
    const root = folderInTest();
    const files = openArchiveFiles(root);
    files.append('days/2026-11-20/instruments.jsonl', Buffer.from('{"hour":1}\n'));
    writeFileSync(join(root, 'days/2026-11-20/instruments.jsonl'), '{"hour":1}\n{"ho', { flag: 'w' });
    files.append('days/2026-11-20/instruments.jsonl', Buffer.from('{"hour":2}\n'));
    expect(files.read('days/2026-11-20/instruments.jsonl')?.toString('utf8')).toBe('{"hour":1}\n{"hour":2}\n');
    writeFileSync(join(root, 'torn.jsonl'), `{"hour":1}\n${'x'.repeat(200_000)}`);
    files.repair('torn.jsonl');
    expect(files.read('torn.jsonl')?.toString('utf8')).toBe('{"hour":1}\n');
    expect(files.days()).toEqual(['2026-11-20']);
  });

  it('removes a file that has only the partial line of a killed process', () => {
    const root = folderInTest();
    const files = openArchiveFiles(root);
    writeFileSync(join(root, 'torn.jsonl'), '{"ho');
    files.repair('torn.jsonl');
    expect(readdirSync(root)).toEqual([]);
  });

  it('removes the temporary files of a killed process at the next start', () => {
    const root = folderInTest();
    openArchiveFiles(root).replace('days/2026-11-20/day.json', Buffer.from('{}\n'));
    writeFileSync(join(root, 'days/2026-11-20/.day.json.0123456789ab.tmp'), '{');
    openArchiveFiles(root);
    expect(readdirSync(join(root, 'days/2026-11-20'))).toEqual(['day.json']);
  });

  it('preserves temporary files that the archive did not write', () => {
    const root = folderInTest();
    mkdirSync(join(root, 'site'));
    const foreign = ['.cache.tmp', 'site/.page.html.0123456789ab.tmp'];
    for (const name of foreign) writeFileSync(join(root, name), 'a');
    openArchiveFiles(root);
    for (const name of foreign) expect(existsSync(join(root, name)), name).toBe(true);
  });
});
