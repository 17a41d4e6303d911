import { chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rebuild, withdraw } from '../../src/main/archive/archive-process.ts';
import type { ArchiveValues } from '../../src/main/archive/archive-settings.ts';

/** Id of the user who runs the archiver. */
const user = 65_534;
const asRoot = process.getuid?.() === 0;
const line = '{"hour":"2026-11-20T00:00:00Z"}\n';
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-withdraw-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test.skipIf(!asRoot).each([
  ['withdraw', () => withdraw(['2026-11-20', 'instruments.jsonl'], values(), () => undefined)],
  ['rebuild', () => rebuild(['2026-11-20'], values(), () => undefined)],
])('root cannot %s files in the archive of another user, who could not append to a file of root', (_, run) => {
  const day = join(folder, 'days/2026-11-20');
  mkdirSync(day, { recursive: true });
  writeFileSync(join(day, 'instruments.jsonl'), line);
  chownSync(folder, user, user);
  expect(run).toThrow(`${folder} belongs to the user ${user}: run this command as that user`);
  expect(readdirSync(folder)).toEqual(['days']);
  expect(readFileSync(join(day, 'instruments.jsonl'), 'utf8')).toBe(line);
});

function values(): ArchiveValues {
  return { archive: folder, reason: 'it names a person' as string | null } as ArchiveValues;
}
