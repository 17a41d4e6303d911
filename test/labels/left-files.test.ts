import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startStandby, startStation } from '../../harness/labels/label-station.ts';
import { claimOrigin } from '../../src/store/origin.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { micros } from '../../src/store/time.ts';

const clock = () => micros(Date.now() * 1000);
const settings = { seeds: [], plc: 'http://127.0.0.1:1' };
/** Files that an instrument was writing when it was killed. */
const left = [
  '.labels-overview.json.0123456789ab.tmp',
  '.labelers.ndjson.0123456789ab.tmp',
  '.labeler-definitions.ndjson.0123456789ab.tmp',
  '.labels-hours.json.0123456789ab.tmp',
  '.labels-store.json.0123456789ab.tmp',
];
/** Files that another program may be writing. */
const foreign = [
  '.labels-hold.json.0123456789ab.tmp',
  '.weather-summary.json.0123456789ab.tmp',
  '.labels-overview.json.tmp',
];
let folder = '';

/** Returns the names of the temporary files that still exist. */
function existing(): string[] {
  return [...left, ...foreign].filter((name) => existsSync(join(folder, 'artifacts', name)));
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-left-'));
  mkdirSync(join(folder, 'artifacts'));
  for (const name of [...left, ...foreign]) writeFileSync(join(folder, 'artifacts', name), '{');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('an instrument removes the files that an instrument was writing when it was killed', async () => {
  const station = await startStation(settings, { folder });
  try {
    await station.overview();
    expect(existing()).toEqual(foreign);
  } finally {
    await station.stop();
  }
});

test('a standby removes such files only when it becomes the writer of the store', async () => {
  const writer = openSqliteWriter({ folder: join(folder, 'store'), at: clock() });
  await claimOrigin(writer, 'simulated');
  await writer.beat(clock());
  const standby = await startStandby(folder, clock, (role) => startStation(settings, { folder, role }));
  try {
    await standby.ready();
    expect(existing()).toEqual([...left, ...foreign]);
    await writer.close();
    await standby.active;
    expect(existing()).toEqual(foreign);
  } finally {
    await standby.station.stop();
  }
});
