import { expect, test } from 'vitest';
import type { ArchiveFiles } from '../../archive/files/archive-files.ts';
import { heldFiles } from './past-archive.ts';

/**
 * Changes to the archive of a demo's past are held in memory and written in the order in which the files last changed,
 * so that an index never names a missing file.
 */

const bytes = (text: string): Buffer => Buffer.from(text);

function recordingFiles() {
  const written: string[] = [];
  const refused = (): never => {
    throw new Error('the files are read and appended to in memory');
  };
  const files: ArchiveFiles = {
    ...{ read: refused, append: refused, repair: refused, days: refused },
    replace: (path, content) => void written.push(`${path} ${Buffer.from(content).toString()}`),
    remove: (path) => void written.push(`${path} removed`),
  };
  return { files, written };
}

test('the flush writes each changed file once, in the order of the last changes', () => {
  const { files, written } = recordingFiles();
  const held = heldFiles(files);
  held.replace('index.json', bytes('1'));
  held.append('days/2026-11-20/a.jsonl', bytes('a\n'));
  held.append('days/2026-11-20/a.jsonl', bytes('b\n'));
  held.replace('index.json', bytes('2'));
  expect([held.read('index.json')?.toString(), held.read('nothing'), held.days()]).toEqual(['2', null, ['2026-11-20']]);
  expect(written).toEqual([]);
  held.flush();
  expect(written.splice(0)).toEqual(['days/2026-11-20/a.jsonl a\nb\n', 'index.json 2']);
  held.remove('days/2026-11-20/a.jsonl');
  held.flush();
  expect([written, held.read('days/2026-11-20/a.jsonl')]).toEqual([['days/2026-11-20/a.jsonl removed'], null]);
});
