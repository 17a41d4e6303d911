import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkStore } from '../../src/main/doctor/stores.ts';
import { storePaths, takeWriterLock } from '../../src/store/sqlite/base/files.ts';
import { openSqliteStandby } from '../../src/store/sqlite/standby/standby.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { micros } from '../../src/store/time.ts';

const at = micros(Date.now() * 1000);

/**
 * Returns the directory of a store with a writer, and a function that returns the doctor's finding about the standby.
 */
async function written() {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-doctor-standby-'));
  const writer = openSqliteWriter({ folder, at });
  await writer.beat(at);
  onTestFinished(async () => {
    await writer.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const found = async () => {
    const { findings } = await checkStore(`sqlite:${folder}`, Date.now());
    return findings.filter(({ check }) => check === 'label standby');
  };
  return { folder, found };
}

test('the doctor reports whether a standby can replace the writer', async () => {
  const { folder, found } = await written();
  expect(await found()).toMatchObject([{ level: 'ok', found: expect.stringContaining('no standby is running') }]);
  const standby = openSqliteStandby({ folder, clock: () => at });
  onTestFinished(() => standby.close());
  expect(await found()).toMatchObject([{ level: 'warn', found: expect.stringContaining('not ready yet') }]);
  await standby.ready();
  expect(await found()).toMatchObject([{ level: 'ok', found: expect.stringContaining('can replace the writer') }]);
});

test('the doctor reports a standby that has no heartbeat', async () => {
  const { folder, found } = await written();
  const paths = storePaths(folder);
  const lock = takeWriterLock(paths.standbyLock);
  onTestFinished(() => lock.release());
  writeFileSync(paths.standby, JSON.stringify({ token: 'a', state: 'ready', process: null }));
  expect(await found()).toMatchObject([{ level: 'fail', found: expect.stringContaining('no heartbeat') }]);
});
