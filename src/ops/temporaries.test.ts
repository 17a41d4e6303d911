import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type LogFields, silentLog } from './log.ts';
import { sweepTemporaries, temporaryFor } from './temporaries.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-temporaries-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('only the temporary files of the named files are removed', async () => {
  const foreign = ['.a.json.tmp', '.a.json.0123456789AB.tmp', '.aXjson.0123456789ab.tmp', temporaryFor('b.json')];
  for (const name of [temporaryFor('a.json'), 'a.json', ...foreign]) writeFileSync(join(folder, name), '{');
  await sweepTemporaries(folder, ['a.json', 'c.json'], silentLog);
  expect(readdirSync(folder).sort()).toEqual(['a.json', ...foreign].sort());
});

it('a temporary file that cannot be removed is logged, and a missing directory is not', async () => {
  const logged: [message: string, fields: LogFields | undefined][] = [];
  const log = { ...silentLog, warn: (message: string, fields?: LogFields) => void logged.push([message, fields]) };
  await sweepTemporaries(join(folder, 'no'), ['a.json'], log);
  expect(logged).toEqual([]);
  // A directory cannot be removed as a file, not even by root.
  mkdirSync(join(folder, temporaryFor('a.json')));
  await sweepTemporaries(folder, ['a.json'], log);
  expect(logged).toEqual([
    ['temporary files of an earlier process could not be removed', { folder, why: 'the path is a directory (EISDIR)' }],
  ]);
});
