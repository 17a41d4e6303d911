import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteWriter, type SqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { micros } from '../../src/store/time.ts';

/** Id of a user who may read but not write the store's files, like the user of the account surface in deploy/. */
const otherUser = 65_534;
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

/** Runs a reader as another user. Returns the generation that it read, or the code of its error. */
async function readAsNobody(): Promise<string> {
  const script = `
    const { openStoreReader } = await import(${JSON.stringify(open)});
    try {
      const store = await openStoreReader(${JSON.stringify(`sqlite:${folder}`)});
      console.log((await store.frontier()).generationId);
    } catch (error) {
      console.log(error.code);
    }`;
  const options = { uid: otherUser, gid: otherUser };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], options);
  return stdout.trim();
}

describe.skipIf(!asRoot)('a reader without write permission', () => {
  it('can read the store while a writer is running', async () => {
    expect(await readAsNobody()).toBe((await writer.epoch()).generationId);
  });

  it('gets a retryable error if there is no writer, and does not report the store as damaged', async () => {
    await writer.close();
    expect(await readAsNobody()).toBe('busy');
  });
});
