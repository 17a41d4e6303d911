import { chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { simulateArchive } from '../../harness/archive/simulated-archive.ts';
import { lockArchive, rebuild, withdraw } from '../../src/main/archive/archive-process.ts';
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

test.skipIf(!asRoot)(
  'root can withdraw a file that its own archiver wrote in the directory of another user',
  async () => {
    await writeArchive();
    chownSync(folder, user, user);
    const printed: string[] = [];
    const print = (text: string): void => void printed.push(text);
    expect(await withdraw(['2026-11-20', 'instruments.jsonl'], values(), print)).toBe(0);
    expect(printed).toEqual([
      'withheld: the content of days/2026-11-20/instruments.jsonl; the day is still open, and archiving continues',
    ]);
  },
);

test.skipIf(!asRoot)(
  'root cannot withdraw a file of an archiver with another user in a directory of root',
  async () => {
    await writeArchive();
    chownSync(join(folder, '.archive.lock'), user, user);
    const path = join(folder, 'days/2026-11-20/instruments.jsonl');
    const before = readFileSync(path, 'utf8');
    expect(() => withdraw(['2026-11-20', 'instruments.jsonl'], values(), () => undefined)).toThrow(
      `${folder} belongs to the user ${user}: run this command as that user`,
    );
    expect(readFileSync(path, 'utf8')).toBe(before);
  },
);

/** Writes the archive of three hours as root, with the lock file that the archiver creates. */
async function writeArchive(): Promise<void> {
  lockArchive(folder).release();
  const { content, run } = simulateArchive();
  await run(3);
  for (const [path, bytes] of content) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
}

function values(): ArchiveValues {
  return { archive: folder, reason: 'it names a person' as string | null } as ArchiveValues;
}
