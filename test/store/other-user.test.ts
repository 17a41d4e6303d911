import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteWriter, type SqliteWriter } from '../../src/store/sqlite/writer.ts';
import { micros } from '../../src/store/time.ts';

/** A reader that may read the store's files and write none: the account surface, as deploy/ runs it. */

const nobody = 65_534;
const asRoot = process.getuid?.() === 0;
const open = new URL('../../src/store/open.ts', import.meta.url).href;

let folder = '';
let writer: SqliteWriter;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-other-user-'));
  chmodSync(folder, 0o755);
  const at = micros(Date.now() * 1000);
  writer = openSqliteWriter({ folder, at });
  await writer.append({ at, observations: [], refusals: [], positions: [] });
});
afterEach(async () => {
  await writer.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What another user's reader makes of the store: its generation, or the code of the refusal. */
async function readAsNobody(): Promise<string> {
  const script = `
    const { openStoreReader } = await import(${JSON.stringify(open)});
    try {
      const store = openStoreReader(${JSON.stringify(`sqlite:${folder}`)});
      console.log((await store.frontier()).generationId);
    } catch (error) {
      console.log(error.code);
    }`;
  const options = { uid: nobody, gid: nobody };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], options);
  return stdout.trim();
}

describe.skipIf(!asRoot)('a reader without the right to write', () => {
  it('reads what a living writer writes', async () => {
    expect(await readAsNobody()).toBe((await writer.epoch()).generationId);
  });

  it('is asked to come again where no writer lives, and takes the store for nothing worse', async () => {
    await writer.close();
    expect(await readAsNobody()).toBe('busy');
  });
});
