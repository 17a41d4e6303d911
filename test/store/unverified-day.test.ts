import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { busySql } from '../../src/store/sqlite/busy.ts';
import type { FileEvent } from '../../src/store/sqlite/file-event.ts';
import { openSqliteReader } from '../../src/store/sqlite/reader.ts';
import { day, micros } from '../../src/store/time.ts';
import { noon } from '../conformance/labels.ts';
import { page, sealedToday, useSqliteFolder } from './sqlite-folder.ts';

const place = useSqliteFolder();
const later = micros(noon + 5 * day);

/** Takes a sealed day back to what version 2 wrote: no checksums, no filter, counts row by row. */
async function sealedByVersion2(): Promise<void> {
  await place.sealBusyDay();
  chmodSync(place.dayPath(sealedToday), 0o644);
  place.change(
    sealedToday,
    `DROP TABLE block; DROP TABLE group_sum; DROP TABLE busy_groups; DROP TABLE subject_filter;
     CREATE TABLE busy(subject, source, val, target, applied, removed); INSERT INTO busy ${busySql};
     DELETE FROM migration WHERE version > 2; PRAGMA user_version = 2`,
  );
}

async function reports() {
  const reader = openSqliteReader(place.path);
  try {
    const found = [];
    for await (const report of reader.verify()) found.push(report);
    return found;
  } finally {
    await reader.close();
  }
}

/** Where a link leads; nowhere once its descriptor is closed. */
function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** Whether verify calls the sealed day unverified; its problems must be none but what version 2 did not keep. */
async function isUnverified(): Promise<boolean | undefined> {
  return (await reports()).find(({ sealed }) => sealed)?.unverified;
}

describe('a day that was sealed without checksums', () => {
  it('is unverified until upkeep writes it again, for open readers too, and is then as sealed today', async () => {
    await sealedByVersion2();
    const events: FileEvent[] = [];
    const reader = openSqliteReader(place.path);
    const before = await reader.readAccount(page);
    expect(await isUnverified()).toBe(true);
    const writer = place.open({ at: later, onFile: (event) => events.push(event) });
    await writer.maintain(later);
    await place.close();
    expect(events).toEqual([
      { name: sealedToday, day: '2024-10-04', action: 'rewritten', reason: 'it has checksums now' },
    ]);
    expect(await isUnverified()).toBe(false);
    expect((await reports()).flatMap(({ problems }) => problems)).toEqual([]);
    expect(await reader.readAccount(page)).toEqual(before);
    // The reader that was open meanwhile has let go of the file without checksums.
    const held = readdirSync('/proc/self/fd').map((name) => readLink(`/proc/self/fd/${name}`));
    expect(held.filter((target) => target.startsWith(place.path) && target.endsWith('(deleted)'))).toEqual([]);
    await reader.close();
  });

  it.each([
    ['a counter', 'UPDATE counter_minute SET applied = applied + 1'],
    ['an hour', 'DELETE FROM counter_hour'],
    ['a row', 'DELETE FROM observation WHERE id = (SELECT max(id) FROM observation)'],
  ])('gets none where %s is wrong already: it stays unverified, and that is reported once', async (_, sql) => {
    await sealedByVersion2();
    place.change(sealedToday, sql);
    const events: FileEvent[] = [];
    const writer = place.open({ at: later, onFile: (event) => events.push(event) });
    for (let run = 0; run < 2; run++) await writer.maintain(later);
    await place.close();
    expect(events).toEqual([
      { name: sealedToday, day: '2024-10-04', action: 'left', reason: expect.stringMatching(/unverified.*--repair/) },
    ]);
    expect(await isUnverified()).toBe(true);
  });

  it.each(['checksums.written', 'checksums.renamed'])('is whole after a kill at %s', async (point) => {
    await sealedByVersion2();
    const script = fileURLToPath(new URL('./maintainer.ts', import.meta.url));
    const { signal } = spawnSync(process.execPath, [script, place.path, String(later), point], { stdio: 'inherit' });
    expect(signal).toBe('SIGKILL');
    expect((await reports()).flatMap(({ problems }) => problems)).toEqual([]);
    const writer = place.open({ at: later });
    await writer.maintain(later);
    await place.close();
    expect(await isUnverified()).toBe(false);
    expect(readdirSync(place.dayPath('')).filter((name) => name.includes('growing'))).toEqual([]);
  });
});
